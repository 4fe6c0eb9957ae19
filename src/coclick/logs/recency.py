"""Days of an event log: gaps, dates in the future, and the last day, to which a half-life refers."""

from __future__ import annotations

import time
from collections.abc import Sequence
from datetime import date, timedelta
from typing import Any

from coclick.graph.recency import HalfLife
from coclick.logs.aggregation_sql import DAY, day_of

_MAX_GAPS = 100  # the longest are listed


def future_limit() -> int:
    """Return the time after which an event is in the future: now and a day, for clocks in other zones."""
    return int(time.time() * 1_000_000) + DAY


def events_by_day(half_hours: bool, div: str) -> str:
    """Return the SQL of the days with events, ascending: day, first and last time.

    `half_hours` says that the table `half_hour` is there and has no times of searches: it is far smaller.
    """
    source = "half_hour" if half_hours else "(SELECT t AS began, t AS ended FROM event) AS times"
    day = day_of("began", div)
    return f"""
        SELECT {day} AS day, min(began) AS first, max(ended) AS last
        FROM {source} GROUP BY {day} ORDER BY day"""


def future_events(limit: int) -> str:
    """Return the SQL of the number of events after a time."""
    return f"SELECT count(*) FROM event WHERE t > {limit}"


def day_stats(rows: Sequence[tuple[int, int, int]], future: int) -> dict[str, Any]:
    """Return the statistics of `events_by_day`: events of the future, and the days without any event."""
    days = [row[0] for row in rows]
    gaps = [
        (before + 1, after - 1) for before, after in zip(days, days[1:], strict=False) if after > before + 1
    ]
    longest = sorted(sorted(gaps, key=lambda gap: gap[0] - gap[1])[:_MAX_GAPS])
    return {
        "future": future,
        "gaps": [[_iso(first), _iso(last)] for first, last in longest],
    }


def half_life_of(days: float | None, last_time: int, limit: int) -> HalfLife | None:
    """Return the half-life of a log; events of the future do not make all others old."""
    return None if days is None else HalfLife(days, min(last_time, limit) // DAY)


def _iso(day: int) -> str:
    return (date(1970, 1, 1) + timedelta(days=day)).isoformat()
