"""Simulate a search engine and its users: search logs with known relevance grades."""

from coclick.simulate.profiles import PROFILES, Profile
from coclick.simulate.sample import sample
from coclick.simulate.users import Events, search_log
from coclick.simulate.web import sample_like
from coclick.simulate.world import World

__all__ = ["PROFILES", "Events", "Profile", "World", "sample", "sample_like", "search_log"]
