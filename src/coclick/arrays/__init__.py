"""The two basic data types: sparse rows (`Csr`) and packed strings (`Strings`, `Vocab`)."""
