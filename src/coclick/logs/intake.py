"""Open what a user names as a log: files, patterns, archives, standard input, URLs and tables in memory.

What DuckDB cannot read as it is, is written to a temporary file: UTF-8 lines or Parquet. In errors and in
rejected rows the file and the line are those of the user's file.
"""

from __future__ import annotations

import select
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import duckdb

from coclick.errors import CoclickError, UserError
from coclick.logs import archives, csv_records, decode, file_bytes, files, json_records, text_sql
from coclick.logs.database import DatabaseQuery, without_password, write_query
from coclick.logs.duckdb_session import DuckDBSession, literal
from coclick.logs.files import LogFile
from coclick.logs.in_memory import as_list, docs_as_list, write_table

STANDARD_INPUT = "standard input"
_URL_SCHEMES = (
    "http://",
    "https://",
    "s3://",
    "s3a://",
    "gs://",
    "gcs://",
    "r2://",
    "az://",
    "azure://",
    "hf://",
)
_SAMPLE_BLOCKS, _SAMPLE_BYTES = 16, 1 << 16
_SAMPLE_START = 1 << 20
_FAILING_BYTES = 1 << 25  # where lines that are not UTF-8 are looked for, to guess their encoding
_MAX_FAILING = 1000


class Intake:
    """Opens inputs as `LogFile`s. Temporary files are in the session's directory, which it removes.

    As a context manager it replaces the names of temporary files in errors. With `max_bytes`, no more than
    this is read of a file that has to be written anew; the rest is left out.
    """

    def __init__(
        self,
        db: DuckDBSession,
        encoding: str | None = None,
        report: Callable[[str], None] | None = None,
        max_bytes: int | None = None,
    ) -> None:
        self._db = db
        self._encoding = None if encoding is None else decode.check_encoding(encoding)
        self._report = report or (lambda message: None)
        self._max_bytes = max_bytes
        self._names: dict[Path, str] = {}  # temporary file → what the user calls it
        self._places: dict[Path, Path] = {}  # temporary file → the lines of its records
        self.encodings: dict[str, str] = {}  # of text files, by name

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if isinstance(error, CoclickError):
            for path, name in self._names.items():
                for part in ("what", "where", "hint"):
                    setattr(error, part, (getattr(error, part) or "").replace(str(path), name) or None)

    def open_log(self, sources: Any) -> list[LogFile]:
        """Open the files of a log, each once, in a fixed order."""
        opened = self._open_all(as_list(sources), "the table of clicks", in_log=True)
        if not opened:
            raise UserError("no log file was given", hint="name one or more files or patterns")
        return opened

    def open_docs(self, docs: Any) -> list[LogFile]:
        """Open the files of documents; none if `docs` is None."""
        return self._open_all(docs_as_list(docs), "the table of documents", in_log=False)

    def open_all(self, sources: Any, docs: Any, query: DatabaseQuery) -> tuple[list[LogFile], list[LogFile]]:
        """Open the files of the log and of the documents, given as files or by SQL queries."""
        query.check(sources, docs)
        if query.sql is None:
            log = self.open_log([] if sources is None else sources)
        else:
            log = [self.open_query(query.database, query.sql, "--sql")]
        if query.docs_sql is None:
            return log, self.open_docs(docs)
        return log, [self.open_query(query.database, query.docs_sql, "--docs-sql")]

    def open_query(self, database: Any, sql: str, option: str) -> LogFile:
        """Open the result of an SQL query; `option` is --sql or --docs-sql."""
        name = f"the result of {option}"
        path = self._temp(name, ".parquet")
        self._report(f"reading {name} from the database")
        write_query(self._db, database, sql, option, path)
        return replace(files.detect_file(path), source=name)

    def restore_places(self) -> None:
        """Replace file and line of rejected rows of temporary files by those of the user's file."""
        for path, name in self._names.items():
            here = f"file = {literal(path)}"
            if not self._db.fetch_value(f"SELECT count(*) FROM reject WHERE {here}"):
                continue
            if path in self._places:
                self._db.preserve_order(True)
                self._db.execute(f"""
                    UPDATE reject SET line = place.line, reason = coalesce(place.defect, reason),
                        field = CASE WHEN place.defect IS NULL THEN field ELSE '' END
                    FROM (SELECT row_number() OVER () AS record, line, defect
                        FROM read_csv({literal(self._places[path])}, header = false, delim = '\\t',
                            quote = '', columns = {{'line': 'BIGINT', 'defect': 'VARCHAR'}})) place
                    WHERE {here} AND reject.line = place.record""")
                self._db.preserve_order(False)
            encoding = self.encodings.get(name, "UTF-8")
            self._db.execute(f"""
                UPDATE reject SET file = {literal(name)},
                    reason = CASE WHEN reason = {literal(text_sql.NOT_UTF8)}
                        THEN {literal(f"not valid {encoding.upper()}")} ELSE reason END
                WHERE {here}""")

    def encoding_hints(self, opened: Sequence[LogFile]) -> dict[str, str]:
        """Return what to do about the lines of files that are not valid UTF-8, by the name of the file."""
        rejected = f"SELECT DISTINCT file FROM unreadable WHERE reason = {literal(text_sql.NOT_UTF8)}"
        paths = {path for (path,) in self._db.fetchall(rejected)}
        return {
            file.name: decode.not_utf8_hint(_failing_lines(file))
            for file in opened
            if str(file.path) in paths and self.encodings.get(file.name) == "utf-8"
        }

    def name_place(self, path: Path, line: int) -> str:
        """Return file and line of a row as the user knows them."""
        if path in self._places:
            with self._places[path].open(encoding="utf-8") as stream:
                line = int(next(islice(stream, line - 1, line)).partition("\t")[0])
        return f"{self._names.get(path, path)}, line {line}"

    def _open_all(self, sources: list[Any], label: str, in_log: bool) -> list[LogFile]:
        opened: dict[Any, list[LogFile]] = {}  # what was named twice is opened once
        for number, source in enumerate(sources):
            if not isinstance(source, str | Path):
                opened[number] = [self._open_table(source, label)]
            elif str(source) == "-" and "-" not in opened:
                opened["-"] = self._open_path(self._spool_standard_input(), STANDARD_INPUT, in_log)
            elif str(source).startswith(_URL_SCHEMES) and source not in opened:
                name = _without_secrets(str(source))
                opened[source] = self._open_path(self._fetch_url(str(source), name), name, in_log)
            elif source not in opened:
                for path in files.expand_paths(source):
                    if path.resolve() not in opened:
                        opened[path.resolve()] = self._open_path(path, str(path), in_log)
        return [file for part in opened.values() for file in part]

    def _open_table(self, table: Any, label: str) -> LogFile:
        path = write_table(table, self._db.temp_path("parquet"))
        self._names[path] = label
        return replace(files.detect_file(path), source=label)

    def _open_path(self, path: Path, name: str, in_log: bool, in_archive: bool = False) -> list[LogFile]:
        """Open one file, or the files in a zip archive."""
        kind = archives.detect_compression(file_bytes.first_bytes(path, 512), name)
        if kind == "zip" and in_archive:
            raise UserError("an archive in an archive cannot be read", where=name, hint="unpack it first")
        if kind == "zip":
            return [
                file
                for member in archives.zip_members(path, name)
                for file in self._open_path(
                    self._extract(path, member, name), f"{name}/{member}", in_log, True
                )
            ]
        if kind is not None:
            expanded = self._temp(name, _suffix(path.with_suffix("")))
            archives.decompress(path, kind, name, expanded)
            path = expanded
        return [self._open_text(path, name, in_log)]

    def _open_text(self, path: Path, name: str, in_log: bool) -> LogFile:
        """Open a text or Parquet file; write it anew if it is not UTF-8, or not one record a line."""
        if file_bytes.first_bytes(path, 4) == b"PAR1":
            return replace(files.detect_file(path), source=name)
        gzipped = file_bytes.is_gzipped(path)
        sample = _sample(path, gzipped)
        encoding = self._encoding or decode.guess_encoding(sample)
        self.encodings[name] = encoding
        if encoding != "utf-8":
            self._report(f"reading {name} as {encoding}")
            text = self._temp(name, _suffix(path))
            with file_bytes.reading(path, gzipped) as stream:
                decode.transcode(stream, encoding, text, self._max_bytes)
            path, sample = text, _sample(text, False)
        file = files.detect_file(path)
        if file.kind == "ndjson" and not file.empty and not file.by_line:
            records, places = self._temp(name, ".ndjson"), self._db.temp_path("tsv")
            with file_bytes.reading(path, file.gzipped) as stream:
                json_records.split_records(stream, file.page, records, places, self._max_bytes)
            self._places[records] = places
            file = replace(files.detect_file(records, is_split=True), assumed=file.assumed)
        if in_log and file.kind == "csv":
            file = self._with_whole_records(file, name, sample)
        return replace(file, source=name)

    def _with_whole_records(self, file: LogFile, name: str, sample: bytes) -> LogFile:
        """A CSV file with one record a line: it is written anew if cells have line ends."""
        shape = file.delimiter, len(file.columns)
        if not csv_records.has_long_records(sample, *shape):
            return file
        self._report(f"joining the lines of records in {name}")
        records, places = self._temp(name, ".csv"), self._db.temp_path("tsv")
        with file_bytes.reading(file.path, file.gzipped) as stream:
            csv_records.join_lines(stream, *shape, records, places)
        self._places[records] = places
        return files.detect_file(records)

    def _temp(self, name: str, suffix: str) -> Path:
        path = self._db.temp_path(suffix.lstrip(".") or "txt")
        self._names[path] = name
        return path

    def _extract(self, archive: Path, member: str, name: str) -> Path:
        path = self._temp(f"{name}/{member}", _suffix(Path(member)))
        archives.extract(archive, member, f"{name}/{member}", path)
        return path

    def _spool_standard_input(self) -> Path:
        if sys.stdin is None or sys.stdin.isatty():
            raise UserError(
                "- reads a log from standard input, which is a terminal",
                hint="pipe a log into the command: zcat log.tsv.gz | coclick build - -o graph",
            )
        path = self._temp(STANDARD_INPUT, ".stdin")
        archives.copy_bounded(_Pipe(sys.stdin.buffer), path, STANDARD_INPUT)
        return path

    def _fetch_url(self, url: str, name: str) -> Path:
        """Copy what a URL names, with DuckDB's extension httpfs."""
        db = self._db
        try:
            db.execute("LOAD httpfs")
        except duckdb.Error:
            raise UserError(
                "reading a URL needs DuckDB's extension httpfs, which is not installed",
                where=name,
                hint="download the file and name it, or install the extension once: "
                "python -c \"import duckdb; duckdb.sql('INSTALL httpfs')\"",
            ) from None
        path = self._temp(name, _suffix(Path(url.partition("?")[0])))
        try:
            if path.suffix in (".parquet", ".pq"):
                db.execute(f"COPY (FROM read_parquet({literal(url)})) TO {literal(path)} (FORMAT parquet)")
                return path
            size = db.fetch_value(f"SELECT size FROM read_blob({literal(url)})")
            if size > db.memory // 2:
                raise UserError(
                    f"a text of {size:,} bytes is too large to be read from a URL",
                    where=name,
                    hint="download it and name the file, or give more memory: --memory",
                )
            path.write_bytes(db.fetch_value(f"SELECT content FROM read_blob({literal(url)})"))
        except duckdb.Error as error:
            reason = str(error).splitlines()[0].replace(url, name)
            raise UserError(f"the URL cannot be read: {reason}", where=name) from None
        return path


