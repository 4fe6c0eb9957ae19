"""Progress of long work: a bar with rate and time left on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol

_MIN_WIDTH = 100  # terminal columns from which counts and rates are shown


class Progress(Protocol):
    """Use `with progress("step", total) as done:` and call `done(rows)` as rows are finished."""

    def __call__(self, what: str, total: int | None = None) -> AbstractContextManager[Callable[[int], None]]:
        """Begin a step of `total` rows; None if the number is not known."""


@contextmanager
def quiet(what: str, total: int | None = None) -> Iterator[Callable[[int], None]]:
    """Show no progress."""
    yield lambda rows: None


@contextmanager
def bar(what: str, total: int | None = None) -> Iterator[Callable[[int], None]]:
    """Show a bar with name, share done, rows per second and time left; fewer columns if it is narrow."""
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        ProgressColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    console = Console(stderr=True)
    columns: list[ProgressColumn] = [TextColumn("{task.description:<29}"), BarColumn()]
    if total is not None and console.width >= _MIN_WIDTH:
        columns += [MofNCompleteColumn(), TextColumn("{task.fields[rate]}")]
    columns.append(TimeElapsedColumn())
    if total is not None:
        columns.append(TimeRemainingColumn())
    with Progress(*columns, console=console) as display:
        task = display.add_task(what, total=total, rate="")

        def done(rows: int) -> None:
            display.advance(task, rows)
            speed = display.tasks[0].speed
            display.update(task, rate=f"{speed:,.0f}/s" if speed else "")

        yield done
        finished = display.tasks[0].completed or 1  # the work may have ended early
        display.update(task, total=finished, completed=finished)


class Lines:
    """Write a line to standard error when more than `seconds` have passed since the line before."""

    def __init__(self, seconds: float = 10.0) -> None:
        self.seconds = seconds
        self._started = self._written = time.monotonic()

    @contextmanager
    def __call__(self, what: str, total: int | None = None) -> Iterator[Callable[[int], None]]:
        """Begin a step of `total` rows."""
        finished = 0

        def done(rows: int) -> None:
            nonlocal finished
            finished += rows
            self._write(f"{what}: {finished:,} of {total:,}" if total else f"{what}: {finished:,}")

        self._write(what)
        yield done

    def _write(self, text: str) -> None:
        now = time.monotonic()
        if now - self._written >= self.seconds:
            self._written = now
            print(f"{text} ({now - self._started:.0f} s)", file=sys.stderr, flush=True)


def for_terminal() -> Progress:
    """Return `bar` on a terminal, otherwise `Lines`."""
    return bar if sys.stderr.isatty() else Lines()
