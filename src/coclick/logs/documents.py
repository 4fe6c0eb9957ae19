"""Read DOCS, the files of documents: an id and text fields, one column each."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from threading import Event
from typing import Any, NamedTuple

from coclick.errors import UserError
from coclick.graph.columns import DOC_COLUMNS, canonical_name, match_columns
from coclick.jit.threads import threads as all_threads
from coclick.logs import file_bytes, files, text_sql
from coclick.logs.duckdb_session import DuckDBSession, literal, parse_memory, paths_sql
from coclick.logs.files import LogFile
from coclick.logs.id_forms import describe_form, other_form
from coclick.logs.intake import Intake
from coclick.logs.rejects import create_reject_tables
from coclick.logs.typed_fields import Column
from coclick.logs.validation import no_overlap_error
from coclick.storage.temporary import temporary_directory

MISSING_ID, DUPLICATE_ID = "doc|is missing", "doc|is a duplicate"
_TEXT_NAMES = {"title", "name", "body", "text", "url", "anchor", "description", "content", "abstract"}
_DEFAULT_FIELDS = ("doc", "title", "body")
_METADATA = {"_index", "_score", "_type"}  # keys of wrapped records that are no texts
MAX_FIELDS = 256
_MAX_NAME = 100  # characters of a field's name, which becomes part of a file's name
_MAX_DEPTH = 3  # of objects in NDJSON
_PART = 1 << 40  # a row's place is its line plus this times the number of its file


class DocsFields(NamedTuple):
    """The text fields of documents, what each column of a file is used as, and what was assumed."""

    names: list[str]
    uses: list[dict[str, Any]]  # for each file its name and columns, each with `name` and `field`
    assumed: list[str]


def read_documents(db: DuckDBSession, given: Sequence[LogFile]) -> DocsFields:
    """Create the view `document` (name, t0, t1 …) and return the text fields t0, t1 …

    Of several documents with one id the first is used. The others, and rows without an id, go to `reject`.
    Files may have different fields; a field that a file lacks is empty.
    """
    given = [_with_columns(file) for file in given]
    parts = [_open(db, file) for file in given]
    fields = list(dict.fromkeys(name for _, columns in parts for name in columns if name != "doc"))
    _check_number(len(fields), given[-1])
    texts = "".join(f", t{i} VARCHAR" for i in range(len(fields)))
    db.preserve_order(True)
    db.execute(f"CREATE TABLE document_row (place BIGINT, name VARCHAR {texts}, error VARCHAR)")
    for part, (source, columns) in enumerate(parts):
        values = "".join(
            f", coalesce({columns[name].text()}, '')" if name in columns else ", ''" for name in fields
        )
        db.execute(f"""
            INSERT INTO document_row
            SELECT {part * _PART} + line, {columns["doc"].text()} AS id {values},
                coalesce(parse_error, CASE WHEN id IS NULL THEN '{MISSING_ID}' END)
            FROM ({source})""")
    db.execute(f"""
        CREATE TABLE first_document AS
        SELECT name, min(place) AS first FROM document_row WHERE error IS NULL GROUP BY name;
        CREATE TABLE document_error AS
        SELECT place, error FROM document_row WHERE error IS NOT NULL UNION ALL
        SELECT place, {_duplicate_reason(given)} FROM document_row JOIN first_document USING (name)
        WHERE error IS NULL AND place <> first;
        CREATE VIEW document AS
        SELECT * EXCLUDE (place, error) FROM document_row ANTI JOIN document_error USING (place)""")
    for part, (source, _) in enumerate(parts):
        db.execute(f"""
            INSERT INTO reject
            SELECT {literal(given[part].path)}, line,
                split_part(error, '|', 1), split_part(error, '|', 2), raw
            FROM (SELECT *, {part * _PART} + line AS place FROM ({source}))
                JOIN document_error USING (place)""")
    db.preserve_order(False)
    if not db.fetch_value("SELECT count(*) FROM document"):
        where = ", ".join(str(file.path) for file in given[:3])
        raise UserError("the file of documents has no valid row", where=where, hint="each row needs an id")
    uses = [
        {
            "file": file.name,
            "columns": [{"name": name, "field": names.get(i, "")} for i, name in enumerate(file.columns)],
        }
        for file in given
        for names in [field_names(file)]
    ]
    return DocsFields(fields, uses, list(dict.fromkeys(file.assumed for file in given if file.assumed)))


def _duplicate_reason(given: Sequence[LogFile]) -> str:
    """SQL for the reason why a document at `place` is not used, if there is one with its id at `first`."""
    cases = "".join(
        f" WHEN {part} THEN {literal(DUPLICATE_ID + ' of one in ' + file.name.replace('|', '_'))}"
        for part, file in enumerate(given)
    )
    return f"""CASE WHEN place // {_PART} = first // {_PART} THEN '{DUPLICATE_ID}'
        ELSE CASE first // {_PART} {cases} END END"""


