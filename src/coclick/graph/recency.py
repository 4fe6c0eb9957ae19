"""The half-life of clicks: what a click of a day counts in a graph that was built with `half_life`.

A click of day t counts 2^(-(last − t) / half-life), where `last` is the last day of the log. The table
`daily` keeps the full counts, so that graphs can be split by time and merged.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from coclick.errors import UserError

_START = date(1970, 1, 1)


@dataclass(frozen=True)
class HalfLife:
    """A half-life in days, and the last day, counted from 1970."""

    days: float
    last_day: int

    @classmethod
    def from_stats(cls, stats: Mapping[str, Any]) -> Self | None:
        """Return the half-life that a graph was built with, if any."""
        if (given := stats.get("half_life")) is None:
            return None
        return cls(given["days"], (date.fromisoformat(given["last_day"]) - _START).days)

    @property
    def stats(self) -> dict[str, Any]:
        """The entry `half_life` of a graph's statistics."""
        return {"days": self.days, "last_day": (_START + timedelta(days=self.last_day)).isoformat()}

    def factors(self, days: NDArray[Any]) -> NDArray[np.float64]:
        """Return what a click of each day counts."""
        age: NDArray[np.float64] = np.maximum(self.last_day - days.astype(np.float64), 0)
        return np.exp2(-age / self.days)


def common_half_life(given: Sequence[HalfLife | None]) -> tuple[HalfLife | None, list[float]]:
    """Return the half-life of several graphs together, and by what to multiply the clicks of each."""
    known = [one for one in given if one is not None]
    if not known:
        return None, [1.0] * len(given)
    if len(known) < len(given) or len({one.days for one in known}) > 1:
        raise UserError(
            "the graphs were built with different half-lives, so their clicks cannot be added up",
            hint="build them with the same --half-life (in Python: half_life), or without",
        )
    last = max(one.last_day for one in known)
    return HalfLife(known[0].days, last), [2 ** (-(last - one.last_day) / one.days) for one in known]
