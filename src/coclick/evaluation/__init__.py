"""Evaluation: judgments, measures, significance tests, leaderboards, tuning and the HTML report."""
