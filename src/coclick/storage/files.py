"""Plain files that are written whole or not at all: reports, runs, training data."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable
from pathlib import Path

from coclick.errors import UserError


def check_file(path: Path, *, force: bool) -> None:
    """Raise if a file may not be written there; for callers that work long before they write."""
    if path.is_dir():
        raise UserError("the output must be a file, and this is a directory", where=str(path))
    if path.exists() and not force:
        raise UserError("the output exists", where=str(path), hint="add --force to replace it")
    if not path.absolute().parent.is_dir():
        raise UserError("there is no such directory", where=str(path.absolute().parent))
    if not os.access(path.absolute().parent, os.W_OK | os.X_OK):
        raise UserError("no permission to write here", where=str(path.absolute().parent))


def write_file(path: Path, lines: Iterable[str]) -> None:
    """Write pieces of text to a file that appears when all of it is there."""
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.absolute().parent)
    part = Path(name)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="") as stream:
            stream.writelines(lines)
            stream.flush()
            os.fsync(stream.fileno())
        mask = os.umask(0)
        os.umask(mask)
        part.chmod(0o666 & ~mask)  # as if it had been opened here: temporary files are private
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
