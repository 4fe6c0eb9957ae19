"""Detect the format of a log, and how each of its files holds the fields."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from coclick.errors import UserError
from coclick.graph.columns import FIELDS, REQUIRED, canonical_name, missing_column_error
from coclick.logs.files import LogFile, find_fields, with_header
from coclick.logs.format import PLAIN, Format, Segment, Source, known_formats, load_format
from coclick.logs.record_sql import RecordFields, format_fields, missing_source_error, plain_fields

FileFields = tuple[LogFile, RecordFields]
GivenColumns = Sequence[str] | Mapping[str, str] | None  # names by place, or the column of each field
AUTO = "auto"


def detect_format(
    files: Sequence[LogFile], like: str | Path, columns: GivenColumns, header: str = AUTO
) -> tuple[Format, list[FileFields], set[str]]:
    """Return the format, the non-empty files with how they hold the fields, and the fields of the log."""
    given, files = files, [file for file in files if not file.empty]
    if not files:
        raise UserError("the log is empty", where=", ".join(str(file.path) for file in given[:3]))
    format = recognise(files) if like == AUTO else None if like in PLAIN else load_format(like)
    by_name = columns if isinstance(columns, Mapping) else {}
    if format is None:
        by_place = None if isinstance(columns, Mapping) else columns
        found = [find_fields(file, by_place, header, by_name) for file in files]
        if all(fields is not None for _, fields in found):
            return _plain(str(like), [(file, fields or {}) for file, fields in found])
        format = _nested(str(like), files[0])  # a given column is a path into NDJSON
    elif columns and not by_name:
        raise UserError(
            f"the columns of the format {format.name!r} have names already",
            hint="name the column of a field: --columns doc=NAME",
        )
    format = format.with_columns(by_name)
    files = [_with_names(format, file, header) for file in files]
    resolved = [(file, format_fields(format, file)) for file in files]
    fields = {name for _, found in resolved for name in found.columns}
    for name in (*REQUIRED[format.rows], *by_name):
        if name not in fields:
            raise missing_source_error(format, name, files[0])
    if "user" not in fields and "session" in fields:
        fields.add("user")
    for _, record in resolved:
        record.complete(fields)
    return format, resolved, fields


def named_encoding(like: str | Path) -> str | None:
    """Return the encoding of a format that is given by name."""
    return None if like in (AUTO, *PLAIN) else load_format(like).encoding


def recognise(files: Sequence[LogFile]) -> Format | None:
    """Return the known format whose names the files have, the one with most names if there are several."""
    names = [_names(file) for file in files]
    every = frozenset[str]().union(*names)
    matches = []
    for format in known_formats():
        wanted = [{canonical_name(name) for name in one.split("|")} for one in format.recognise]
        any_of = set[str]().union(*wanted)
        if wanted and all(one & every for one in wanted) and all(any_of & these for these in names):
            matches.append(format)
    return max(matches, key=lambda format: len(format.recognise), default=None)


def _names(file: LogFile) -> frozenset[str]:
    """The names of columns, or the paths of records, as names are compared."""
    return frozenset(map(canonical_name, file.paths or file.columns))


def _plain(
    like: str, found: list[tuple[LogFile, dict[str, int]]]
) -> tuple[Format, list[FileFields], set[str]]:
    """The format of a log whose columns have known names."""
    if like == AUTO:
        first = found[0][1]
        like = "clicks" if "clicks" in first and "action" not in first else "events"
    for file, columns in found:
        missing = [name for name in REQUIRED[like] if name not in columns]
        if missing:
            raise missing_column_error(missing[0], like, file.columns, str(file.path))
    fields = [{name for name in columns if name in FIELDS[like]} for _, columns in found]
    for (file, _), these in zip(found, fields, strict=True):
        if these != fields[0]:
            more, less = (found[0][0], file) if fields[0] - these else (file, found[0][0])
            raise UserError(
                f"the files have different columns: only one has {', '.join(sorted(these ^ fields[0]))}",
                where=f"{more.path} has it, {less.path} does not",
                hint="build from files with the same columns, or name the columns to use with --columns",
            )
    wanted = [{name: column for name, column in columns.items() if name in fields[0]} for _, columns in found]
    resolved = [(file, plain_fields(file, these)) for (file, _), these in zip(found, wanted, strict=True)]
    return Format(like, rows=like), resolved, fields[0]


def _nested(like: str, file: LogFile) -> Format:
    """The format of plain NDJSON, so that paths can be given for its fields."""
    _, fields = find_fields(file, None, AUTO, {})
    sources = {name: (Source((Segment(file.columns[index]),)),) for name, index in (fields or {}).items()}
    rows = "clicks" if like == "clicks" or (like == AUTO and "clicks" in sources) else "events"
    kept = {name: source for name, source in sources.items() if name in FIELDS[rows]}
    return Format(rows, rows=rows, fields=kept)


def _with_names(format: Format, file: LogFile, header: str) -> LogFile:
    """A text file with its header, or with the format's names if it has none."""
    if file.kind not in ("tsv", "csv"):
        return file
    sources = [*format.shown, *(source for sources in format.fields.values() for source in sources)]
    names = {canonical_name(name) for source in sources for name in source.names}
    cells = {canonical_name(cell) for cell in file.columns}
    if header == "yes" or (header == AUTO and len(names & cells) > 1):
        return with_header(file, True)
    widths = {len(columns): columns for columns in format.columns}
    if columns := widths.get(len(file.columns)):
        return replace(with_header(file, False), columns=columns)
    if format.columns:
        raise UserError(
            f"the file has {len(file.columns)} columns, but a log like {format.name!r} without a header has "
            + " or ".join(str(width) for width in sorted(widths)),
            where=str(file.path),
        )
    return with_header(file, header != "no")
