"""Write to the terminal: results to standard output, everything else to standard error."""

from __future__ import annotations

import json
import os
import re
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import typer

from coclick.text.printable import escape_json, printable

if TYPE_CHECKING:  # rich is imported where it is used: an error message needs none of it
    from rich.console import Console
    from rich.table import Table

BAR = 24  # characters of the longest bar
_PIPE_WIDTH = 110  # columns when the output is not a terminal
_ANY_WIDTH = 10_000  # columns
_MAX_HEADING = 200  # characters
_SPACES = re.compile(r"[\t\n\v\f\r\x85\u2028\u2029]+")


def prepare() -> None:
    """Make both streams usable, and warnings readable.

    Output to a closed stream is dropped; characters that the terminal cannot show become question marks.
    """
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: PTH123, SIM115
        elif hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    warnings.showwarning = lambda message, *where: say(f"warning: {message}")


def say(line: str) -> None:
    """Print a line to standard error."""
    typer.echo(printable(line), err=True)


def suggest(command: str) -> None:
    """Suggest the next command if a person is watching."""
    if sys.stderr.isatty():
        say(f"next: {command}")


def fail(message: str, code: int = 1) -> NoReturn:
    """Print an error message and exit."""
    say(f"error: {message}")
    sys.exit(code)


def print_json(value: Any) -> None:
    """Print JSON as UTF-8, whatever the terminal's encoding; what a terminal would obey is escaped."""
    typer.echo(escape_json(json.dumps(value, ensure_ascii=False, indent=1)).encode())


def output(answer: Any, as_json: bool, render: Callable[..., None], *arguments: Any) -> None:
    """Print an answer as JSON, or call the function that prints it for people."""
    if as_json:
        print_json(answer)
    else:
        render(*arguments)


@cache
def console() -> Console:
    """Return the console for standard output. Texts in what it prints cannot control the terminal."""
    from rich.console import Console
    from rich.segment import Segment

    class PrintableConsole(Console):
        def render(self, *renderable: Any, **options: Any) -> Iterator[Segment]:
            for text, style, control in super().render(*renderable, **options):
                yield Segment(text if control else printable(text), style, control)

    return PrintableConsole(highlight=False, width=None if sys.stdout.isatty() else _PIPE_WIDTH)


class Bar(NamedTuple):
    """A table cell that draws a value as a bar; omitted if the terminal is too narrow for the table."""

    value: float
    largest: float

    def draw(self) -> str:
        """Draw the bar in eighths of a character; negative values have no bar."""
        eighths = round(8 * BAR * max(self.value, 0) / self.largest) if self.largest > 0 else 0
        return "█" * (eighths // 8) + ("", "▏", "▎", "▍", "▌", "▋", "▊", "▉")[eighths % 8]


def print_table(title: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Print a plain table with numbers aligned to the right."""
    from rich.text import Text

    rows = [list(row) for row in rows]
    out = console()
    if title:
        out.print(Text(one_line(title), "bold"), no_wrap=True, overflow="ellipsis")
    table = _layout(columns, rows)
    if out.measure(table, options=out.options.update(max_width=_ANY_WIDTH)).maximum > out.width:
        kept = [i for i in range(len(columns)) if not any(isinstance(row[i], Bar) for row in rows)]
        table = _layout([columns[i] for i in kept], [[row[i] for i in kept] for row in rows])
    out.print(table)


def _layout(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> Table:
    from rich.table import Table

    table = Table(show_header=any(columns), header_style="bold", box=None, pad_edge=False)
    for i, column in enumerate(columns):
        numeric = bool(rows) and all(isinstance(row[i], int | float) for row in rows)
        table.add_column(column, justify="right" if numeric else "left", overflow="fold")
    for row in rows:
        table.add_row(*[_cell(value) for value in row])
    return table


def _cell(value: Any) -> str:
    from rich.markup import escape

    if isinstance(value, Bar):
        return value.draw()
    return f"{value:.4f}" if isinstance(value, float) else escape(one_line(short(value), None))


def short(value: Any) -> str:
    """Format a number or parameter in as few characters as possible."""
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


def one_line(text: str, max_length: int | None = _MAX_HEADING) -> str:
    """Put untrusted text on one line, without characters that could control the terminal."""
    clean = printable(_SPACES.sub(" ", text))
    return clean if max_length is None or len(clean) <= max_length else f"{clean[:max_length]}…"
