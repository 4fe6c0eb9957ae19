"""`Budget`: how long `compare` may take."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from coclick.errors import UserError
from coclick.progress import Progress

DEFAULT = "3m"
_UNITS = {"": 1, "s": 1, "m": 60, "h": 3600}
_DURATION = re.compile(r"(\d+(?:\.\d+)?)\s*([smh]?)")
_USUAL = ("3m", "5m", "10m", "20m", "30m", "1h", "2h", "5h")
_GRACE = 1.15  # of the budget; training that takes longer is stopped


class OutOfTimeError(Exception):
    """The model that is being trained takes too long and has to stop."""


class Budget:
    """A number of seconds, counted from now; infinite if there is no limit."""

    def __init__(self, limit: str | float | None) -> None:
        self.limit, self._started = read_duration(limit), time.perf_counter()
        self._stop_at = math.inf

    def __str__(self) -> str:
        return format_duration(self.limit)

    @property
    def used(self) -> float:
        """Seconds since the start."""
        return time.perf_counter() - self._started

    @property
    def left(self) -> float:
        """Seconds until the end."""
        return self.limit - self.used

    def allow(self, seconds: float) -> None:
        """Limit the training that begins now to that many seconds, and to the budget with some grace."""
        self._stop_at = min(self.used + seconds, _GRACE * self.limit)

    def allow_any(self) -> None:
        """Do not limit the training that begins now."""
        self._stop_at = math.inf

    def stop_late(self, progress: Progress) -> Progress:
        """Return the progress of training that raises `OutOfTimeError` when it takes longer than allowed."""

        @contextmanager
        def limited(what: str, total: int | None = None) -> Iterator[Callable[[int], None]]:
            self._check()
            with progress(what, total) as done:

                def count(rows: int) -> None:
                    self._check()
                    done(rows)

                yield count

        return limited

    def _check(self) -> None:
        if self.used > self._stop_at:
            raise OutOfTimeError


def read_duration(limit: str | float | None) -> float:
    """Read `90`, `90s`, `3m` or `1h` as seconds; `none` is no limit."""
    if limit is None or limit == "none":
        return math.inf
    found = _DURATION.fullmatch(str(limit).strip().lower())
    if isinstance(limit, bool) or not found or not float(found[1]) > 0:
        raise UserError(f"cannot read the budget {limit!r}", hint="write 90s, 3m, 1h or none")
    return float(found[1]) * _UNITS[found[2]]


def next_longer(seconds: float) -> str:
    """Return a usual budget of at least so many seconds."""
    return next((name for name in _USUAL if read_duration(name) >= seconds), "none")


def format_duration(seconds: float) -> str:
    """Write seconds as people say them: 0.4 s, 12 s, 3 min."""
    if math.isinf(seconds):
        return "no limit"
    if seconds >= 120:
        return f"{seconds / 60:.0f} min"
    return f"{seconds:.0f} s" if seconds >= 10 else f"{seconds:.1f} s"
