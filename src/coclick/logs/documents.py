"""DOCS: the documents' texts, one field a column."""

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
from coclick.jit.threads import threads as all_threads
from coclick.logs import text_sql as scans
from coclick.logs.duckdb_session import Workspace, literal, parse_memory, paths_sql
from coclick.logs.files import (
    LONGEST_SHOWN,
    LogFile,
    cells_up_to,
    flat,
    look,
    no_file,
    open_bytes,
    with_header,
)
from coclick.logs.rejects import create_reject
from coclick.logs.schema import DOC_COLUMNS, plain, resolve
from coclick.logs.typed_fields import Column
from coclick.logs.validation import no_overlap

MISSING, DUPLICATE = "doc|is missing", "doc|is a duplicate"
_TEXT_NAMES = {"title", "name", "body", "text", "url", "anchor", "description", "content", "abstract"}
_HEADERLESS = ("doc", "title", "body")


def read_documents(work: Workspace, path: Path) -> list[str]:
    """Make the view `document` (name, t0, t1 … for the texts) and return the fields that these are.

    Of several documents with one id the first counts; the others, and rows without an id, go to `reject`.
    """
    file = _look(path)
    names = field_names(file)
    if file.kind == "parquet":
        source, columns = _parquet(file, names)
    else:
        source, columns = _text(work, file, names)
    fields = [name for name in columns if name != "doc"]
    texts = "".join(f", coalesce({columns[name].text()}, '') AS t{i}" for i, name in enumerate(fields))
    work.keep_order(True)
    work.run(f"""
        CREATE TABLE document_row AS
        SELECT line, {columns["doc"].text()} AS name {texts},
            CASE WHEN problem IS NOT NULL THEN problem WHEN name IS NULL THEN '{MISSING}' END AS bad
        FROM ({source});
        CREATE TABLE wrong AS
        SELECT line, bad FROM document_row WHERE bad IS NOT NULL UNION ALL
        SELECT line, '{DUPLICATE}' FROM document_row ANTI JOIN (
            SELECT min(line) AS line FROM document_row WHERE bad IS NULL GROUP BY name
        ) USING (line) WHERE bad IS NULL;
        INSERT INTO reject
        SELECT {literal(path)}, line, split_part(wrong.bad, '|', 1), split_part(wrong.bad, '|', 2), raw
        FROM ({source}) JOIN wrong USING (line);
        CREATE VIEW document AS
        SELECT * EXCLUDE (line, bad) FROM document_row ANTI JOIN wrong USING (line)""")
    work.keep_order(False)
    if not work.value("SELECT count(*) FROM document"):
        raise UserError("there is no document in the file", where=str(path))
    return fields


class Read(NamedTuple):
    """The documents of a file, field by field, in its order; and the rows that are none."""

    docs: dict[str, dict[str, str]]
    wrong: list[tuple[int, str]]  # line, what is wrong with it


def read_docs(path: str | Path) -> Read:
    """Read documents as `build` does: of several with one id the first counts."""
    with (
        TemporaryDirectory() as place,
        Workspace(Path(place) / "work", parse_memory("1GB"), all_threads()) as work,
    ):
        create_reject(work)
        fields = read_documents(work, Path(path))
        wrong = work.rows("SELECT line, trim(field || ' ' || reason) FROM reject ORDER BY line")
        texts = "".join(f", t{i}" for i in range(len(fields)))
        rows = work.rows(f"SELECT name {texts} FROM document_row ANTI JOIN wrong USING (line) ORDER BY line")
    return Read({name: dict(zip(fields, texts, strict=True)) for name, *texts in rows}, wrong)


def check_overlap(work: Workspace, path: Path) -> None:
    """Raise for a log of which no document is in DOCS."""
    if not work.value("SELECT count(*) FROM log_doc"):
        return
    if work.value("SELECT count(*) FROM log_doc SEMI JOIN document USING (name)"):
        return
    log, documents = (
        [row[0] for row in work.rows(f"SELECT name FROM {table} ORDER BY name LIMIT 3")]
        for table in ("log_doc", "document")
    )
    raise no_overlap(log, documents, str(path))


def number_texts(work: Workspace, fields: list[str]) -> None:
    """Table `doc_text` (id, t0, t1 …) in the order of the documents' numbers."""
    texts = "".join(f", t{i}" for i in range(len(fields)))
    work.run(f"CREATE TABLE doc_text AS SELECT id {texts} FROM document JOIN doc USING (name) ORDER BY id")


def _look(path: Path) -> LogFile:
    if not path.is_file():
        raise no_file(path)
    file = look(path)
    if file.empty:
        raise UserError("the file of documents is empty", where=str(path))
    if file.kind not in ("tsv", "csv"):
        return file
    return with_header(file, is_header(file.columns))


def is_header(cells: Sequence[str]) -> bool:
    """Whether the first line of a text file names its columns: an id first, or an id and some text."""
    cells = [plain(cell) for cell in cells]
    known = any(cell in DOC_COLUMNS["doc"] for cell in cells) and any(cell in _TEXT_NAMES for cell in cells)
    return known or cells[0] in DOC_COLUMNS["doc"]


def headerless(columns: int) -> list[str]:
    """The fields of a text file without a header."""
    return [*_HEADERLESS, *(f"field{number}" for number in range(4, columns + 1))][:columns]


