"""Sums of models."""
