"""What people searched for: how often each query was searched, and which query came next in a session.

A search is a result page: what one session saw for one query, however often it repeated the query there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np
from numpy.typing import NDArray

from coclick.graph.array_table import ArrayTable
from coclick.storage.layout import Index, Pointers, Shape

Ints = NDArray[np.int32]


@dataclass(frozen=True)
class SearchStats(ArrayTable):
    """Searches by query (`indptr`) and, if the log has times, by day. What the log cannot tell is None."""

    table = "searches"
    dimensions: ClassVar = ("queries",)
    indptr: Annotated[NDArray[np.int64], Pointers("queries", "rows")]
    searches: Annotated[Ints, Shape("rows")]
    without_clicks: Annotated[Ints, Shape("rows")]
    day: Annotated[Ints | None, Shape("rows")] = None  # since 1970-01-01, UTC; None: one row per query
    without_results: Annotated[Ints | None, Shape("rows")] = None  # needs search records and impressions


@dataclass(frozen=True)
class FollowUps(ArrayTable):
    """The queries that came next in a session after a query (`indptr`), ascending."""

    table = "followups"
    dimensions: ClassVar = ("queries",)
    indptr: Annotated[NDArray[np.int64], Pointers("queries", "rows")]
    next: Annotated[Ints, Shape("rows"), Index("queries")]
    count: Annotated[Ints, Shape("rows")]  # sessions
    users: Annotated[Ints, Shape("rows")]  # distinct ones
