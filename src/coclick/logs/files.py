"""Which files a log is made of, and what each of them is: by its first bytes and first line."""

from __future__ import annotations

import csv
import glob
import gzip
import json
import re
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from threading import Event
from typing import IO, Any

import duckdb

from coclick.errors import UserError
from coclick.logs.duckdb_session import paths_sql
from coclick.logs.schema import canonical_name, match_columns, match_given_columns

_KINDS = {
    ".tsv": "tsv",
    ".tab": "tsv",
    ".csv": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".ndjson": "ndjson",
    ".jsonl": "ndjson",
    ".json": "ndjson",
}
_SAMPLE_LINES = 100  # lines from which the keys of NDJSON records are gathered
_BULK_KEYS = ("index", "create")
_NESTED = re.compile(r"(STRUCT|MAP|UNION)\b.*|.*\]", re.DOTALL)
MAX_RAW_CHARS = 10_000  # characters of a rejected line, as many as DuckDB keeps


@dataclass(frozen=True)
class LogFile:
    """A file with its kind and its columns, as it names them (by number where it has no header)."""

    path: Path
    kind: str  # tsv, csv, ndjson or parquet
    gzipped: bool
    columns: tuple[str, ...]
    types: tuple[str, ...] = ()  # of a Parquet file's columns
    header: bool = False
    delimiter: str = "\t"
    ubi: bool = False
    empty: bool = False  # nothing in it, not even a header

    @property
    def shape(self) -> tuple[Any, ...]:
        """Files that agree in this are read by one statement."""
        return self.kind, self.gzipped, self.columns, self.types, self.header, self.delimiter


def expand_paths(sources: str | Path | Sequence[str | Path]) -> list[Path]:
    """The files that paths and patterns name, each once, in a fixed order."""
    found: list[Path] = []
    for source in [sources] if isinstance(sources, str | Path) else sources:
        path = Path(source)
        if path.is_file():
            found.append(path)
        elif path.is_dir():
            raise UserError(
                "this is a directory, not a file", where=str(source), hint=f"name files: {path}/*"
            )
        elif glob.has_magic(str(source)):
            matches = sorted(Path(match) for match in glob.glob(str(source), recursive=True))  # noqa: PTH207 - absolute too
            if not any(match.is_file() for match in matches):
                raise UserError("no file matches the pattern", where=str(source))
            found += [match for match in matches if match.is_file()]
        else:
            raise missing_file_error(path)
    if not found:
        raise UserError("no log file is given")
    once: dict[Path, Path] = {}
    for path in found:
        once.setdefault(path.resolve(), path)
    return list(once.values())


def missing_file_error(path: Path) -> UserError:
    """Why something cannot be read as a file."""
    if path.exists():
        hint = "files are read several times: write what it gives to a file"
        return UserError("this is not a file", where=str(path), hint=hint)
    return UserError("there is no such file", where=str(path))


def detect_file(path: Path) -> LogFile:
    """What a file is. Its header is not recognised yet: that depends on the columns that are sought."""
    if (name := str(path).encode(errors="replace").decode()) != str(path):
        raise UserError("the name of the file is not UTF-8", where=name, hint="rename it")
    try:
        with path.open("rb") as stream:
            magic = stream.read(4)
    except OSError as error:
        raise UserError(f"cannot be read: {error.strerror}", where=str(path)) from None
    if magic[:2] in (b"\xff\xfe", b"\xfe\xff"):
        hint = f"convert it: iconv -f UTF-16 -t UTF-8 {path}"
        raise UserError("this is UTF-16; texts are read as UTF-8", where=str(path), hint=hint)
    gzipped = magic[:2] == b"\x1f\x8b"
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if ".gz" in suffixes[-1:] and not gzipped and magic:
        raise UserError("this is not a gzip file, though it is named so", where=str(path))
    kind = next((_KINDS[suffix] for suffix in reversed(suffixes) if suffix in _KINDS), None)
    if magic == b"PAR1" or (kind == "parquet" and not gzipped):
        return _detect_parquet(path)
    lines = first_lines(path, gzipped, _SAMPLE_LINES)
    if not lines:
        return LogFile(path, kind or "tsv", gzipped, (), empty=True)
    first = lines[0]
    if kind == "ndjson" or (kind is None and first.lstrip().startswith("{")):
        return _detect_ndjson(path, gzipped, lines)
    delimiter = max("\t,;|", key=first.count) if kind != "tsv" else "\t"
    kind = "tsv" if delimiter == "\t" else "csv"
    with csv_field_limit(len(first) + 1):
        cells = next(csv.reader(lines[:1], delimiter=delimiter), []) if kind == "csv" else first.split("\t")
    return LogFile(path, kind, gzipped, tuple(cells), delimiter=delimiter)


@contextmanager
def csv_field_limit(length: int) -> Iterator[None]:
    """Python's reader takes CSV cells of so many characters meanwhile; its limit is that of the process."""
    before = csv.field_size_limit(length)
    try:
        yield
    finally:
        csv.field_size_limit(before)


def with_header(file: LogFile, header: bool) -> LogFile:
    """The file whose first line is or is not a header; without one its columns are numbered."""
    columns = file.columns
    if not header and file.kind in ("tsv", "csv"):
        columns = tuple(f"column {number}" for number in range(1, len(columns) + 1))
    return replace(file, columns=columns, header=header)


