"""SQL that reads text files (TSV, CSV, NDJSON) line by line and splits lines into cells.

DuckDB's own CSV parser fails on a whole file for one mixed line ending, drops rows silently in its lenient
mode, and loses line numbers. Reading lines is as fast, and keeps the raw text and the line number.
"""

from __future__ import annotations

from collections.abc import Sequence
from threading import Event

import numpy as np

from coclick.logs.duckdb_session import DuckDBSession, literal, paths_sql
from coclick.logs.file_bytes import find_long_lines
from coclick.logs.files import LogFile

_NO_DELIMITER = "chr(10) || chr(1)"  # never found: the line ends before it
MAX_LINE_BYTES = 8_000_000
NOT_UTF8, TOO_LONG, WRONG_COLUMNS = "not valid UTF-8", "the line is too long", "wrong number of columns"
SEVERAL_VALUES = "a field is a list or an object"
_BUFFER = 32_000_000


def lines(files: Sequence[LogFile]) -> str:
    """Return a relation (file, raw) of the lines of files of one shape, without invalid UTF-8."""
    return f"SELECT filename AS file, line AS raw FROM {_read_lines(files, 'store_rejects = true')}"


def numbered_lines(file: LogFile) -> str:
    """Return a relation (file, line, raw) of one file. Needs `preserve_order`, and `save_unreadable` before.

    The scan skips unreadable lines, so the number of those before a line is added to its row number.
    """
    path, skipped = literal(file.path), int(file.header)
    return f"""
        SELECT {path} AS file, n + coalesce(missing, 0) AS line, raw
        FROM (
            SELECT row_number() OVER () + {skipped} AS n, line AS raw
            FROM {_read_lines([file], "ignore_errors = true")}
        ) ASOF LEFT JOIN (
            SELECT line - rank + 1 AS from_n, max(rank) AS missing
            FROM (SELECT line, row_number() OVER (ORDER BY line) AS rank FROM unreadable WHERE file = {path})
            GROUP BY from_n
        ) ON n >= from_n"""


def _read_lines(files: Sequence[LogFile], on_error: str) -> str:
    """All lines except those that are too long, some of which DuckDB lets through: see `save_too_long`."""
    paths = paths_sql([file.path for file in files])
    compression = "gzip" if files[0].gzipped else "none"
    return f"""(SELECT filename, {_record(files[0], "line")} AS line
        FROM read_csv({paths}, columns = {{'line': 'VARCHAR'}},
            auto_detect = false, delim = {_NO_DELIMITER}, quote = '', escape = '', header = false,
            skip = {int(files[0].header)}, strict_mode = false, max_line_size = {MAX_LINE_BYTES},
            buffer_size = {_BUFFER}, compression = '{compression}', {on_error})
        WHERE line IS NULL OR strlen(line) < {MAX_LINE_BYTES})"""


def _record(file: LogFile, line: str) -> str:
    """The record in a line: null for an action line of a bulk export, else what `_source` has, with `_id`."""
    record = line
    if file.wrapped:
        source, key = (f"CAST(json_extract({line}, '$.{name}') AS VARCHAR)" for name in ("_source", "_id"))
        record = f"""CASE WHEN json_valid({line}) AND json_type({line}, '$._source') = 'OBJECT'
            THEN CASE WHEN {key} IS NULL OR {source} = '{{}}' THEN {source}
                ELSE {source}[:-2] || ',"_id":' || {key} || '}}' END
            ELSE {line} END"""
    if file.bulk:
        actions = " OR ".join(f"json_keys({line}) = ['{key}']" for key in ("index", "create"))
        record = f"""CASE WHEN regexp_matches({line}, '^\\s*\\{{\\s*"(index|create)"')
            AND json_valid({line}) AND ({actions}) THEN NULL ELSE {record} END"""
    return record


def create_unreadable(db: DuckDBSession) -> None:
    """Create the table `unreadable` of lines that are not valid UTF-8 or too long."""
    db.execute("CREATE TABLE unreadable (file VARCHAR, line BIGINT, reason VARCHAR, raw VARCHAR)")


def save_unreadable(db: DuckDBSession) -> None:
    """Move the lines that DuckDB rejected since the last call to `unreadable`, except long lines."""
    if not db.fetch_value("SELECT count(*) FROM duckdb_tables() WHERE table_name = 'reject_errors'"):
        return
    db.execute(f"""
        INSERT INTO unreadable
        SELECT file_path, line,
            CASE first(error_type::VARCHAR) WHEN 'INVALID ENCODING' THEN '{NOT_UTF8}' ELSE 'not readable' END,
            first(trim(csv_line, chr(10) || chr(13)))
        FROM reject_errors JOIN reject_scans USING (scan_id, file_id)
        GROUP BY file_path, line HAVING NOT bool_or(error_type::VARCHAR = 'LINE SIZE OVER MAXIMUM');
        DROP TABLE reject_errors; DROP TABLE reject_scans""")


