"""Models that project queries and documents into one space."""