def duplicates_across_files(db: DuckDBSession, given: Sequence[LogFile]) -> list[dict[str, Any]]:
    """Return documents that occur in two files, at most 20: their id and both places, (path, line)."""
    rows = db.fetchall(f"""
        SELECT name, first, place FROM document_row JOIN first_document USING (name)
        WHERE error IS NULL AND place // {_PART} <> first // {_PART} ORDER BY place LIMIT 20""")
    return [
        {"doc": name, "first": _located(given, first), "again": _located(given, again)}
        for name, first, again in rows
    ]


def _located(given: Sequence[LogFile], place: int) -> tuple[Path, int]:
    return given[place // _PART].path, place % _PART


class DocsFile(NamedTuple):
    """The documents of a file (id → field → text) in file order, and the rejected rows."""

    docs: dict[str, dict[str, str]]
    rejected: list[tuple[int, str]]  # line, reason


def read_docs(source: Any) -> DocsFile:
    """Read documents from files or tables as `build` does. Of several with one id the first is used."""
    with (
        temporary_directory() as directory,
        DuckDBSession(directory / "duckdb", parse_memory("1GB"), all_threads()) as db,
        Intake(db) as intake,
    ):
        create_reject_tables(db)
        fields = read_documents(db, intake.open_docs(source)).names
        intake.restore_places()
        rejected = db.fetchall("SELECT line, trim(field || ' ' || reason) FROM reject ORDER BY file, line")
        texts = "".join(f", t{i}" for i in range(len(fields)))
        rows = db.fetchall(
            f"SELECT name {texts} FROM document_row ANTI JOIN document_error USING (place) ORDER BY place"
        )
    return DocsFile({name: dict(zip(fields, texts, strict=True)) for name, *texts in rows}, rejected)


def check_overlap(db: DuckDBSession, given: Sequence[LogFile]) -> None:
    """Raise if no document of the log is in DOCS."""
    if not db.fetch_value("SELECT count(*) FROM log_doc"):
        return
    if db.fetch_value("SELECT count(*) FROM log_doc SEMI JOIN document USING (name)"):
        return
    log, documents = (
        [row[0] for row in db.fetchall(f"SELECT name FROM {table} ORDER BY name LIMIT 3")]
        for table in ("log_doc", "document")
    )
    reason = describe_form(found) if (found := other_form(db, "log_doc")) else ""
    raise no_overlap_error(log, documents, ", ".join(str(file.path) for file in given[:3]), reason)


def assign_text_ids(db: DuckDBSession, fields: list[str]) -> None:
    """Create `doc_text` (id, t0, t1 …), sorted by id."""
    texts = "".join(f", t{i}" for i in range(len(fields)))
    db.execute(f"CREATE TABLE doc_text AS SELECT id {texts} FROM document JOIN doc USING (name) ORDER BY id")


def _with_columns(file: LogFile) -> LogFile:
    """A file of documents with its columns: whether a table has a header is decided, keys are flat."""
    if file.empty:
        raise UserError("the file of documents is empty", where=str(file.path))
    if file.kind == "ndjson":
        return replace(file, columns=tuple("_".join(path) for path in nested_keys(files.first_records(file))))
    if file.kind == "parquet" or is_header(file.columns):
        return replace(file, header=file.kind != "parquet")
    guessed, line = files.with_guessed_header(file), f"line 1 of {file.name} was read as"
    if guessed.header:
        says = f"{line} the names of its columns: its cells are not like the values below"
        return replace(guessed, assumed=says)
    says = f"{line} a document: if it has the names of the columns, call the first one doc"
    return replace(guessed, assumed=says if guessed.assumed else "")


def _open(db: DuckDBSession, file: LogFile) -> tuple[str, dict[str, Column]]:
    """Return a relation (line, raw, parse_error …) of a file of documents, and the columns of its fields."""
    keys = [text_sql.json_pointer(key) for key in file.columns]
    if file.kind == "ndjson":
        keys = ["".join(map(text_sql.json_pointer, path)) for path in nested_keys(files.first_records(file))]
    names = field_names(file)
    _check_number(len(names) - 1, file)
    return _parquet(file, names) if file.kind == "parquet" else _text(db, file, names, keys)


def _check_number(fields: int, file: LogFile) -> None:
    """Raise for more text fields than a graph can have: each has files of its own."""
    if fields > MAX_FIELDS:
        raise UserError(
            f"the documents have {fields:,} text columns, and a graph has {MAX_FIELDS} at most",
            where=str(file.path),
            hint="leave out the columns that nobody searches, or join them into one",
        )


def nested_keys(records: Iterable[dict[str, Any]]) -> list[tuple[str, ...]]:
    """Return the paths of the texts, numbers and lists in records, objects in objects up to three deep."""
    found: dict[tuple[str, ...], None] = {}

    def walk(value: Any, path: tuple[str, ...]) -> None:
        if isinstance(value, dict) and len(path) < _MAX_DEPTH:
            for key, inner in value.items():
                walk(inner, (*path, key))
        elif path and not (isinstance(value, dict) or path[0] in _METADATA):
            found[path] = None

    for record in records:
        walk(record, ())
    return list(found)


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
        if index not in taken.values() and is_text and column != "_id":
            name = re.sub(r"[^a-z0-9]+", "_", column.lower()).strip("_") or f"field{index + 1}"
            taken[_unique_name(name[:_MAX_NAME].strip("_"), index, taken)] = index
    return {index: name for name, index in taken.items()}


def _unique_name(name: str, index: int, taken: Collection[str]) -> str:
    """Return the name of the field in a column, with the number of the column if the name is taken."""
    while name in taken:
        name = f"{name}_{index + 1}"
    return name


def _parquet(file: LogFile, names: dict[int, str]) -> tuple[str, dict[str, Column]]:
    quoted = {index: '"' + file.columns[index].replace('"', '""') + '"' for index in names}
    chosen = ", ".join(f"{quoted[index]} AS c{index}" for index in names)
    raw = ", ".join(f"{literal(file.columns[index])}, {quoted[index]}" for index in names)
    source = f"""
        SELECT {chosen}, NULL::VARCHAR AS parse_error, file_row_number + 1 AS line,
            json_object({raw})::VARCHAR AS raw
        FROM read_parquet({paths_sql([file.path])}, file_row_number = true)"""
    return source, {name: Column(f"c{index}", file.types[index]) for index, name in names.items()}


def _text(
    db: DuckDBSession, file: LogFile, names: dict[int, str], keys: list[str]
) -> tuple[str, dict[str, Column]]:
    """Rows may have fewer cells than the first one; missing cells are empty."""
    here = f"file = {literal(file.path)}"
    text_sql.save_too_long(db, file, Event())
    db.fetch_value(f"SELECT count(raw) FROM ({text_sql.lines([file])})")  # scan once to find invalid UTF-8
    text_sql.save_unreadable(db)
    if file.kind == "csv" and text_sql.has_broken_quotes(db, file):
        db.execute(f"DELETE FROM unreadable WHERE {here}")  # `_records` checks whole records instead
        source = _records(db, file)
    else:
        db.execute(f"INSERT INTO reject SELECT file, line, '', reason, raw FROM unreadable WHERE {here}")
        cells = text_sql.cells(file, text_sql.numbered_lines(file), keys)
        source = f"""
            SELECT * REPLACE
                (CASE WHEN cell IS NULL OR len(cell) > {len(file.columns)} THEN parse_error END
                    AS parse_error)
            FROM ({_with_joined_lists(cells) if file.kind == "ndjson" else cells})"""
    columns = {name: Column(f"cell[{index + 1}]") for index, name in names.items()}
    columns["doc"] = Column(f"trim({columns['doc'].sql})")
    return source, columns


def _with_joined_lists(cells: str) -> str:
    """The relation `cells` of NDJSON with the texts in lists joined, and without objects."""
    texts = """list_filter(from_json(value, '["VARCHAR"]'), lambda text: text[1] <> '{')"""
    return f"""
        SELECT * REPLACE (list_transform(cell, lambda value: CASE
            WHEN value[1] = '[' AND json_valid(value) THEN array_to_string({texts}, ' ')
            WHEN value[1] = '{{' AND json_valid(value) THEN NULL ELSE value END) AS cell)
        FROM ({cells})"""


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
    with (
        file_bytes.open_bytes(file.path, file.gzipped) as stream,
        files.csv_field_limit(text_sql.MAX_LINE_BYTES),
    ):
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
    return _json_line(
        [line, f"|{reason}", [text[: file_bytes.MAX_RAW_CHARS].encode(errors="replace").decode()]]
    )


def _json_line(values: list[Any]) -> bytes:
    return json.dumps(values, ensure_ascii=False).encode() + b"\n"
