"""Compare the papers' orders with measurements; `make reproduce` writes docs/reproduction.md."""
