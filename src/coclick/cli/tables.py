"""Tables, bars and lines of text in the terminal: what everything that is shown is made of."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.text import Text

_IN_A_PIPE = 110  # columns, where no terminal says how wide it is
console = Console(highlight=False, width=None if sys.stdout.isatty() else _IN_A_PIPE)
BAR = 24  # characters of the longest bar
_ANY_WIDTH = 10_000  # columns
_LONGEST = 200  # characters of a text in a heading
_SPACES = re.compile(r"[\t\n\v\f\r\x85\u2028\u2029]+")
_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")


class Bar(NamedTuple):
    """A table's cell that draws a value; left out where the terminal is too narrow for the table."""

    value: float
    largest: float

    def drawn(self) -> str:
        """In eighths of a character; what is below zero has no bar."""
        eighths = round(8 * BAR * max(self.value, 0) / self.largest) if self.largest > 0 else 0
        return "█" * (eighths // 8) + ("", "▏", "▎", "▍", "▌", "▋", "▊", "▉")[eighths % 8]


def table(title: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """A plain table; numbers to the right."""
    rows = [list(row) for row in rows]
    if title:
        console.print(Text(line(title), "bold"), no_wrap=True, overflow="ellipsis")
    drawn = _draw(columns, rows)
    if console.measure(drawn, options=console.options.update(max_width=_ANY_WIDTH)).maximum > console.width:
        kept = [i for i in range(len(columns)) if not any(isinstance(row[i], Bar) for row in rows)]
        drawn = _draw([columns[i] for i in kept], [[row[i] for i in kept] for row in rows])
    console.print(drawn)


def _draw(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> Table:
    drawn = Table(show_header=any(columns), header_style="bold", box=None, pad_edge=False)
    for i, column in enumerate(columns):
        numeric = bool(rows) and all(isinstance(row[i], int | float) for row in rows)
        drawn.add_column(column, justify="right" if numeric else "left", overflow="fold")
    for row in rows:
        drawn.add_row(*[_cell(value) for value in row])
    return drawn


def _cell(value: Any) -> str:
    if isinstance(value, Bar):
        return value.drawn()
    return f"{value:.4f}" if isinstance(value, float) else escape(line(short(value), None))


def short(value: Any) -> str:
    """A figure or a parameter as short as it can be read."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, dict):
        return ", ".join(f"{str(key).replace('_', ' ')} {short(part)}" for key, part in value.items())
    if isinstance(value, list):
        return ", ".join(map(short, value[:5])) + (" …" if len(value) > 5 else "")
    return str(value)


def line(text: str, most: int | None = _LONGEST) -> str:
    """Somebody's text on one line: control characters could move the cursor or worse."""
    clean = _CONTROLS.sub("\N{REPLACEMENT CHARACTER}", _SPACES.sub(" ", text))
    return clean if most is None or len(clean) <= most else f"{clean[:most]}…"
