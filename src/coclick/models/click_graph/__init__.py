"""Models that read the click graph directly."""
