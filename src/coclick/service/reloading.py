"""Load again what has changed on disk. What cannot be loaded, for whatever reason, leaves the old version."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import Field, replace
from pathlib import Path
from typing import Any, ClassVar, Protocol, TypeVar

from coclick.errors import CoclickError
from coclick.storage.manifest import MANIFEST

log = logging.getLogger("coclick.service")

FIRST_PAUSE, LONGEST_PAUSE = 1.0, 60.0  # seconds
_MAX_PROBLEM = 1000  # characters


class Reloadable(Protocol):
    """A dataclass of something that was loaded from a directory."""

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    @property
    def path(self) -> Path:
        """The directory."""

    @property
    def version(self) -> tuple[int, ...]:
        """The version of its manifest on disk."""

    @property
    def problem(self) -> str | None:
        """Why a newer version could not be loaded."""


L = TypeVar("L", bound=Reloadable)


class Retries:
    """Try again at once if the version has changed, else after pauses that double up to a minute.

    The same version may open later: a file was still being copied, or memory was short.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._version: object = None
        self._failures = 0
        self._next = 0.0

    def due(self, version: object = None) -> bool:
        """Whether to try now."""
        return not self._failures or version != self._version or self._clock() >= self._next

    def failed(self, version: object = None) -> float:
        """Count a failure and return the seconds until the next attempt."""
        self._failures = self._failures + 1 if version == self._version else 1
        self._version = version
        pause = min(FIRST_PAUSE * 2.0 ** min(self._failures - 1, 10), LONGEST_PAUSE)
        self._next = self._clock() + pause
        return pause

    def succeeded(self) -> None:
        """Forget all failures."""
        self._failures = 0


def reload_changed(loaded: L, retries: Retries, load: Callable[[], L]) -> L | None:
    """Return the new version, or the old one with a new problem; None if there is nothing new.

    Call it in a thread: every exception becomes a problem, also those that should end the main thread.
    """
    version = version_of(loaded.path)
    if version == loaded.version:
        retries.succeeded()
        return replace(loaded, problem=None) if loaded.problem else None  # the directory is as it was
    if not retries.due(version):
        return None
    try:
        changed = load()
    except BaseException as error:
        retries.failed(version)
        problem = problem_of(error)
        if problem == loaded.problem:
            return None
        if not _is_expected(error):
            log.error("unexpected error while %s was loaded", loaded.path, exc_info=error)
        return replace(loaded, problem=problem)
    retries.succeeded()
    return changed


def version_of(path: Path) -> tuple[int, ...]:
    """Return the modification time, inode and size of a manifest; empty if there is none."""
    try:
        manifest = (path / MANIFEST).stat()
    except OSError:
        return ()
    return manifest.st_mtime_ns, manifest.st_ino, manifest.st_size


def problem_of(error: BaseException) -> str:
    """Return an error as text; an unexpected one with its kind."""
    said = str(error)[:_MAX_PROBLEM]
    if _is_expected(error) and said:
        return said
    kind = type(error).__name__
    return f"unexpected {kind}: {said}" if said else f"unexpected {kind}"


def _is_expected(error: BaseException) -> bool:
    """Whether an error says by itself what is wrong; others also need their traceback."""
    return isinstance(error, CoclickError | OSError)
