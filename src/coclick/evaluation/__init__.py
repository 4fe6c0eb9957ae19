"""Is it better? Judgments, measures, leaderboards."""
