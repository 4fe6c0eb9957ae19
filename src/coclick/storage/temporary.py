"""Temporary files and directories, in the directory for such files or beside an output.

A killed process cannot remove its own. They are locked while they are in use, so the next process that needs
one in the same place removes those that no process has locked.
"""

from __future__ import annotations

import glob
import os
import shutil
import stat
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from coclick.storage.file_lock import try_lock

_PREFIX = "coclick-tmp-"  # longer than a name that a person would choose: what has it may be removed
_MIN_AGE = 60  # seconds; a younger one may belong to a process that is about to lock it
_MAX_NAME = 50  # characters of an output's name in the name of its temporary file


@contextmanager
def temporary_directory(beside: Path | None = None) -> Iterator[Path]:
    """Yield a directory that is removed at the end; with `beside`, a hidden one in the output's directory."""
    parent = Path(tempfile.gettempdir()) if beside is None else beside.absolute().parent
    prefix = _PREFIX if beside is None else _hidden_prefix(beside)
    _remove_abandoned(parent, prefix)
    with tempfile.TemporaryDirectory(prefix=prefix, dir=parent, ignore_cleanup_errors=True) as name:
        lock = os.open(name, os.O_RDONLY)
        try:
            try_lock(lock)
            yield Path(name)
        finally:
            os.close(lock)


@contextmanager
def replacing_file(path: Path) -> Iterator[IO[bytes]]:
    """Yield a stream for the new content of a file, which replaces the old one if the block succeeds."""
    parent, prefix = path.absolute().parent, _hidden_prefix(path)
    _remove_abandoned(parent, prefix)
    handle, name = tempfile.mkstemp(prefix=prefix, dir=parent)
    part = Path(name)
    try:
        with os.fdopen(handle, "wb") as stream:
            try_lock(stream.fileno())
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
            mask = os.umask(0)
            os.umask(mask)
            part.chmod(0o666 & ~mask)  # the usual permissions: temporary files are private
            part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def _hidden_prefix(path: Path) -> str:
    """Return the beginning of the names of an output's temporary files."""
    return f".{path.name[:_MAX_NAME]}.{_PREFIX}"


def _remove_abandoned(parent: Path, prefix: str) -> None:
    """Remove the temporary files and directories of this user's processes that were killed."""
    for place in parent.glob(f"{glob.escape(prefix)}????????"):
        try:
            status = place.lstat()
            is_ours = stat.S_ISDIR(status.st_mode) or stat.S_ISREG(status.st_mode)
            if not is_ours or status.st_uid != os.getuid() or time.time() - status.st_mtime < _MIN_AGE:
                continue
            handle = os.open(place, os.O_RDONLY | os.O_NOFOLLOW)
            try:
                if try_lock(handle):
                    shutil.rmtree(place) if stat.S_ISDIR(status.st_mode) else place.unlink()
            finally:
                os.close(handle)
        except OSError:
            continue  # another process was faster
