"""Queries whose click rate falls over the weeks: a trend test for each, corrected for their number.

The test is that of Cochran and Armitage, one-sided, for the searches n_w of week w and the c_w of them that
had a click:

    z = Σ_w c_w (w − w̄) / sqrt(φ p (1 − p) Σ_w n_w (w − w̄)²),    p = Σ c_w / Σ n_w

with w̄ the mean week of the searches. φ ≥ 1 is the variance of the weeks around the trend, relative to that of
independent searches (quasi-likelihood): a query that goes up and down from week to week is no trend. P-values
are corrected for the number of tested queries by the false discovery rate (Benjamini and Hochberg 1995).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coclick.graph.search_tables import SearchStats

MIN_SEARCHES = 30
MIN_COUNT = 5  # of searches with and without a click, for the normal approximation
MIN_WEEKS = 3
LEVEL = 0.05  # false discovery rate
_WEEK = 7


class Week(NamedTuple):
    """The searches of one week."""

    first_day: int  # since 1970-01-01
    searches: int
    clicked: int


class Trend(NamedTuple):
    """A falling click rate."""

    weeks: list[Week]
    p: float  # corrected


def weekly(table: SearchStats, query: int) -> list[Week]:
    """Return the weeks with searches of a query, counted from the first day of the log."""
    assert table.day is not None
    rows = slice(table.indptr[query], table.indptr[query + 1])
    first = int(table.day.min())
    week = (table.day[rows] - first) // _WEEK
    found = []
    for number in np.unique(week).tolist():
        these = week == number
        searches = int(table.searches[rows][these].sum())
        without = int(table.without_clicks[rows][these].sum())
        found.append(Week(first + _WEEK * number, searches, searches - without))
    return found


def trend_p_value(weeks: list[Week]) -> float | None:
    """Return the one-sided p-value of a falling click rate, None with too few counts for the test."""
    n, c = (np.array([week[i] for week in weeks], np.float64) for i in (1, 2))
    total, clicked = n.sum(), c.sum()
    enough = total >= MIN_SEARCHES and min(clicked, total - clicked) >= MIN_COUNT
    if len(weeks) < MIN_WEEKS or not enough:
        return None
    t = np.array([week.first_day for week in weeks], np.float64) / _WEEK
    t -= (n * t).sum() / total
    p, spread = clicked / total, (n * t * t).sum()
    slope = (c * t).sum() / spread
    residual = ((c - n * (p + slope * t)) ** 2 / (n * p * (1 - p))).sum()
    dispersion = max(1.0, residual / (len(weeks) - 2))
    z = (c * t).sum() / math.sqrt(dispersion * p * (1 - p) * spread)
    return math.erfc(-z / math.sqrt(2)) / 2


def falling_queries(table: SearchStats | None, searches: NDArray[np.int64]) -> tuple[dict[int, Trend], int]:
    """Return the queries whose click rate falls, and how many were tested."""
    if table is None or table.day is None or not len(table.day):
        return {}, 0
    tested = {}
    for query in np.flatnonzero(searches >= MIN_SEARCHES).tolist():
        weeks = weekly(table, query)
        p = trend_p_value(weeks)
        if p is not None:
            tested[query] = Trend(weeks, p)
    corrected = false_discovery_rates([trend.p for trend in tested.values()])
    found = {
        query: Trend(trend.weeks, p)
        for (query, trend), p in zip(tested.items(), corrected, strict=True)
        if p < LEVEL
    }
    return found, len(tested)


def false_discovery_rates(p_values: list[float]) -> list[float]:
    """Return corrected p-values: the lowest rate of false discoveries at which each would be one."""
    p = np.array(p_values, np.float64)
    order = np.argsort(p)
    scaled = p[order] * len(p) / np.arange(1, len(p) + 1)
    corrected = np.empty(len(p))
    corrected[order] = np.minimum(np.minimum.accumulate(scaled[::-1])[::-1], 1)
    return corrected.tolist()
