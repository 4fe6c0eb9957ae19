"""Benchmarks against alternative libraries. See `python -m benchmarks --help`."""
