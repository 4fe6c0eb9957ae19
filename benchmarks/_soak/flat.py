"""Memory, file descriptors and threads of the server, which must not grow."""

from __future__ import annotations

import time
from typing import NamedTuple

from benchmarks._server import Server

MAX_GROWTH = 30 << 20  # bytes
MAX_MORE_FILES = 10
_QUIET_SECONDS = 90.0


class Usage(NamedTuple):
    """What the server uses."""

    memory: int  # bytes that are not mapped from files
    files: int
    threads: int

    def __str__(self) -> str:
        return f"{self.memory / 2**20:6.1f} MB  {self.files:6,} files  {self.threads:3} threads"


def usage(server: Server) -> Usage:
    """Measure a server now."""
    return Usage(server.memory()["Anonymous"], server.open_files(), server.threads())


def quiet_usage(server: Server, most_files: int) -> Usage:
    """Measure a server once its clients are gone and their connections are closed."""
    until = time.monotonic() + _QUIET_SECONDS
    while (now := usage(server)).files > most_files and time.monotonic() < until:
        time.sleep(0.5)
    return now


class Memory:
    """The most memory in two parts of a run: when everything has been done once, and at its end."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._early = self._late = 0

    def add(self, now: float, memory: int) -> None:
        """Note the bytes at a moment."""
        if 0.2 <= now / self._seconds < 0.5:
            self._early = max(self._early, memory)
        elif now / self._seconds >= 0.7:
            self._late = max(self._late, memory)

    def growth(self) -> list[str]:
        """Say whether memory has grown."""
        if self._late - self._early <= MAX_GROWTH:
            return []
        return [f"memory grew from {self._early:,} to {self._late:,} bytes"]

    def __str__(self) -> str:
        return f"memory {self._early / 2**20:.1f} → {self._late / 2**20:.1f} MB"


def growth(first: Usage, last: Usage) -> list[str]:
    """Say whether the server has more open files or threads than at its start, with no client left."""
    found = []
    if last.files > first.files + MAX_MORE_FILES:
        found.append(f"open files grew from {first.files} to {last.files}")
    if last.threads > first.threads:
        found.append(f"threads grew from {first.threads} to {last.threads}")
    return found
