"""Simulate a search engine and its users: search logs with known relevance grades."""

from coclick.simulate.sample import sample
from coclick.simulate.users import Events, search_log
from coclick.simulate.world import World

__all__ = ["Events", "World", "sample", "search_log"]
