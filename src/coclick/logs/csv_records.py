"""Records of CSV that span several lines: a quoted cell has a line end. Logs are read line by line."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import IO

from coclick.logs.files import csv_field_limit

_QUOTE = b'"'
_MAX_LINES = 100  # of one record; beyond that its first quote is a stray one


def has_long_records(sample: bytes, delimiter: str, n_columns: int) -> bool:
    """Return whether lines of a sample are parts of records with `n_columns` cells."""
    if _QUOTE not in sample:
        return False
    lines = sample.splitlines(keepends=True)
    return any(n_lines > 1 for _, n_lines in _records(iter(lines), delimiter, n_columns))


def join_lines(stream: IO[bytes], delimiter: str, n_columns: int, out: Path, places: Path) -> None:
    """Write a CSV text to `out` with blanks in place of line ends in cells, its line numbers to `places`."""
    line = 1
    with out.open("wb") as records, places.open("w", encoding="utf-8") as found:
        for record, n_lines in _records(iter(stream.readline, b""), delimiter, n_columns):
            body = record.rstrip(b"\r\n")
            if n_lines > 1:
                body = b" ".join(body.splitlines())
            records.write(body + b"\n")
            found.write(f"{line}\t\n" * len(body.split(b"\r")))  # each part is a line of its own, to DuckDB
            line += n_lines


def _records(lines: Iterator[bytes], delimiter: str, n_columns: int) -> Iterator[tuple[bytes, int]]:
    """Each record and how many lines it has. Lines that are no part of a whole record are kept apart."""
    waiting: list[bytes] = []
    while line := waiting.pop(0) if waiting else next(lines, b""):
        if not line.count(_QUOTE) % 2:
            yield line, 1
            continue
        waiting += islice(lines, max(0, _MAX_LINES - len(waiting)))
        n_lines = _end_of_record(line, waiting, delimiter, n_columns)
        yield line + b"".join(waiting[: n_lines - 1]), n_lines
        del waiting[: n_lines - 1]


def _end_of_record(first: bytes, following: list[bytes], delimiter: str, n_columns: int) -> int:
    """The lines of the record that begins with a line: 1 if what follows does not complete it."""
    text = first
    for number, line in enumerate(following, 2):
        text += line
        if line.count(_QUOTE) % 2:
            rows = _rows(text, delimiter)
            return number if len(rows) == 1 and len(rows[0]) == n_columns else 1
    return 1


def _rows(text: bytes, delimiter: str) -> list[list[str]]:
    """The rows of a text; none if its quotes are broken."""
    lines = text.decode("utf-8", "surrogateescape").splitlines(keepends=True)
    try:
        with csv_field_limit(len(text) + 1):
            return list(csv.reader(lines, delimiter=delimiter, strict=True))
    except csv.Error:
        return []
