"""Checkpoint directories: the same training resumes after the process was killed."""

from __future__ import annotations

import hashlib
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from coclick._version import __version__
from coclick.jit.compiler import cache_home
from coclick.storage.file_lock import try_lock

_MAX_AGE = 30 * 24 * 3600  # seconds after which a checkpoint is removed


@contextmanager
def checkpoint(graph: str, spec: str) -> Iterator[Path | None]:
    """Yield a directory for training this model on this graph; it is removed after success.

    Yields None for a graph that was never saved, while another process trains the same model on it, and
    where the cache directory is not writable.
    """
    lock = _open_lock(graph, spec) if graph else None
    if lock is None:
        yield None
        return
    with lock:
        if not try_lock(lock.fileno()):
            yield None
            return
        directory = Path(lock.name).with_suffix("")
        yield directory
        shutil.rmtree(directory, ignore_errors=True)
        Path(lock.name).unlink(missing_ok=True)


def _open_lock(graph: str, spec: str) -> IO[str] | None:
    """Open the file that a training locks, None if that is not possible."""
    name = hashlib.sha256(f"{graph} {__version__} {spec}".encode("utf-8", "surrogatepass")).hexdigest()[:32]
    try:
        home = cache_home() / "training"
        _remove_old(home)
        home.mkdir(parents=True, exist_ok=True)
        return (home / f"{name}.lock").open("w")
    except (OSError, RuntimeError):  # no home directory
        return None


def _remove_old(home: Path) -> None:
    for directory in home.glob("*"):
        if directory.is_dir() and time.time() - directory.stat().st_mtime > _MAX_AGE:
            shutil.rmtree(directory, ignore_errors=True)
