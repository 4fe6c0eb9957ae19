"""Models that generate the query from the title."""
