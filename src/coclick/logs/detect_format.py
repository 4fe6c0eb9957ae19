"""What kind of log the files are, and which column holds what."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from coclick.errors import UserError
from coclick.logs.files import LogFile, find_fields
from coclick.logs.schema import FIELDS, REQUIRED

FileFields = tuple[LogFile, dict[str, int]]


def detect_format(
    files: Sequence[LogFile], format: str, columns: Sequence[str] | None
) -> tuple[str, list[FileFields], set[str]]:
    """The format, the files with the places of their fields, and the fields that the log has."""
    given, files = files, [file for file in files if not file.empty]
    if not files:
        raise UserError("the log is empty", where=", ".join(str(file.path) for file in given[:3]))
    if format == "ubi" or (format == "auto" and all(file.ubi for file in files)):
        return "ubi", [(_ubi(file, columns), {}) for file in files], set(FIELDS["events"])
    found = [find_fields(file, columns) for file in files]
    if format == "auto":
        first = found[0][1]
        format = "clicks" if "clicks" in first and "action" not in first else "events"
    for file, places in found:
        missing = [field for field in REQUIRED[format] if field not in places]
        if missing:
            raise _missing_column_error(missing[0], format, file)
    fields = [{field for field in places if field in FIELDS[format]} for _, places in found]
    for (file, _), those in zip(found, fields, strict=True):
        if those != fields[0]:
            more, less = (found[0][0], file) if fields[0] - those else (file, found[0][0])
            raise UserError(
                f"the files do not agree: only one of them has {', '.join(sorted(those ^ fields[0]))}",
                where=f"{more.path} and {less.path}",
                hint="build from files of one kind, or name the columns to use with --columns",
            )
    return format, found, fields[0]


def _ubi(file: LogFile, columns: Sequence[str] | None) -> LogFile:
    if columns:
        raise UserError("a UBI export has fixed names: --columns cannot be used with it")
    if file.kind != "ndjson":
        raise UserError("a UBI export is NDJSON", where=str(file.path))
    return replace(file, columns=())


def _missing_column_error(field: str, format: str, file: LogFile) -> UserError:
    required = ", ".join(REQUIRED[format])
    optional = ", ".join(name for name in FIELDS[format] if name not in REQUIRED[format])
    there = ", ".join(repr(name) for name in file.columns[:20]) or "none"
    return UserError(
        f"no column for {field!r}: a log of {format} needs {required} and may have {optional}",
        where=f"{file.path}, whose columns are {there}",
        hint=f"give the columns names, in their order: --columns {required.replace(' ', '')}",
    )
