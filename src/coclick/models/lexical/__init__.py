"""Models of words alone."""
