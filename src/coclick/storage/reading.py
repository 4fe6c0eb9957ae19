"""Open an artefact that another process may replace at the same time."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from coclick.errors import ArtefactError
from coclick.storage.manifest import MANIFEST

T = TypeVar("T")

_MAX_ATTEMPTS = 5


def read_current(path: Path, read: Callable[[], T]) -> T:
    """Return what `read` returns; call it again if the artefact was replaced while it was read.

    A writer removes the files of the old artefact after it has put the new manifest in place, so a reader
    that had read the old one finds files missing.
    """
    for _ in range(_MAX_ATTEMPTS - 1):
        before = _version(path)
        try:
            return read()
        except ArtefactError:
            if _version(path) == before:
                raise
    return read()


def _version(path: Path) -> tuple[int, int] | None:
    """What changes when the manifest is replaced."""
    try:
        status = (path / MANIFEST).lstat()
    except OSError:
        return None
    return status.st_ino, status.st_mtime_ns
