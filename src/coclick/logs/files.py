"""Find the files of a log and detect their kind from their first bytes and lines.

Paths and patterns go in; `LogFile`s come out, with kind, compression and columns.
"""

from __future__ import annotations

import csv
import glob
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import duckdb

from coclick.errors import UserError
from coclick.graph.columns import canonical_name, match_columns, with_stand_ins
from coclick.logs.duckdb_session import paths_sql
from coclick.logs.file_bytes import GZIP, first_bytes, first_lines, later_lines
from coclick.logs.header import is_header
from coclick.logs.json_records import is_by_line, page_path
from coclick.logs.json_shapes import path_to_records
from coclick.logs.schema import match_given_columns, match_named_columns

KINDS = {
    ".tsv": "tsv",
    ".tab": "tsv",
    ".csv": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".ndjson": "ndjson",
    ".jsonl": "ndjson",
    ".json": "ndjson",
}
_MAX_HEADER = 1_000_000  # characters
_SAMPLE_LINES = 1000  # the keys of NDJSON records are collected from these first lines, and some later ones
_HEADER_LINES = 200  # that are compared with the first one
_BULK_KEYS = ("index", "create")
_GZIP_RATIO = 15  # how much larger the text of a compressed log is, at most as a rule
_JSON = re.compile(r"\s*(\{|\[\s*[{\[])")
_NESTED = re.compile(r"(STRUCT|MAP|UNION)\b.*|.*\]", re.DOTALL)


@dataclass(frozen=True)
class LogFile:
    """A file with its kind and column names (numbered if it has no header)."""

    path: Path
    kind: str  # tsv, csv, ndjson or parquet
    gzipped: bool
    columns: tuple[str, ...]
    types: tuple[str, ...] = ()  # DuckDB types, Parquet only
    header: bool = False
    delimiter: str = "\t"
    paths: frozenset[str] = frozenset()  # of sampled records of NDJSON, such as event.action
    empty: bool = False  # not even a header
    by_line: bool = True  # JSON: each record is on one line
    page: tuple[str, ...] | None = None  # JSON: the keys that lead to the records of a page
    wrapped: bool = False  # NDJSON: records are in `_source`, beside `_index` and `_id`
    bulk: bool = False  # NDJSON: with action lines, {"index": …}
    source: str = ""  # what the user calls the file, if `path` is a temporary copy
    assumed: str = ""  # a sentence about the header or the place of records, if the content had to decide

    @property
    def name(self) -> str:
        """What the user calls the file."""
        return self.source or str(self.path)

    @property
    def text_bytes(self) -> int:
        """The size of the text; of a compressed file, what it may be."""
        return self.path.stat().st_size * (_GZIP_RATIO if self.gzipped else 1)

    @property
    def shape(self) -> tuple[Any, ...]:
        """Key of files that one SQL statement can read together."""
        return (self.kind, self.gzipped, self.columns, self.types, self.header, self.delimiter, self.wrapped,
                self.bulk)  # fmt: skip


def expand_paths(sources: str | Path | Sequence[str | Path]) -> list[Path]:
    """Return the files that the paths and patterns name, each once, in a fixed order."""
    found: list[Path] = []
    for source in [sources] if isinstance(sources, str | Path) else sources:
        path = Path(source)
        if path.is_file():
            found.append(path)
        elif path.is_dir():
            raise UserError(
                "this is a directory, not a file", where=str(source), hint=f"name the files in it: {path}/*"
            )
        elif glob.has_magic(str(source)):
            matches = sorted(Path(match) for match in glob.glob(str(source), recursive=True))  # noqa: PTH207 - absolute too
            if not any(match.is_file() for match in matches):
                raise UserError("no file matches the pattern", where=str(source))
            found += [match for match in matches if match.is_file()]
        else:
            raise missing_file_error(path)
    if not found:
        raise UserError("no log file was given", hint="name one or more files or patterns")
    once: dict[Path, Path] = {}
    for path in found:
        once.setdefault(path.resolve(), path)
    return list(once.values())


def missing_file_error(path: Path) -> UserError:
    """Return the error for a path that is missing or not a regular file."""
    if path.exists():
        hint = "files are read several times: save the data to a regular file first"
        return UserError("this is not a regular file", where=str(path), hint=hint)
    return UserError("file not found", where=str(path), hint="check the path")


