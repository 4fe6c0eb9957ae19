"""Text files in SQL: every file is read line by line, and a line is cut into cells by an expression.

DuckDB's own CSV parser gives up on a whole file for one mixed line ending, drops rows silently in its
lenient mode and loses line numbers. Lines are as fast, and they keep the raw text and its place.
"""

from __future__ import annotations

from collections.abc import Sequence
from threading import Event

import numpy as np

from coclick.logs.duckdb_session import DuckDBSession, literal, paths_sql
from coclick.logs.files import LogFile, find_long_lines

_NO_DELIMITER = "chr(1) || chr(2) || chr(3) || chr(4)"
MAX_LINE_BYTES = 8_000_000
NOT_UTF8, TOO_LONG, WRONG_COLUMNS = "not valid UTF-8", "the line is too long", "wrong number of columns"
SEVERAL_VALUES = "a field is a list or an object"
_BUFFER = 32_000_000


def lines(files: Sequence[LogFile]) -> str:
    """Relation (file, raw) of the lines of files of one shape. What is not UTF-8 goes to `unreadable`."""
    return f"SELECT filename AS file, line AS raw FROM {_read_lines(files, 'store_rejects = true')}"


def numbered_lines(file: LogFile) -> str:
    """Relation (file, line, raw) for one file; needs `keep_order`, and `save_unreadable` to have run.

    Lines that could not be read are missing from the scan: those in front of a line are added to its number.
    """
    path, skipped = literal(file.path), int(file.header)
    return f"""
        SELECT {path} AS file, n + coalesce(missing, 0) AS line, raw
        FROM (
            SELECT row_number() OVER () + {skipped} AS n, line AS raw
            FROM {_read_lines([file], "ignore_errors = true")}
        ) ASOF LEFT JOIN (
            SELECT line - place + 1 AS from_n, max(place) AS missing
            FROM (SELECT line, row_number() OVER (ORDER BY line) AS place FROM unreadable WHERE file = {path})
            GROUP BY from_n
        ) ON n >= from_n"""


def _read_lines(files: Sequence[LogFile], on_error: str) -> str:
    """The lines but those that are too long, some of which DuckDB lets through: see `save_too_long`."""
    paths = paths_sql([file.path for file in files])
    compression = "gzip" if files[0].gzipped else "none"
    return f"""(SELECT filename, line FROM read_csv({paths}, columns = {{'line': 'VARCHAR'}},
            auto_detect = false, delim = {_NO_DELIMITER}, quote = '', escape = '', header = false,
            skip = {int(files[0].header)}, strict_mode = false, max_line_size = {MAX_LINE_BYTES},
            buffer_size = {_BUFFER}, compression = '{compression}', {on_error})
        WHERE line IS NULL OR strlen(line) < {MAX_LINE_BYTES})"""


def create_unreadable(db: DuckDBSession) -> None:
    """The table of lines that are no text."""
    db.execute("CREATE TABLE unreadable (file VARCHAR, line BIGINT, reason VARCHAR, raw VARCHAR)")


def save_unreadable(db: DuckDBSession) -> None:
    """Keep what the scans since the last call could not read, but for lines that are too long."""
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
    """Keep a file's lines that are too long: DuckDB tells of some only."""
    for line, raw in find_long_lines(file, MAX_LINE_BYTES, stop):
        row = {"file": str(file.path), "line": line, "reason": TOO_LONG, "raw": raw}
        db.insert("unreadable", {name: np.array([value]) for name, value in row.items()})


def cells(file: LogFile, lines: str, keys: Sequence[str] = ()) -> str:
    """Relation that adds to lines a list `cell` (null where the line cannot be cut) and `parse_error`.

    Cells are the columns in order; of NDJSON the values at `keys`, JSON paths.
    """
    lines = f"SELECT * FROM ({lines}) WHERE raw IS NOT NULL"
    if file.kind == "ndjson":
        paths = ", ".join(literal(key) for key in keys)
        cut = f"CASE WHEN json_valid(raw) THEN json_extract_string(raw, [{paths}]) END"
        parse_error = "CASE WHEN cell IS NULL THEN '|not valid JSON' END"
    else:
        cut = f"string_split(raw, {literal(file.delimiter)})"
        if file.kind == "csv":
            lines, cut = (
                _split_quoted(lines, file.delimiter),
                f"CASE WHEN part IS NULL THEN {cut} {_UNQUOTED} END",
            )
        parse_error = f"""CASE WHEN cell IS NULL THEN '|broken quotes'
            WHEN len(cell) <> {len(file.columns)} THEN '|{WRONG_COLUMNS}' END"""
    return f"SELECT *, {parse_error} AS parse_error FROM (SELECT *, {cut} AS cell FROM ({lines}))"


def reject_nested(cells: str, keys: Sequence[str]) -> str:
    """The cells of NDJSON again: a list or an object is no value.

    Types are looked up only where a value looks like one of these: that takes as long as the cutting.
    """
    types = f"json_type(raw, [{', '.join(literal(key) for key in keys)}])"
    return f"""
        SELECT * REPLACE (
            CASE WHEN parse_error IS NULL AND len(list_filter(cell, lambda value: value[1] IN ('[', '{{'))) > 0
            THEN CASE WHEN list_has_any({types}, ['ARRAY', 'OBJECT']) THEN '|{SEVERAL_VALUES}' END
            ELSE parse_error END AS parse_error)
        FROM ({cells})"""


def _split_quoted(lines: str, delimiter: str) -> str:
    """Adds to lines with quotes their cells, still quoted, as `part` (RFC 4180, one record a line)."""
    found = literal(f'("(?:[^"]|"")*"|[^"{delimiter}][^{delimiter}]*|)[{delimiter}]')
    return f"""
        SELECT *, CASE WHEN contains(raw, '"')
            THEN regexp_extract_all(raw || {literal(delimiter)}, {found}, 1) END AS part
        FROM ({lines})"""


# The parts make up the whole line, or its quotes make no sense.
_UNQUOTED = """
    WHEN list_sum(list_transform(part, lambda text: strlen(text) + 1)) = strlen(raw) + 1
    THEN list_transform(part, lambda text:
        CASE WHEN text[1] = '"' THEN replace(text[2:-2], '""', '"') ELSE text END)"""


def has_broken_quotes(db: DuckDBSession, file: LogFile) -> bool:
    """Whether some line of a CSV file cannot be cut: a record of several lines, or a stray quote.

    Needs `save_unreadable` to have run: what is no text may be part of a record, too.
    """
    read = f"SELECT line AS raw FROM {_read_lines([file], 'ignore_errors = true')}"
    return bool(
        db.fetch_value(f"""
            SELECT (SELECT count(*) FROM ({cells(file, read)}) WHERE cell IS NULL) +
                (SELECT count(*) FROM unreadable WHERE file = {literal(file.path)} AND contains(raw, '"'))""")
    )


def json_pointer(key: str) -> str:
    """The JSON pointer of a top-level key: in it `*` is a letter, too."""
    return "/" + key.replace("~", "~0").replace("/", "~1")
