"""Shared by all tests."""

from hypothesis import settings

# The first call of a compiled function takes as long as its compilation: no deadline per example.
# Derandomised, so that a clean clone and this one run the same examples.
settings.register_profile("coclick", deadline=None, derandomize=True)
settings.load_profile("coclick")
