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
_GAP = 2  # columns between those of a table
_SHORT_CELL = 12  # columns: a cell that is not wrapped
_LABEL = 8  # columns of a label before a text
_LONG_WORD = 24  # columns: words are only broken behind these
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
    """Print a plain table with numbers aligned to the right.

    If it is wider than the terminal, bars are left out and texts wrapped between words. If that does not
    suffice, each row becomes a block with a line for each value.
    """
    from rich.text import Text

    rows = [list(row) for row in rows]
    out = console()
    if title:
        out.print(Text(one_line(title), "bold"))
    widths = _widths(columns, rows, out.width)
    if widths != _natural_widths(columns, rows):
        kept = [i for i in range(len(columns)) if not any(isinstance(row[i], Bar) for row in rows)]
        columns, rows = [columns[i] for i in kept], [[row[i] for i in kept] for row in rows]
        widths = _widths(columns, rows, out.width)
    if widths is None and len(columns) > 2:
        _print_blocks(columns, rows)
    else:
        out.print(_layout(columns, rows, widths))


def print_labelled(lines: Iterable[tuple[str, str]]) -> None:
    """Print texts behind labels that are aligned; texts are wrapped beside their label."""
    from rich.table import Table
    from rich.text import Text

    table = Table.grid(padding=(0, 1, 0, 0))
    table.add_column(min_width=_LABEL, no_wrap=True)
    table.add_column(overflow="fold")
    for label, text in lines:
        table.add_row(Text(label, "bold"), Text(printable(text)))
    if table.row_count:
        console().print(table)


def _print_blocks(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """Print each row as its first value and a line for each other; values without a heading end a line."""
    from rich.text import Text

    for row in rows:
        lines = [["", _cell(row[0])]]
        for column, value in zip(columns[1:], row[1:], strict=True):
            if column:
                lines.append([f"  {column}", _cell(value)])
            else:
                lines[-1][1] = f"{lines[-1][1]} {_cell(value)}".strip()
        console().print(Text(lines[0][1], "bold"))
        console().print(_layout(["", ""], [line for line in lines[1:] if line[1]], None))


def _natural_widths(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> list[int]:
    from rich.cells import cell_len

    return [max(map(cell_len, texts)) for texts in _texts(columns, rows)]


def _widths(columns: Sequence[str], rows: Sequence[Sequence[Any]], available: int) -> list[int] | None:
    """Return the widths of columns that fit without breaking words of usual length; None if none do."""
    widths = _natural_widths(columns, rows)
    needed = [
        min(width, max(_unbroken(text) for text in texts))
        for width, texts in zip(widths, _texts(columns, rows), strict=True)
    ]
    spare = available - sum(needed) - _GAP * (len(columns) - 1)
    if spare < 0:
        return None
    by_wish = sorted(range(len(columns)), key=lambda i: widths[i] - needed[i])
    for place, i in enumerate(by_wish):  # what a column does not use is left to those that wish for more
        more = min(widths[i] - needed[i], spare // (len(columns) - place))
        needed[i] += more
        spare -= more
    return needed


def _unbroken(text: str) -> int:
    """The width that a text needs: that of its longest word, or of the whole text if it is short."""
    from rich.cells import cell_len

    if (width := cell_len(text)) <= _SHORT_CELL:
        return width
    return min(max(map(cell_len, text.split()), default=0), _LONG_WORD)


def _texts(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> list[list[str]]:
    """The texts of each column, with its heading."""
    return [[column, *(_cell(row[i]) for row in rows)] for i, column in enumerate(columns)]


def _layout(columns: Sequence[str], rows: Sequence[Sequence[Any]], widths: Sequence[int] | None) -> Table:
    from rich.table import Table
    from rich.text import Text

    table = Table(show_header=any(columns), header_style="bold", box=None, pad_edge=False)
    for i, column in enumerate(columns):
        numeric = bool(rows) and all(isinstance(row[i], int | float) for row in rows)
        width = None if widths is None else widths[i]
        table.add_column(column, justify="right" if numeric else "left", overflow="fold", width=width)
    for row in rows:
        table.add_row(*[Text(_cell(value)) for value in row])
    return table


def _cell(value: Any) -> str:
    if isinstance(value, Bar):
        return value.draw()
    return f"{value:.4f}" if isinstance(value, float) else one_line(short(value), None)


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
