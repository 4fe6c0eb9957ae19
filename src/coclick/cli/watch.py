"""Show how a comparison proceeds: a table that is redrawn on a terminal, elsewhere a line for each model."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Any, Protocol

from coclick.cli.render_comparison import short_table
from coclick.cli.terminal import one_line, say
from coclick.progress import quiet

if TYPE_CHECKING:
    from coclick.recommendation.comparison import Comparison
    from coclick.recommendation.updates import Update


class Watcher(Protocol):
    """What follows a comparison."""

    latest: Comparison | None  # the results so far

    def update(self, update: Update) -> None:
        """Show what has happened."""

    def progress(self, what: str, total: int | None = None) -> AbstractContextManager[Callable[[int], None]]:
        """Show a step of the work."""


class Lines:
    """Prints a line for each model, and a short table now and then, to standard error."""

    def __init__(self) -> None:
        self.latest: Comparison | None = None
        self.progress = quiet

    def update(self, update: Update) -> None:
        """Print the line, or the table."""
        self.latest = update.comparison if update.comparison.properties else None
        if update.is_table:
            for line in short_table(update.comparison):
                say(line)
        elif update.text:
            say(one_line(update.text))


class LiveTable:
    """Draws the results so far on the terminal, and below them what is being done."""

    def __init__(self, live: Any) -> None:
        self.latest: Comparison | None = None
        self._live, self._lines, self._last, self._running, self._step = live, list[str](), "", "", ""

    def update(self, update: Update) -> None:
        """Redraw the table."""
        if update.comparison.properties:
            self.latest, self._lines = update.comparison, short_table(update.comparison)
        self._last = one_line(update.text) if update.text and not update.running else self._last
        if update.running:
            self._running, self._step = one_line(update.text or update.running), ""
        self._draw()

    @contextmanager
    def progress(self, what: str, total: int | None = None) -> Iterator[Callable[[int], None]]:
        """Draw the step, with the share that is done."""
        finished = 0

        def done(rows: int) -> None:
            nonlocal finished
            finished += rows
            self._step = f"{what} {finished / total:.0%}" if total else what
            self._draw()

        self._step = what
        self._draw()
        yield done

    def _draw(self) -> None:
        from rich.text import Text

        self._live.update(Text("\n".join([*self._lines, self._last, f"{self._running} {self._step}"])))


@contextmanager
def watch() -> Iterator[Watcher]:
    """Follow a comparison; what was drawn on a terminal is removed at the end."""
    if not sys.stderr.isatty():
        yield Lines()
        return
    from rich.console import Console
    from rich.live import Live

    with Live(console=Console(stderr=True), transient=True, refresh_per_second=4) as live:
        yield LiveTable(live)
