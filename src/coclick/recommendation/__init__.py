"""Compare models on a log within a time budget, and recommend one for where it will be used."""