def save_too_long(db: DuckDBSession, file: LogFile, stop: Event) -> None:
    """Add the lines of a file that are too long to `unreadable`. DuckDB reports only some of them."""
    for line, raw in find_long_lines(file.path, file.gzipped, MAX_LINE_BYTES, stop, file.name):
        if file.header and line == 1:
            continue
        row = {"file": str(file.path), "line": line, "reason": TOO_LONG, "raw": raw}
        db.insert("unreadable", {name: np.array([value]) for name, value in row.items()})


def cells(file: LogFile, lines: str, keys: Sequence[str] = ()) -> str:
    """Return a relation that adds to lines a list `cell` (null if it cannot be split) and `parse_error`.

    Cells are the columns in order, or for NDJSON the values at the JSON paths `keys`.
    """
    lines = f"SELECT * FROM ({lines}) WHERE raw IS NOT NULL"
    if file.kind == "ndjson":
        paths = ", ".join(literal(key) for key in keys)
        # Parses once. json_valid first would parse twice; TRY costs only where a line is not valid.
        split = f"TRY(json_extract_string(raw, [{paths}]))"
        parse_error = "CASE WHEN cell IS NULL THEN '|not valid JSON' END"
    else:
        split = f"string_split(raw, {literal(file.delimiter)})"
        if file.kind == "csv":
            lines = _split_quoted(lines, file.delimiter)
            split = f"CASE WHEN part IS NULL THEN {split} {_UNQUOTED} END"
        parse_error = f"""CASE WHEN cell IS NULL THEN '|broken quotes'
            WHEN len(cell) <> {len(file.columns)} THEN '|{WRONG_COLUMNS}' END"""
    return f"SELECT *, {parse_error} AS parse_error FROM (SELECT *, {split} AS cell FROM ({lines}))"


def reject_nested(cells: str, keys: Sequence[str]) -> str:
    """Return the relation `cells` of NDJSON with a `parse_error` for values that are lists or objects.

    Types are looked up only for values that start with [ or {, because it takes as long as the splitting.
    """
    types = f"json_type(raw, [{', '.join(literal(key) for key in keys)}])"
    return f"""
        SELECT * REPLACE (
            CASE WHEN parse_error IS NULL
                AND len(list_filter(cell, lambda value: value[1] IN ('[', '{{'))) > 0
            THEN CASE WHEN list_has_any({types}, ['ARRAY', 'OBJECT']) THEN '|{SEVERAL_VALUES}' END
            ELSE parse_error END AS parse_error)
        FROM ({cells})"""


def _split_quoted(lines: str, delimiter: str) -> str:
    """Add to lines with quotes their cells, still quoted, as `part` (RFC 4180, one record per line)."""
    found = literal(f'("(?:[^"]|"")*"|[^"{delimiter}][^{delimiter}]*|)[{delimiter}]')
    return f"""
        SELECT *, CASE WHEN contains(raw, '"')
            THEN regexp_extract_all(raw || {literal(delimiter)}, {found}, 1) END AS part
        FROM ({lines})"""


# If the parts do not add up to the whole line, its quotes are broken.
_UNQUOTED = """
    WHEN list_sum(list_transform(part, lambda text: strlen(text) + 1)) = strlen(raw) + 1
    THEN list_transform(part, lambda text:
        CASE WHEN text[1] = '"' THEN replace(text[2:-2], '""', '"') ELSE text END)"""


def has_broken_quotes(db: DuckDBSession, file: LogFile) -> bool:
    """Return whether a line of a CSV file cannot be split: a record of several lines, or a stray quote.

    Needs `save_unreadable` before, because an unreadable line may be part of such a record.
    """
    read = f"SELECT line AS raw FROM {_read_lines([file], 'ignore_errors = true')}"
    broken = db.fetch_value(f"""
        SELECT (SELECT count(*) FROM ({cells(file, read)}) WHERE cell IS NULL) +
            (SELECT count(*) FROM unreadable WHERE file = {literal(file.path)} AND contains(raw, '"'))""")
    return bool(broken)


def json_pointer(key: str) -> str:
    """Return the JSON pointer of a top-level key. Unlike in a JSON path, `*` is an ordinary character."""
    return "/" + key.replace("~", "~0").replace("/", "~1")
