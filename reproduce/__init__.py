"""Do the papers' orders hold on other logs? `make reproduce` writes docs/reproduction.md."""
