"""Progress of long work: on a terminal a bar with rate and time left, nothing in a pipe."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol

_WIDE = 100  # columns from which there is room for counts and rates


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
    """A bar on the terminal: what, how far, rows a second, time left; less of it where it is narrow."""
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
    if total is not None and console.width >= _WIDE:
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
        finished = display.tasks[0].completed or 1  # of fewer than expected, where work ended early
        display.update(task, total=finished, completed=finished)


def for_terminal() -> Progress:
    """A bar where somebody is watching, quiet elsewhere."""
    return bar if sys.stderr.isatty() else quiet