def find_fields(file: LogFile, given: Sequence[str] | None) -> tuple[LogFile, dict[str, int]]:
    """Recognise the header of a log file and say which column holds which field."""
    fields = match_columns(file.columns)
    text = file.kind in ("tsv", "csv")
    if not given:
        return with_header(file, text), check_flat(file, fields)
    names = [canonical_name(name) for name in given]
    header = text and (
        len(fields) > 1 or [canonical_name(cell) for cell in file.columns][: len(names)] == names
    )
    file = with_header(file, header)
    return file, check_flat(file, match_given_columns(given, file.columns, str(file.path)))


def check_flat(file: LogFile, fields: dict[str, int]) -> dict[str, int]:
    """The fields again; refuses columns of Parquet that hold several values, which are no text."""
    for field, index in fields.items():
        if file.types and _NESTED.fullmatch(file.types[index]):
            raise UserError(
                f"the column {file.columns[index]!r} is to be {field}, but its type is {file.types[index]}",
                where=str(file.path),
                hint="write a plain column of texts, numbers or times",
            )
    return fields


def first_lines(path: Path, gzipped: bool, count: int) -> list[str]:
    """The first lines as text; what is not UTF-8 in them is replaced, and counted later."""
    try:
        with open_bytes(path, gzipped) as stream:
            lines = list(islice(iter(lambda: stream.readline(1 << 22), b""), count))
    except (OSError, EOFError, zlib.error) as error:
        raise _gzip_error(path, error) from None
    text = [line.decode("utf-8", "replace").rstrip("\r\n") for line in lines]
    text = [part for line in text for part in line.split("\r")][:count]  # for DuckDB, too, it ends a line
    return [text[0].removeprefix("\ufeff"), *text[1:]] if text else []


def find_long_lines(file: LogFile, most: int, stop: Event) -> list[tuple[int, str]]:
    """Read a text file through: the lines of `most` bytes or more, by number, and how they begin.

    DuckDB drops such a line without a word if it lies across two buffers. Nor does it check a gzip file's
    checksum, which this does by the way.
    """
    if not file.gzipped and file.path.stat().st_size < most:
        return []
    try:
        found: list[tuple[int, str]] = []
        for counting in (False, True):  # to count all lines takes ten times as long as to look for long ones
            with open_bytes(file.path, file.gzipped) as stream:
                found = list(_scan_long_lines(stream, most, stop, counting))
            if not found:
                break
        return [(line, begin) for line, begin in found if line > int(file.header)]
    except (OSError, EOFError, zlib.error) as error:
        raise _gzip_error(file.path, error) if file.gzipped else error from None


def _scan_long_lines(stream: IO[bytes], most: int, stop: Event, counting: bool) -> Iterator[tuple[int, str]]:
    """See `too_long`; line numbers are right only if they are counted."""
    line, length, begin = 1, 0, b""
    while not stop.is_set() and (chunk := stream.read(1 << 20)):
        if chunk.endswith(b"\r"):
            chunk += stream.read(1)  # both halves of an end of line
        last = max(chunk.rfind(b"\n"), chunk.rfind(b"\r"))
        if last < 0:
            begin = (begin + chunk)[:MAX_RAW_CHARS]
            length += len(chunk)
            continue
        first = min(place for place in (chunk.find(b"\n"), chunk.find(b"\r")) if place >= 0)
        if length + first >= most:
            yield line, begin.decode("utf-8", "replace")
        if counting:
            line += chunk.count(b"\n") + chunk.count(b"\r") - chunk.count(b"\r\n")
        begin, length = chunk[last + 1 :][:MAX_RAW_CHARS], len(chunk) - last - 1
    if length >= most:
        yield line, begin.decode("utf-8", "replace")


def open_bytes(path: Path, gzipped: bool) -> IO[bytes]:
    """The file's content, decompressed."""
    return gzip.open(path, "rb") if gzipped else path.open("rb")  # type: ignore[return-value]


def locate_error(error: duckdb.Error, paths: Sequence[Path]) -> Exception:
    """The file that a statement failed on, if it was one of the user's."""
    for path in paths:
        if str(path) in str(error):
            return UserError(f"cannot be read: {str(error).splitlines()[0]}", where=str(path))
    names = ", ".join(map(str, paths[:3]))
    if "GZIP" in str(error):  # nor is one named here
        return UserError("a gzip file is damaged", where=names, hint="gunzip it and compress it again")
    if type(error) is duckdb.Error:  # what the Parquet reader raises on damaged pages; it names no file
        return UserError(f"a Parquet file is damaged: {error}", where=names, hint="copy it again")
    return error


def _gzip_error(path: Path, error: Exception) -> UserError:
    return UserError(
        f"the gzip file is damaged: {error}", where=str(path), hint="copy it again, or leave it out"
    )


def _detect_parquet(path: Path) -> LogFile:
    try:
        described = duckdb.execute(f"DESCRIBE SELECT * FROM read_parquet({paths_sql([path])})").fetchall()
    except duckdb.Error as error:
        reason = re.sub(r"^[\w ]+ Error: ", "", str(error).splitlines()[0])
        raise UserError(f"the Parquet file cannot be read: {reason}", where=str(path)) from None
    return LogFile(
        path, "parquet", False, tuple(row[0] for row in described), tuple(row[1] for row in described)
    )


def _detect_ndjson(path: Path, gzipped: bool, lines: list[str]) -> LogFile:
    """Keys in the order in which the first records show them; lines that are no records are judged later."""
    keys: dict[str, None] = {}
    ubi = False
    for line in lines:
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(record, dict):
            bulk = len(record) == 1 and any(isinstance(record.get(key), dict) for key in _BULK_KEYS)
            ubi |= bulk or ("query_id" in record and ("action_name" in record or "user_query" in record))
            keys.update(dict.fromkeys(record))
    return LogFile(path, "ndjson", gzipped, tuple(keys), ubi=ubi)
