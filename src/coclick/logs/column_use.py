"""What each column of a file is used as, with sample values, for reports."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import duckdb

from coclick.logs import files
from coclick.logs.duckdb_session import paths_sql
from coclick.logs.files import LogFile
from coclick.logs.record_sql import RecordFields

_ROWS = 50  # the first ones
_RECORDS = 200  # of JSON, behind the first ones: a log may begin with records of one kind
_N_SAMPLES, _MAX_SAMPLE = 3, 60  # sample values of a column, characters of one
_KINDS = (  # what values look like, the most special first
    ("an e-mail address", re.compile(r"[^@\s]+@[^@\s]+\.[A-Za-z]{2,}")),
    ("a URL", re.compile(r"(https?|ftp)://\S+|www\.\S+")),
    ("a time", re.compile(r"\d{1,4}([-/.])\d{1,2}\1\d{1,4}([T ].*)?|\d\d?/\w{3}/\d{4}.*|1\d{9}(\d{3}){0,3}")),
    ("a number", re.compile(r"[-+]?\d+([.,]\d+)?")),
    ("JSON", re.compile(r"[\[{].*[\]}]", re.DOTALL)),
    ("an id", re.compile(r"(?=\S*\d)[\w.:/-]+")),
)  # fmt: skip


@dataclass(frozen=True)
class ColumnUse:
    """A column, or a path of JSON records, with the field it is used as: empty if it is ignored."""

    name: str
    field: str
    looks_like: str
    samples: tuple[str, ...]


def column_uses(file: LogFile, record: RecordFields) -> list[ColumnUse]:
    """Return the columns of a file in order. Sources that are expressions have no column of their own."""
    fields = main_fields(record.sources)
    return [
        ColumnUse(name, fields.get(name, ""), looks_like(values), _samples(values))
        for name, values in sample_values(file).items()
    ]


def main_fields(sources: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Return the field that each column is used as; of several, the one that reads it first."""
    ranks = [
        (rank, column, field) for field, columns in sources.items() for rank, column in enumerate(columns)
    ]
    found: dict[str, str] = {}
    for _, column, field in sorted(ranks, key=lambda one: one[0]):
        found.setdefault(column, field)
    return found


def looks_like(values: Sequence[str]) -> str:
    """Return what the values of a column look like: a time, a number, an id … or text."""
    filled = [value.strip() for value in values if value.strip()]
    if not filled:
        return "empty"
    for kind, pattern in _KINDS:
        if sum(pattern.fullmatch(value) is not None for value in filled) >= 0.8 * len(filled):
            return kind
    return "text"


def sample_values(file: LogFile) -> dict[str, list[str]]:
    """Return the first values of each column, or of each path of JSON records."""
    if file.kind == "parquet":
        try:
            rows = duckdb.execute(f"FROM read_parquet({paths_sql([file.path])}) LIMIT {_ROWS}").fetchall()
        except duckdb.Error:  # damaged pages: reading the log says so
            rows = []
        return _by_column(file.columns, [["" if cell is None else str(cell) for cell in row] for row in rows])
    if file.kind == "ndjson":
        records = files.first_records(file)
        return _by_path(records[:_ROWS] + records[_ROWS :: max(1, len(records) // _RECORDS)])
    lines = files.first_lines(file.path, file.gzipped, _ROWS + file.header)[int(file.header) :]
    if file.kind == "tsv":
        return _by_column(file.columns, [line.split("\t") for line in lines])
    return _by_column(file.columns, [cells for line in lines if (cells := _csv_cells(line, file.delimiter))])


def _csv_cells(line: str, delimiter: str) -> list[str]:
    """The cells of a line; none if its quotes are broken."""
    try:
        with files.csv_field_limit(len(line) + 1):
            return next(csv.reader([line], delimiter=delimiter), [])
    except csv.Error:
        return []


def _by_column(columns: Sequence[str], rows: list[list[str]]) -> dict[str, list[str]]:
    return {name: [row[i] for row in rows if i < len(row)] for i, name in enumerate(columns)}


def _by_path(records: list[dict[str, Any]]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for record in records:
        for path, value in _leaves(record):
            found.setdefault(path, []).append(value)
    return found


def _leaves(value: Any, path: str = "", depth: int = 6) -> Iterator[tuple[str, str]]:
    """The values of a JSON object with their paths; lists are written `items[]`."""
    if isinstance(value, dict) and depth:
        for key, inner in value.items():
            yield from _leaves(inner, f"{path}.{key}" if path else key, depth - 1)
    elif isinstance(value, list) and depth:
        for element in value[:5]:
            yield from _leaves(element, f"{path}[]", depth - 1)
    elif value is not None:
        yield path, value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _samples(values: Sequence[str]) -> tuple[str, ...]:
    distinct = dict.fromkeys(value.strip() for value in values if value.strip())
    return tuple(value[:_MAX_SAMPLE] for value in list(distinct)[:_N_SAMPLES])
