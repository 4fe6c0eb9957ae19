"""Read DOCS, the file of documents: an id and text fields, one column each."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event
from typing import Any, NamedTuple

from coclick.errors import UserError
from coclick.graph.columns import DOC_COLUMNS, canonical_name, match_columns
from coclick.jit.threads import threads as all_threads
from coclick.logs import files, text_sql
from coclick.logs.duckdb_session import DuckDBSession, literal, parse_memory, paths_sql
from coclick.logs.files import LogFile
from coclick.logs.in_memory import as_files
from coclick.logs.rejects import create_reject_tables
from coclick.logs.typed_fields import Column
from coclick.logs.validation import no_overlap_error

MISSING_ID, DUPLICATE_ID = "doc|is missing", "doc|is a duplicate"
_TEXT_NAMES = {"title", "name", "body", "text", "url", "anchor", "description", "content", "abstract"}
_DEFAULT_FIELDS = ("doc", "title", "body")


def read_documents(db: DuckDBSession, path: Path) -> list[str]:
    """Create the view `document` (name, t0, t1 …) and return the names of the text fields t0, t1 …

    Of several documents with one id the first is used. The others, and rows without an id, go to `reject`.
    """
    file = _detect_docs_file(path)
    names = field_names(file)
    if file.kind == "parquet":
        source, columns = _parquet(file, names)
    else:
        source, columns = _text(db, file, names)
    fields = [name for name in columns if name != "doc"]
    texts = "".join(f", coalesce({columns[name].text()}, '') AS t{i}" for i, name in enumerate(fields))
    db.preserve_order(True)
    db.execute(f"""
        CREATE TABLE document_row AS
        SELECT line, {columns["doc"].text()} AS name {texts},
            coalesce(parse_error, CASE WHEN name IS NULL THEN '{MISSING_ID}' END) AS error
        FROM ({source});
        CREATE TABLE document_error AS
        SELECT line, error FROM document_row WHERE error IS NOT NULL UNION ALL
        SELECT line, '{DUPLICATE_ID}' FROM document_row ANTI JOIN (
            SELECT min(line) AS line FROM document_row WHERE error IS NULL GROUP BY name
        ) USING (line) WHERE error IS NULL;
        INSERT INTO reject
        SELECT {literal(path)}, line, split_part(error, '|', 1), split_part(error, '|', 2), raw
        FROM ({source}) JOIN document_error USING (line);
        CREATE VIEW document AS
        SELECT * EXCLUDE (line, error) FROM document_row ANTI JOIN document_error USING (line)""")
    db.preserve_order(False)
    if not db.fetch_value("SELECT count(*) FROM document"):
        raise UserError(
            "the file of documents has no valid row", where=str(path), hint="each row needs an id"
        )
    return fields


class DocsFile(NamedTuple):
    """The documents of a file (id → field → text) in file order, and the rejected rows."""

    docs: dict[str, dict[str, str]]
    rejected: list[tuple[int, str]]  # line, reason


def read_docs(source: Any) -> DocsFile:
    """Read documents from a file or a table as `build` does. Of several with one id the first is used."""
    with (
        as_files([], source) as (_, path),
        TemporaryDirectory() as directory,
        DuckDBSession(Path(directory) / "duckdb", parse_memory("1GB"), all_threads()) as db,
    ):
        create_reject_tables(db)
        assert path is not None
        fields = read_documents(db, Path(path))
        rejected = db.fetchall("SELECT line, trim(field || ' ' || reason) FROM reject ORDER BY line")
        texts = "".join(f", t{i}" for i in range(len(fields)))
        rows = db.fetchall(
            f"SELECT name {texts} FROM document_row ANTI JOIN document_error USING (line) ORDER BY line"
        )
    return DocsFile({name: dict(zip(fields, texts, strict=True)) for name, *texts in rows}, rejected)


def check_overlap(db: DuckDBSession, path: Path) -> None:
    """Raise if no document of the log is in DOCS."""
    if not db.fetch_value("SELECT count(*) FROM log_doc"):
        return
    if db.fetch_value("SELECT count(*) FROM log_doc SEMI JOIN document USING (name)"):
        return
    log, documents = (
        [row[0] for row in db.fetchall(f"SELECT name FROM {table} ORDER BY name LIMIT 3")]
        for table in ("log_doc", "document")
    )
    raise no_overlap_error(log, documents, str(path))


def assign_text_ids(db: DuckDBSession, fields: list[str]) -> None:
    """Create `doc_text` (id, t0, t1 …), sorted by id."""
    texts = "".join(f", t{i}" for i in range(len(fields)))
    db.execute(f"CREATE TABLE doc_text AS SELECT id {texts} FROM document JOIN doc USING (name) ORDER BY id")


def _detect_docs_file(path: Path) -> LogFile:
    if not path.is_file():
        raise files.missing_file_error(path)
    file = files.detect_file(path)
    if file.empty:
        raise UserError("the file of documents is empty", where=str(path))
    if file.kind not in ("tsv", "csv"):
        return file
    return files.with_header(file, is_header(file.columns))


def is_header(cells: Sequence[str]) -> bool:
    """Return whether the first line names columns: an id first, or an id and a text field anywhere."""
    cells = [canonical_name(cell) for cell in cells]
    known = any(cell in DOC_COLUMNS["doc"] for cell in cells) and any(cell in _TEXT_NAMES for cell in cells)
    return known or cells[0] in DOC_COLUMNS["doc"]


def default_fields(columns: int) -> list[str]:
    """Return the field names of a text file without a header."""
    return [*_DEFAULT_FIELDS, *(f"field{number}" for number in range(4, columns + 1))][:columns]


def field_names(file: LogFile) -> dict[int, str]:
    """Map column index to field name: `doc` for the id, else a unique name that is valid as an array name."""
    if file.kind in ("tsv", "csv") and not file.header:
        return dict(enumerate(default_fields(len(file.columns))))
    found = files.check_flat(file, match_columns(file.columns, DOC_COLUMNS))
    taken = {"doc": found.pop("doc", 0), **found}
    for index, column in enumerate(file.columns):
        is_text = not file.types or file.types[index] in ("VARCHAR", "BLOB")
        if index not in taken.values() and is_text:
            name = re.sub(r"[^a-z0-9]+", "_", column.lower()).strip("_") or f"field{index + 1}"
            taken[name if name not in taken else f"{name}_{index + 1}"] = index
    return {index: name for name, index in taken.items()}


def _parquet(file: LogFile, names: dict[int, str]) -> tuple[str, dict[str, Column]]:
    quoted = {index: '"' + file.columns[index].replace('"', '""') + '"' for index in names}
    chosen = ", ".join(f"{quoted[index]} AS c{index}" for index in names)
    raw = ", ".join(f"{literal(file.columns[index])}, {quoted[index]}" for index in names)
    source = f"""
        SELECT {chosen}, NULL::VARCHAR AS parse_error, file_row_number + 1 AS line,
            json_object({raw})::VARCHAR AS raw
        FROM read_parquet({paths_sql([file.path])}, file_row_number = true)"""
    return source, {name: Column(f"c{index}", file.types[index]) for index, name in names.items()}


def _text(db: DuckDBSession, file: LogFile, names: dict[int, str]) -> tuple[str, dict[str, Column]]:
    """Rows may have fewer cells than the first one; missing cells are empty."""
    text_sql.save_too_long(db, file, Event())
    db.fetch_value(f"SELECT count(raw) FROM ({text_sql.lines([file])})")  # scan once to find invalid UTF-8
    text_sql.save_unreadable(db)
    if file.kind == "csv" and text_sql.has_broken_quotes(db, file):
        db.execute("DELETE FROM unreadable")  # `_records` checks whole records instead
        source = _records(db, file)
    else:
        db.execute("INSERT INTO reject SELECT file, line, '', reason, raw FROM unreadable")
        keys = [text_sql.json_pointer(key) for key in file.columns]
        source = f"""
            SELECT * REPLACE
                (CASE WHEN cell IS NULL OR len(cell) > {len(file.columns)} THEN parse_error END
                    AS parse_error)
            FROM ({text_sql.cells(file, text_sql.numbered_lines(file), keys)})"""
    columns = {name: Column(f"cell[{index + 1}]") for index, name in names.items()}
    columns["doc"] = Column(f"trim({columns['doc'].sql})")
    return source, columns


def _records(db: DuckDBSession, file: LogFile) -> str:
    """Relation (line, cell, parse_error, raw) of a CSV file with records of several lines."""
    staged = replace(file, path=db.temp_path("ndjson"), gzipped=False, header=False)
    with staged.path.open("wb") as out:
        out.writelines(_records_as_json(file))
    return f"""
        SELECT *, array_to_string(cell, {literal(file.delimiter)}) AS raw
        FROM (SELECT json_extract_string(raw, '$[0]')::BIGINT AS line,
                json_extract_string(raw, '$[1]') AS parse_error, json_extract_string(raw, '$[2][*]') AS cell
            FROM ({text_sql.lines([staged])}))"""


def _records_as_json(file: LogFile) -> Iterator[bytes]:
    """Yield records as JSON lines: [first line, error or null, [cells …]]."""
    with files.open_bytes(file.path, file.gzipped) as stream, files.csv_field_limit(text_sql.MAX_LINE_BYTES):
        text = io.TextIOWrapper(stream, encoding="utf-8-sig", errors="surrogateescape", newline="")
        records = csv.reader(text, delimiter=file.delimiter)
        line = 1
        while True:
            try:
                record = next(records)
            except StopIteration:
                return
            except csv.Error as error:
                if records.line_num > line:  # probably an unclosed quote: do not trust the rest
                    what, where = f"the CSV record cannot be parsed: {error}", f"{file.path}, line {line}"
                    raise UserError(what, where=where, hint="check the quotes of this record") from None
                yield _rejected_record(line, text_sql.TOO_LONG)
            else:
                if record and (line > 1 or not file.header):
                    yield _checked_record(file, line, record)
            line = records.line_num + 1


def _checked_record(file: LogFile, line: int, record: list[str]) -> bytes:
    """The JSON line of a record or its error. Invalid UTF-8 was decoded to surrogates, so encoding fails."""
    try:
        staged = _json_line([line, None, record])
    except UnicodeEncodeError:
        return _rejected_record(line, text_sql.NOT_UTF8, file.delimiter.join(record))
    if len(record) > len(file.columns):
        return _rejected_record(line, text_sql.WRONG_COLUMNS, file.delimiter.join(record))
    if len(staged) > text_sql.MAX_LINE_BYTES:
        return _rejected_record(line, text_sql.TOO_LONG, file.delimiter.join(record))
    return staged


def _rejected_record(line: int, reason: str, text: str = "") -> bytes:
    return _json_line([line, f"|{reason}", [text[: files.MAX_RAW_CHARS].encode(errors="replace").decode()]])


def _json_line(values: list[Any]) -> bytes:
    return json.dumps(values, ensure_ascii=False).encode() + b"\n"
