"""The first part of a log, for `check`: its time must not grow with the log."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import duckdb

from coclick.jit.threads import threads as all_threads
from coclick.logs import decode, file_bytes, files, json_records
from coclick.logs.archives import detect_compression
from coclick.logs.database import DatabaseQuery, check_select, write_query
from coclick.logs.duckdb_session import DuckDBSession, literal, parse_memory, paths_sql
from coclick.logs.text_sql import MAX_LINE_BYTES

MAX_BYTES = 256_000_000  # of all files together, decompressed
MIN_BYTES = 4_000_000  # of one file
_BLOCK = 1 << 20
_GZIP_RATIO = 20  # at most, of a usual log
_JSON_SHARE = 4  # arrays and pages of JSON take about this many times as long as lines
_BYTES_PER_ROW = 100  # of a Parquet file, to limit its rows


@dataclass
class LogSample:
    """Sources of a log, each replaced by its first part if it is large."""

    directory: Path
    sources: list[Any] = field(default_factory=list)
    names: dict[str, str] = field(default_factory=dict)  # path of a part → the file it is from
    cut: list[str] = field(default_factory=list)  # files of which only a part was looked at

    @classmethod
    def of(cls, sources: Sequence[Any], directory: Path, max_bytes: int | None = None) -> LogSample:
        """Copy the first parts of large files to a directory. Standard input is copied, too."""
        sample = cls(directory)
        expanded: list[Any] = []
        for source in sources:
            is_path = isinstance(source, str | Path) and str(source) != "-" and "://" not in str(source)
            expanded += files.expand_paths(source) if is_path else [source]
        limit = max(MIN_BYTES, (max_bytes or MAX_BYTES) // max(1, len(expanded)))
        for source in expanded:
            sample.sources.append(sample._part(source, limit))
        return sample

    def read_database(self, query: DatabaseQuery, memory: str) -> list[Any]:
        """Read the first rows of the log from a database, and its documents; return the file of these."""
        limit = MAX_BYTES // _BYTES_PER_ROW
        described: list[Any] = []
        with DuckDBSession(self.directory / "database", parse_memory(memory), all_threads()) as db:
            if query.sql is not None:
                check_select(query.sql, "--sql")
                target, name = self._new("parquet"), "the result of --sql"
                inner = query.sql.strip().rstrip("; \t\r\n")
                first = f"SELECT * FROM (\n{inner}\n) AS whole LIMIT {limit}"
                write_query(db, query.database, first, "--sql", target)
                self.names[str(target)] = name
                if db.fetch_value(f"SELECT count(*) FROM read_parquet({paths_sql([target])})") == limit:
                    self.cut.append(name)
                self.sources.append(target)
            if query.docs_sql is not None:
                described = [self._new("parquet")]
                write_query(db, query.database, query.docs_sql, "--docs-sql", described[0])
                self.names[str(described[0])] = "the result of --docs-sql"
        return described

    def restore_names(self, text: str) -> str:
        """Replace the paths of parts by the names of their files."""
        for path, name in self.names.items():
            text = text.replace(path, name)
        return text

    def _part(self, source: Any, limit: int) -> Any:
        if str(source) == "-" and sys.stdin is not None and not sys.stdin.isatty():
            return self._copy(sys.stdin.buffer, "standard input", self._new("stdin"), limit)
        if not isinstance(source, Path):
            return source
        if file_bytes.first_bytes(source, 4) == b"PAR1":
            return self._parquet(source, limit)
        gzipped = file_bytes.is_gzipped(source)
        if not gzipped and detect_compression(file_bytes.first_bytes(source, 512), str(source)) is not None:
            return source  # an archive is read whole
        if source.stat().st_size * (_GZIP_RATIO if gzipped else 1) <= limit:
            return source
        if _is_one_json_text(source, gzipped):
            return self._records(source, gzipped, limit)
        target = self._new("".join(source.suffixes).removesuffix(".gz").lstrip(".") or "txt")
        with file_bytes.reading(source, gzipped) as stream:
            return self._copy(stream, str(source), target, limit)

    def _parquet(self, source: Path, limit: int) -> Path:
        [(rows,)] = duckdb.execute(f"SELECT count(*) FROM read_parquet({paths_sql([source])})").fetchall()
        if rows * _BYTES_PER_ROW <= limit:
            return source
        target, taken = self._new("parquet"), f"FROM read_parquet({paths_sql([source])})"
        duckdb.execute(
            f"COPY ({taken} LIMIT {limit // _BYTES_PER_ROW}) TO {literal(target)} (FORMAT parquet)"
        )
        self._note(target, str(source))
        return target

    def _copy(self, stream: Any, name: str, target: Path, limit: int) -> Path:
        """Copy whole lines until the limit."""
        with target.open("wb") as out:
            while out.tell() < limit and (block := stream.read(_BLOCK)):
                out.write(block)
            if more := stream.read(1):
                out.write(more + stream.readline(MAX_LINE_BYTES))
                self.cut.append(name)
        self.names[str(target)] = name
        return target

    def _records(self, source: Path, gzipped: bool, limit: int) -> Path:
        """Copy whole records of an array or a page of JSON, one a line: it may have no other lines."""
        target = self._new("ndjson")
        with file_bytes.reading(source, gzipped) as stream:
            page, places = files.detect_file(source).page, target.with_suffix(".places")
            json_records.split_records(stream, page, target, places, max(MIN_BYTES, limit // _JSON_SHARE))
        self._note(target, str(source))
        return target

    def _note(self, target: Path, name: str) -> None:
        self.names[str(target)] = name
        self.cut.append(name)

    def _new(self, suffix: str) -> Path:
        return self.directory / f"part{len(self.names)}.{suffix}"


def _is_one_json_text(source: Path, gzipped: bool) -> bool:
    """Whether a file is an array, a page or indented objects of JSON, and not one record a line."""
    with file_bytes.reading(source, gzipped) as stream:
        start = stream.read(_BLOCK)
    if decode.guess_encoding(start[: start.rfind(b"\n") + 1] or start[:1000]) != "utf-8":
        return False
    file = files.detect_file(source)
    return file.kind == "ndjson" and not file.empty and not file.by_line