class _Pipe:
    """Reads a pipe as its data comes, and notices Ctrl-C also if none comes."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        try:
            self._waited_for = [stream.fileno()]
        except OSError:  # not a real file
            self._waited_for = []

    def read(self, size: int) -> bytes:
        while self._waited_for and not select.select(self._waited_for, [], [], 0.2)[0]:
            pass  # a signal that came just before is handled here
        data: bytes = self._stream.read1(size)
        return data


def _without_secrets(url: str) -> str:
    """The URL without a password and without parameters, which may hold a signature."""
    return without_password(url.partition("?")[0])


def _suffix(path: Path) -> str:
    """The last ending of a name that tells the kind of a file, such as .tsv in log.tsv.gz."""
    endings = [ending.lower() for ending in path.suffixes if ending.lower() in files.KINDS]
    return endings[-1] if endings else ".txt"


def _sample(path: Path, gzipped: bool) -> bytes:
    """The begin of a file and, if it is large and not compressed, the lines at some places in it."""
    with file_bytes.reading(path, gzipped) as stream:
        sample = [stream.read(_SAMPLE_START)]
        size = 0 if gzipped else path.stat().st_size
        for block in range(1, _SAMPLE_BLOCKS) if size > 2 * _SAMPLE_START else ():
            stream.seek(size * block // _SAMPLE_BLOCKS)
            sample.append(b"\n".join(stream.read(_SAMPLE_BYTES).split(b"\n")[1:-1]))
    if len(sample[0]) == _SAMPLE_START:
        sample[0] = sample[0][: sample[0].rfind(b"\n") + 1] or _whole_characters(sample[0])
    return b"\n".join(sample)


def _failing_lines(file: LogFile) -> list[bytes]:
    """The first lines of a file that are not UTF-8, from its first megabytes and some places behind."""
    with file_bytes.reading(file.path, file.gzipped) as stream:
        start = stream.read(_FAILING_BYTES)
    return decode.failing_lines(start + b"\n" + _sample(file.path, file.gzipped))[:_MAX_FAILING]


def _whole_characters(text: bytes) -> bytes:
    """The text without a UTF-8 character at its end, which may be cut off."""
    end = len(text)
    while end and text[end - 1] & 0xC0 == 0x80:
        end -= 1
    return text[: max(end - 1, 0)]
