"""What happened after the searches of each query, as far as the log tells."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from coclick.graph.click_graph import ClickGraph

Longs = NDArray[np.int64]

_NO_SEARCHES = (
    "the log has neither impressions nor searches: only searches with a click are visible, so queries "
    "without results, without clicks or abandoned are unknown, and so are click rates; searches are counted "
    "by clicks"
)
_NO_SESSIONS = (
    "the log has impressions, but no users or sessions: searches are counted as the impressions of the "
    "document shown most often, and of queries with some clicks it is not known how many searches had none"
)
_NO_RESULTS = (
    "the log does not record searches or their numbers of results: queries that found nothing are not in it"
)
_NO_FOLLOWUPS = (
    "the log has no sessions with times: reformulations are not visible, and people who searched on count as "
    "abandoning"
)
_NO_DAYS = "the log has no times: click rates that fall over the weeks are not visible"
_MIN_USERS = (
    "the graph was built with --min-users {k}: it has no query without a document that {k} users clicked, so "
    "queries that nobody or few clicked, such as those without results, are not listed"
)


@dataclass(frozen=True)
class SearchCounts:
    """Counts by query; None where the log cannot tell."""

    searches: Longs
    without_clicks: Longs
    without_results: Longs | None
    followed: Longs | None  # searches after which the session went on with another query
    unit: str  # what `searches` are: searches, impressions or clicks
    missing: tuple[str, ...]  # what the log lacks, and what that costs

    @classmethod
    def of(cls, graph: ClickGraph) -> SearchCounts:
        """Count the searches of a graph."""
        table, missing = graph.searches, []
        no_results = None
        if table is not None:
            unit = "searches"
            searches, without = (
                _sums(table.indptr, values) for values in (table.searches, table.without_clicks)
            )
            if table.without_results is not None:
                no_results = _sums(table.indptr, table.without_results)
            else:
                missing.append(_NO_RESULTS)
        elif graph.pairs is not None and graph.pairs.impressions is not None:
            unit = "impressions"
            searches = _maxima(graph.pairs.indptr, graph.pairs.impressions)
            without = np.where(graph.clicks.row_nnz() == 0, searches, 0)
            missing.append(_NO_SESSIONS)
        else:
            unit = "clicks"
            searches = np.ceil(graph.clicks.row_sums()).astype(np.int64)
            without = np.zeros(len(searches), np.int64)
            missing.append(_NO_SEARCHES)
        followed = None
        if graph.followups is not None:
            followed = _sums(graph.followups.indptr, graph.followups.count)
        else:
            missing.append(_NO_FOLLOWUPS)
        if unit == "searches" and table is not None and table.day is None:
            missing.append(_NO_DAYS)
        if (k := graph.stats.get("min_users", 1)) > 1:
            missing.append(_MIN_USERS.format(k=k))
        return cls(searches, without, no_results, followed, unit, tuple(missing))

    @property
    def abandoned(self) -> Longs:
        """Searches with results, without a click and without a next query: at least so many."""
        left = self.without_clicks.copy()
        for others in (self.without_results, self.followed):
            if others is not None:
                left -= others
        return np.maximum(left, 0)

    def success(self, query: int) -> float:
        """Return the share of a query's searches that had a click."""
        searches = int(self.searches[query])
        return 1 - int(self.without_clicks[query]) / searches if searches else 0.0


def _sums(indptr: NDArray[np.int64], values: NDArray[np.int32]) -> Longs:
    total = np.concatenate([[0], np.cumsum(values, dtype=np.int64)])
    return total[indptr[1:]] - total[indptr[:-1]]


def _maxima(indptr: NDArray[np.int64], values: NDArray[np.int32]) -> Longs:
    found = np.zeros(len(indptr) - 1, np.int64)
    np.maximum.at(found, np.repeat(np.arange(len(found)), np.diff(indptr)), values)
    return found
