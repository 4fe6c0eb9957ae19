"""The papers' experiments, measured again; `make reproduce` writes docs/reproduction.md."""
