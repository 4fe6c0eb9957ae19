"""Do the papers' orders hold on other logs? `make reproduce` writes docs/background/reproduction.md."""
