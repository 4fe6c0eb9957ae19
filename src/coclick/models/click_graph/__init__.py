"""Models that score documents directly from the click graph."""
