"""Models that compare the words of query and document, without clicks."""
