"""Write the files of a simulated log: all of them, or none.

They are moved one by one into a directory that may hold other files. A process that is killed meanwhile
leaves some of them, but never beside those of an older log.
"""

from __future__ import annotations

import errno
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb

from coclick.errors import CoclickError, UserError
from coclick.storage.temporary import temporary_directory

_DISK_FULL = ("No space left", f'"errno":"{errno.ENOSPC}"')  # in errors of Python and DuckDB


@contextmanager
def writing_files(directory: Path, names: tuple[str, ...], force: bool) -> Iterator[Path]:
    """Yield an empty directory; move the files called `names` from there to `directory` at the end."""
    existing = [name for name in names if (directory / name).exists()]
    if existing and not force:
        raise UserError(
            f"{existing[0]} already exists",
            where=str(directory),
            hint="choose another directory, or add --force",
        )
    try:
        directory.mkdir(parents=True, exist_ok=True)
        with temporary_directory(beside=directory / "sample") as work:
            yield work
            for name in names:
                if (directory / name).is_dir():
                    shutil.rmtree(directory / name)
                else:
                    (directory / name).unlink(missing_ok=True)
            for name in names:
                (work / name).replace(directory / name)
    except (OSError, duckdb.IOException) as error:
        if any(sign in str(error) for sign in _DISK_FULL):
            hint = "free some space or choose another directory"
            raise CoclickError("the disk is full", where=str(directory), hint=hint) from error
        raise UserError(
            f"cannot write the sample: {getattr(error, 'strerror', None) or error}", where=str(directory)
        ) from error


def write_tsv(path: Path, header: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> None:
    """Write a TSV file with a header."""
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.write("\t".join(header) + "\n")
        file.writelines("\t".join(row) + "\n" for row in rows)
