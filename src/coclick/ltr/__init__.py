"""Learning to rank: boosted trees over the scores of other models."""
