"""Compare the papers' orders of systems with measurements; `make reproduce` writes docs/reproduction.md."""
