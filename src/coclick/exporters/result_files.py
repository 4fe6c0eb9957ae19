"""Write rows of results to a TSV, NDJSON or Parquet file, which appears only once it is complete."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from coclick.errors import UserError
from coclick.storage.directories import check_file, write_file
from coclick.storage.temporary import temporary_directory

FORMATS = (".tsv", ".ndjson", ".jsonl", ".parquet")

Columns = Mapping[str, str]  # their names, and their types in Parquet
Row = Sequence[str | int | float]


def check_result_file(path: Path, what: str, *, force: bool) -> None:
    """Raise if the suffix is unknown or the file must not be written. Call this before long work."""
    if path.suffix not in FORMATS:
        raise UserError(
            f"cannot write {what} as {path.suffix or path.name!r}", hint=f"use {', '.join(FORMATS)}"
        )
    check_file(path, force=force)


def write_rows(path: Path, columns: Columns, rows: Iterable[Row]) -> None:
    """Write rows; the suffix of the path chooses the format."""
    if path.suffix == ".parquet":
        _write_parquet(path, columns, rows)
    elif path.suffix == ".tsv":
        write_file(path, _tsv_lines(columns, rows))
    else:
        write_file(path, _json_lines(columns, rows))


def _tsv_lines(columns: Columns, rows: Iterable[Row]) -> Iterator[str]:
    yield "\t".join(columns) + "\n"
    for row in rows:
        for name, value in zip(columns, row, strict=True):
            if isinstance(value, str) and any(character in value for character in "\t\n\r"):
                raise UserError(
                    f"the {name} {value!r} contains a tab or a line break", hint="write NDJSON or Parquet"
                )
        yield "\t".join(f"{value:.6g}" if isinstance(value, float) else str(value) for value in row) + "\n"


def _json_lines(columns: Columns, rows: Iterable[Row]) -> Iterator[str]:
    for row in rows:
        values: list[Any] = [float(f"{value:.6g}") if isinstance(value, float) else value for value in row]
        yield json.dumps(dict(zip(columns, values, strict=True)), ensure_ascii=False) + "\n"


def _write_parquet(path: Path, columns: Columns, rows: Iterable[Row]) -> None:
    """Write NDJSON first, which DuckDB converts in bounded memory."""
    import duckdb

    with temporary_directory(beside=path) as folder:
        lines, table = folder / "rows.ndjson", folder / "rows.parquet"
        write_file(lines, _json_lines(columns, rows))
        types = ", ".join(f"'{name}': '{kind}'" for name, kind in columns.items())
        options = f"format = 'newline_delimited', columns = {{{types}}}"
        source, target = (str(name).replace("'", "''") for name in (lines, table))
        with duckdb.connect(config={"preserve_insertion_order": True}) as connection:
            connection.execute(
                f"COPY (SELECT * FROM read_json('{source}', {options})) "
                f"TO '{target}' (FORMAT parquet, COMPRESSION zstd)"
            )
        table.replace(path)
