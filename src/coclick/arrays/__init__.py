"""The two data types of everything: sparse rows (`Csr`) and packed strings (`Strings`, `Vocab`)."""
