"""Progress of long work: on a terminal a bar with rate and time left, nothing in a pipe."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol


class Progress(Protocol):
    """`with progress("step", total) as done:` and then `done(rows)` as rows are finished."""

    def __call__(self, what: str, total: int | None = None) -> AbstractContextManager[Callable[[int], None]]:
        """Begin a step of `total` rows, or of an unknown number."""


@contextmanager
def quiet(what: str, total: int | None = None) -> Iterator[Callable[[int], None]]:
    """No progress at all."""
    yield lambda rows: None


@contextmanager
def bar(what: str, total: int | None = None) -> Iterator[Callable[[int], None]]:
    """A bar on the terminal: what, how far, rows a second, time left."""
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = [TextColumn("{task.description:<28}"), BarColumn(), MofNCompleteColumn()]
    times = [TextColumn("{task.fields[rate]}"), TimeElapsedColumn(), TimeRemainingColumn()]
    with Progress(*columns, *times, console=Console(stderr=True), transient=False) as display:
        task = display.add_task(what, total=total, rate="")

        def done(rows: int) -> None:
            display.advance(task, rows)
            speed = display.tasks[0].speed
            display.update(task, rate=f"{speed:,.0f}/s" if speed else "")

        yield done


def for_terminal() -> Progress:
    """A bar where somebody is watching, quiet elsewhere."""
    return bar if sys.stderr.isatty() else quiet