def detect_file(path: Path, is_split: bool = False) -> LogFile:
    """Detect the kind and columns of a file. `with_header` decides later whether line 1 is a header.

    `is_split` says that it is JSON with one record a line.
    """
    if (name := str(path).encode(errors="replace").decode()) != str(path):
        raise UserError("the file name is not valid UTF-8", where=name, hint="rename the file")
    magic = first_bytes(path, 4)
    gzipped = magic[:2] == GZIP
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if ".gz" in suffixes[-1:] and not gzipped and magic:
        raise UserError(
            "the file is named .gz but is not gzip", where=str(path), hint="rename or compress it"
        )
    kind = next((KINDS[suffix] for suffix in reversed(suffixes) if suffix in KINDS), None)
    if magic == b"PAR1" or (kind == "parquet" and not gzipped):
        return _detect_parquet(path)
    lines = first_lines(path, gzipped, _SAMPLE_LINES)
    if not lines:
        return LogFile(path, kind or "tsv", gzipped, (), empty=True)
    first = lines[0]
    if kind == "ndjson" or (kind is None and _JSON.match("\n".join(lines))):
        return _detect_ndjson(path, gzipped, lines, is_split)
    bare = re.sub(r'"[^"]*"', "", first)  # a quoted name may have commas
    delimiter = max("\t,;|", key=bare.count) if kind != "tsv" else "\t"
    if len(first) > _MAX_HEADER and not first.count(delimiter):
        raise UserError(
            f"the first line has more than {_MAX_HEADER:,} characters and no columns, so this is not a table",
            where=f"{path}, line 1",
            hint="if the file is not text, export the log as text, JSON or Parquet; else remove the line",
        )
    kind = "tsv" if delimiter == "\t" else "csv"
    with csv_field_limit(len(first) + 1):
        cells = next(csv.reader(lines[:1], delimiter=delimiter), []) if kind == "csv" else first.split("\t")
    return LogFile(path, kind, gzipped, tuple(cells), delimiter=delimiter)


@contextmanager
def csv_field_limit(length: int) -> Iterator[None]:
    """Set the maximum length of CSV fields, which Python keeps per process, and restore it at the end."""
    before = csv.field_size_limit(length)
    try:
        yield
    finally:
        csv.field_size_limit(before)


def with_header(file: LogFile, header: bool) -> LogFile:
    """Return the file with `header` set. Without a header its columns are numbered."""
    columns = file.columns
    if not header and file.kind in ("tsv", "csv"):
        columns = tuple(f"column {number}" for number in range(1, len(columns) + 1))
    return replace(file, columns=columns, header=header)


def find_fields(
    file: LogFile, given: Sequence[str] | None, header: str = "auto", by_name: Mapping[str, str] | None = None
) -> tuple[LogFile, dict[str, int] | None]:
    """Detect the header of a log file and return the column index of each field.

    `given` names the columns by place, `by_name` the column of some fields. The result is None if one of
    these is a path into NDJSON instead of a column.
    """
    fields = match_columns(file.columns)
    text = file.kind in ("tsv", "csv")
    if not given:
        file = with_header(file, text and header != "no")
        fields = fields if header != "no" or not text else {}
        named = match_named_columns(by_name or {}, file.columns, str(file.path), file.kind == "ndjson")
        if named is None:
            return file, None
        fields = {name: index for name, index in fields.items() if index not in named.values()}
        _check_names({name: index for name, index in fields.items() if name not in named}, file)
        return file, check_flat(file, with_stand_ins(fields | named))
    names = [canonical_name(name) for name in given]
    cells = [canonical_name(cell) for cell in file.columns]
    known = len(fields) > 1 or cells[: len(names)] == names
    if text and header == "auto" and not known:
        file = with_guessed_header(file)
    else:
        file = with_header(file, text and header != "no")
    return file, check_flat(file, with_stand_ins(match_given_columns(given, file.columns, str(file.path))))


def _check_names(fields: Mapping[str, int], file: LogFile) -> None:
    """Raise if two columns have the name of one field: nothing tells which is meant."""
    names = [canonical_name(name) for name in file.columns]
    for field, index in fields.items():
        if names.count(names[index]) > 1:
            raise UserError(
                f"two columns are called {file.columns[index]!r}, which is the field {field!r}",
                where=str(file.path),
                hint="name the columns in order, with _ for those to skip: --columns query,doc,_",
            )


def with_guessed_header(file: LogFile) -> LogFile:
    """Return the file with or without a header, as its first lines suggest, and a sentence on it."""
    lines = [line for line in first_lines(file.path, file.gzipped, _HEADER_LINES)[1:] if line]
    with csv_field_limit(max(map(len, lines), default=0) + 1):
        rows = [_split(line, file.delimiter) for line in lines]
    found, where = is_header(file.columns, rows), f"line 1 of {file.name} was read as a"
    if found:
        says = f"{where} header: its cells are not like the values below (--header no if it is a row)"
    elif found is None and rows:
        says = f"{where} row: nothing tells it from the rows below (--header yes if it is a header)"
    else:
        says = ""
    return replace(with_header(file, bool(found)), assumed=says)


