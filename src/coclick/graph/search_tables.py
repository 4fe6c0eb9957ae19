"""What people searched for: how often each query was searched, and which query came next in a session.

A search is a result page: what one session saw for one query, however often it repeated the query there.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from coclick.graph.array_table import ArrayTable

Ints = NDArray[np.int32]


@dataclass(frozen=True)
class SearchStats(ArrayTable):
    """Searches by query (`indptr`) and, if the log has times, by day. What the log cannot tell is None."""

    table = "searches"
    indptr: NDArray[np.int64]
    searches: Ints
    without_clicks: Ints
    day: Ints | None = None  # days since 1970-01-01, UTC; None: one row per query
    without_results: Ints | None = None  # needs search records and impressions


@dataclass(frozen=True)
class FollowUps(ArrayTable):
    """The queries that came next in a session after a query (`indptr`), ascending."""

    table = "followups"
    indptr: NDArray[np.int64]
    next: Ints
    count: Ints  # sessions
    users: Ints  # distinct ones
