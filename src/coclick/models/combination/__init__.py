"""Models that combine the scores of other models."""