def _split(line: str, delimiter: str) -> list[str]:
    return line.split("\t") if delimiter == "\t" else next(csv.reader([line], delimiter=delimiter), [])


def check_flat(file: LogFile, fields: dict[str, int]) -> dict[str, int]:
    """Return the fields; raise for nested Parquet columns (structs, maps, lists)."""
    for field, index in fields.items():
        if file.types and _NESTED.fullmatch(file.types[index]):
            raise UserError(
                f"the column {file.columns[index]!r} ({field}) has the nested type {file.types[index]}",
                where=str(file.path),
                hint="replace it by a column of strings, numbers or timestamps",
            )
    return fields


def locate_error(error: duckdb.Error, paths: Sequence[Path]) -> Exception:
    """Return an error that names the input file a DuckDB error came from, or the error itself."""
    for path in paths:
        if str(path) in str(error):
            return UserError(f"the file cannot be read: {str(error).splitlines()[0]}", where=str(path))
    names = ", ".join(map(str, paths[:3]))
    if "GZIP" in str(error):  # DuckDB does not name the file
        return UserError("a gzip file is damaged", where=names, hint="decompress and compress it again")
    if type(error) is duckdb.Error:  # damaged Parquet pages; DuckDB does not name the file
        return UserError(f"a Parquet file is damaged: {error}", where=names, hint="copy or export it again")
    return error


def _detect_parquet(path: Path) -> LogFile:
    try:
        described = duckdb.execute(f"DESCRIBE SELECT * FROM read_parquet({paths_sql([path])})").fetchall()
    except duckdb.Error as error:
        reason = re.sub(r"^[\w ]+ Error: ", "", str(error).splitlines()[0])
        raise UserError(f"the Parquet file cannot be read: {reason}", where=str(path)) from None
    return LogFile(
        path, "parquet", False, tuple(row[0] for row in described), tuple(row[1] for row in described)
    )


def first_records(file: LogFile) -> list[dict[str, Any]]:
    """Return the first records of an NDJSON file and some from behind, without their wrapping."""
    lines = first_lines(file.path, file.gzipped, _SAMPLE_LINES) + later_lines(file.path, file.gzipped)
    return [record for line in _objects(lines) if not _is_action(record := _unwrapped(line))]


def _objects(lines: list[str]) -> Iterator[dict[str, Any]]:
    """The lines that are JSON objects."""
    for line in lines:
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(record, dict):
            yield record


def _is_wrapped(record: dict[str, Any]) -> bool:
    """Whether the record is a hit: with `_index` or `_id`, or with nothing but `_source`."""
    is_hit = "_index" in record or "_id" in record or len(record) == 1
    return is_hit and isinstance(record.get("_source"), dict)


def _is_action(record: dict[str, Any]) -> bool:
    """Whether the record is an action line of a bulk export."""
    return len(record) == 1 and any(isinstance(record.get(key), dict) for key in _BULK_KEYS)


def _unwrapped(record: dict[str, Any]) -> dict[str, Any]:
    """The record in a hit, with its `_id`."""
    if not _is_wrapped(record):
        return record
    return ({"_id": record["_id"]} if "_id" in record else {}) | record["_source"]


def _detect_ndjson(path: Path, gzipped: bool, lines: list[str], is_split: bool) -> LogFile:
    """Collect the keys of the first records in order of appearance. Invalid lines are rejected later."""
    keys: dict[str, None] = {}
    paths: set[str] = set()
    wrapped = bulk = False
    for record in _objects([*lines, *later_lines(path, gzipped)]):
        wrapped |= _is_wrapped(record)
        record = _unwrapped(record)
        bulk |= _is_action(record)
        if not _is_action(record):
            keys.update(dict.fromkeys(record))
            paths.update(_paths(record))
    by_line, page, assumed = True, None, ""
    if not is_split:
        text = "\n".join(lines)
        page = page_path(text)
        by_line = not page and is_by_line(lines)
        if page is None and (page := path_to_records(text, str(path))):
            by_line, assumed = False, f"only {'.'.join(page)!r} of the JSON object was read"
    return LogFile(path, "ndjson", gzipped, tuple(keys), paths=frozenset(paths), by_line=by_line, page=page,
                   wrapped=wrapped, bulk=bulk, assumed=assumed)  # fmt: skip


def _paths(value: Any, depth: int = 6) -> Iterator[str]:
    """The dotted paths of an object, through lists, without array indices."""
    if isinstance(value, list):
        for element in value[:20]:
            yield from _paths(element, depth)
    elif isinstance(value, dict) and depth:
        for key, inner in value.items():
            yield key
            yield from (f"{key}.{name}" for name in _paths(inner, depth - 1))
