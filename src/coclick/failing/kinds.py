"""The kinds of failing queries, and which queries are of which kind."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from coclick.failing.reformulations import follow_ups
from coclick.failing.search_counts import Longs, SearchCounts
from coclick.failing.trends import Trend, falling_queries
from coclick.graph.click_graph import ClickGraph

KINDS = {  # with what they mean
    "no_results": "at least half of the searches found nothing",
    "never_clicked": "results were shown, and nobody ever clicked one",
    "abandoned": "most searches had results, no click and no next query",
    "reformulated": "many searches went on, without a click, with a query that says the same in other words",
    "falling": "the click rate falls over the weeks",
}
_NO_RESULTS = 0.5  # shares of searches
_ABANDONED = 0.5
_REFORMULATED = 0.3
_Z = 1.96  # for 95 %


def failing_queries(
    graph: ClickGraph, counts: SearchCounts, min_searches: int
) -> tuple[dict[int, list[str]], dict[int, Trend], int]:
    """Return the failing queries with their kinds, their trends, and how many trends were tested."""
    searches = counts.searches
    enough = searches >= min_searches
    share = 1 / np.maximum(searches, 1)
    found: dict[str, NDArray[np.bool_]] = {}
    none = np.zeros(len(searches), bool)
    found["no_results"] = (
        none if counts.without_results is None else counts.without_results * share >= _NO_RESULTS
    )
    shown = counts.without_clicks - (0 if counts.without_results is None else counts.without_results)
    found["never_clicked"] = (counts.without_clicks == searches) & (shown > 0) & ~found["no_results"]
    abandoned = counts.abandoned
    usual = abandoned.sum() / max(int(searches.sum()), 1)
    found["abandoned"] = (
        (abandoned * share >= _ABANDONED)
        & (_lower_bound(abandoned, searches) > usual)
        & ~found["never_clicked"]
        & ~found["no_results"]
    )
    found["reformulated"] = _reformulated(graph, counts, enough)
    trends, tested = falling_queries(graph.searches, searches)
    found["falling"] = none.copy()
    found["falling"][list(trends)] = True
    kinds = {
        row: [kind for kind in KINDS if found[kind][row]]
        for row in np.flatnonzero(enough & np.any([found[kind] for kind in KINDS], axis=0)).tolist()
    }
    return kinds, trends, tested


def _reformulated(graph: ClickGraph, counts: SearchCounts, enough: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Queries of which more searches than usual went on with another wording, and at least 30 %.

    The tables of the graph do not say which of these searches had a click, so at most as many are counted as
    had none.
    """
    found = np.zeros(len(enough), bool)
    if counts.followed is None:
        return found
    related = np.zeros(len(enough), np.int64)
    for row in np.flatnonzero(enough & (counts.followed > 0)).tolist():
        related[row] = sum(one.searches for one in follow_ups(graph, row) if one.related)
    if counts.unit != "clicks":
        related = np.minimum(related, counts.without_clicks)
    searches = np.maximum(counts.searches, np.maximum(related, 1))
    usual = related[enough].sum() / max(int(searches[enough].sum()), 1)
    found = (related / searches >= _REFORMULATED) & (_lower_bound(related, searches) > usual)
    return np.asarray(found & enough)


def _lower_bound(count: Longs, n: Longs) -> NDArray[np.float64]:
    """The lower end of Wilson's 95 % interval of a share."""
    n = np.maximum(n, 1)
    p = count / n
    spread = _Z * np.sqrt(p * (1 - p) / n + _Z**2 / (4 * n**2))
    return np.asarray((p + _Z**2 / (2 * n) - spread) / (1 + _Z**2 / n), np.float64)
