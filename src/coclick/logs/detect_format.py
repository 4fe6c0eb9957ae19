"""Detect the format of a log (clicks, events or ubi) and which column of each file holds which field."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from coclick.errors import UserError
from coclick.graph.columns import FIELDS, REQUIRED, missing_column_error
from coclick.logs import ubi
from coclick.logs.files import LogFile, find_fields

FileFields = tuple[LogFile, dict[str, int]]  # a file, and the column index of each field


def detect_format(
    files: Sequence[LogFile], format: str, columns: Sequence[str] | None
) -> tuple[str, list[FileFields], set[str]]:
    """Return the format, the non-empty files with the columns of their fields, and the fields of the log."""
    given, files = files, [file for file in files if not file.empty]
    if not files:
        raise UserError("the log is empty", where=", ".join(str(file.path) for file in given[:3]))
    if format == "ubi" or (format == "auto" and all(file.ubi for file in files)):
        return "ubi", [(_ubi(file, columns), {}) for file in files], set(ubi.COLUMNS)
    found = [find_fields(file, columns) for file in files]
    if format == "auto":
        first = found[0][1]
        format = "clicks" if "clicks" in first and "action" not in first else "events"
    for file, columns_of in found:
        missing = [field for field in REQUIRED[format] if field not in columns_of]
        if missing:
            raise missing_column_error(missing[0], format, file.columns, str(file.path))
    fields = [{field for field in columns_of if field in FIELDS[format]} for _, columns_of in found]
    for (file, _), these in zip(found, fields, strict=True):
        if these != fields[0]:
            more, less = (found[0][0], file) if fields[0] - these else (file, found[0][0])
            raise UserError(
                f"the files have different columns: only one has {', '.join(sorted(these ^ fields[0]))}",
                where=f"{more.path} has it, {less.path} does not",
                hint="build from files with the same columns, or name the columns to use with --columns",
            )
    return format, found, fields[0]


def _ubi(file: LogFile, columns: Sequence[str] | None) -> LogFile:
    if columns:
        raise UserError("--columns cannot be used with a UBI export, whose field names are fixed")
    if file.kind != "ndjson":
        raise UserError("a UBI export must be NDJSON", where=f"{file.path}, which is {file.kind}")
    return replace(file, columns=())