def field_names(file: LogFile) -> dict[int, str]:
    """Column → field, `doc` being the id; names fit for an array's name, each used once."""
    if file.kind in ("tsv", "csv") and not file.header:
        return dict(enumerate(headerless(len(file.columns))))
    found = flat(file, resolve(file.columns, DOC_COLUMNS))
    taken = {"doc": found.pop("doc", 0), **found}
    for index, column in enumerate(file.columns):
        text = not file.types or file.types[index] in ("VARCHAR", "BLOB")
        if index not in taken.values() and text:
            name = re.sub(r"[^a-z0-9]+", "_", column.lower()).strip("_") or f"field{index + 1}"
            taken[name if name not in taken else f"{name}_{index + 1}"] = index
    return {index: name for name, index in taken.items()}


def _parquet(file: LogFile, names: dict[int, str]) -> tuple[str, dict[str, Column]]:
    quoted = {index: '"' + file.columns[index].replace('"', '""') + '"' for index in names}
    chosen = ", ".join(f"{quoted[index]} AS c{index}" for index in names)
    raw = ", ".join(f"{literal(file.columns[index])}, {quoted[index]}" for index in names)
    source = f"""
        SELECT {chosen}, NULL::VARCHAR AS problem, file_row_number + 1 AS line,
            json_object({raw})::VARCHAR AS raw
        FROM read_parquet({paths_sql([file.path])}, file_row_number = true)"""
    return source, {name: Column(f"c{index}", file.types[index]) for index, name in names.items()}


def _text(work: Workspace, file: LogFile, names: dict[int, str]) -> tuple[str, dict[str, Column]]:
    """Rows may be shorter than the first one: what is missing is empty."""
    scans.save_too_long(work, file, Event())
    work.value(f"SELECT count(raw) FROM ({scans.lines([file])})")  # finds the lines that are no text
    scans.save_unreadable(work)
    if file.kind == "csv" and scans.quotes_broken(work, file):
        work.run("DELETE FROM unreadable")  # they are parts of records, which are judged as wholes
        source = _records(work, file)
    else:
        work.run("INSERT INTO reject SELECT file, line, '', reason, raw FROM unreadable")
        keys = [scans.json_path(key) for key in file.columns]
        source = f"""
            SELECT * REPLACE
                (CASE WHEN cell IS NULL OR len(cell) > {len(file.columns)} THEN problem END AS problem)
            FROM ({scans.cells(file, scans.numbered_lines(file), keys)})"""
    columns = {name: Column(f"cell[{index + 1}]") for index, name in names.items()}
    columns["doc"] = Column(f"trim({columns['doc'].sql})")
    return source, columns


def _records(work: Workspace, file: LogFile) -> str:
    """Relation (line, cell, problem, raw) of a CSV file whose records run over several lines."""
    staged = replace(file, path=work.file("ndjson"), gzipped=False, header=False)
    with staged.path.open("wb") as out:
        out.writelines(_one_line_a_record(file))
    return f"""
        SELECT *, array_to_string(cell, {literal(file.delimiter)}) AS raw
        FROM (SELECT json_extract_string(raw, '$[0]')::BIGINT AS line,
                json_extract_string(raw, '$[1]') AS problem, json_extract_string(raw, '$[2][*]') AS cell
            FROM ({scans.lines([staged])}))"""


def _one_line_a_record(file: LogFile) -> Iterator[bytes]:
    """Records as JSON: [the line on which it begins, what is wrong with it or null, [cells …]]."""
    with open_bytes(file.path, file.gzipped) as stream, cells_up_to(scans.LONGEST_LINE):
        text = io.TextIOWrapper(stream, encoding="utf-8-sig", errors="surrogateescape", newline="")
        records = csv.reader(text, delimiter=file.delimiter)
        line = 1
        while True:
            try:
                record = next(records)
            except StopIteration:
                return
            except csv.Error as error:
                if records.line_num > line:  # a quote that is never closed? the rest is not to be trusted
                    where = f"{file.path}, line {line}"
                    raise UserError(f"the CSV cannot be read: {error}", where=where) from None
                yield _wrong(line, scans.TOO_LONG)
            else:
                if record and (line > 1 or not file.header):
                    yield _judged(file, line, record)
            line = records.line_num + 1


def _judged(file: LogFile, line: int, record: list[str]) -> bytes:
    """A record, or what is wrong with it. Bytes that are not UTF-8 stand in it as surrogates."""
    try:
        staged = _json_line([line, None, record])
    except UnicodeEncodeError:
        return _wrong(line, scans.NOT_UTF8, file.delimiter.join(record))
    if len(record) > len(file.columns):
        return _wrong(line, scans.WRONG_COLUMNS, file.delimiter.join(record))
    if len(staged) > scans.LONGEST_LINE:
        return _wrong(line, scans.TOO_LONG, file.delimiter.join(record))
    return staged


def _wrong(line: int, reason: str, text: str = "") -> bytes:
    return _json_line([line, f"|{reason}", [text[:LONGEST_SHOWN].encode(errors="replace").decode()]])


def _json_line(values: list[Any]) -> bytes:
    return json.dumps(values, ensure_ascii=False).encode() + b"\n"
