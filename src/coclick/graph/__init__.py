"""The click graph: queries, documents and the clicks between them."""
