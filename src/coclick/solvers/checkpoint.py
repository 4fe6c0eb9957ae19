"""Checkpoint directories: the same training resumes after the process was killed."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from coclick._version import __version__
from coclick.jit.compiler import cache_home
from coclick.storage.file_lock import try_lock

_MAX_AGE = 30 * 24 * 3600  # seconds after which a checkpoint is removed


@contextmanager
def checkpoint(graph: str, spec: str) -> Iterator[Path | None]:
    """Yield a directory for training this model on this graph; it is removed after success.

    Yields None for a graph that was never saved, and while another process trains the same model on it.
    """
    if not graph:
        yield None
        return
    home = cache_home() / "training"
    _remove_old(home)
    name = "".join(c if c.isalnum() else "-" for c in f"{graph}-{__version__}-{spec}")
    home.mkdir(parents=True, exist_ok=True)
    with (home / f"{name}.lock").open("w") as lock:
        if not try_lock(lock.fileno()):
            yield None
            return
        yield home / name
        shutil.rmtree(home / name, ignore_errors=True)
        Path(lock.name).unlink(missing_ok=True)


def _remove_old(home: Path) -> None:
    for directory in home.glob("*"):
        if directory.is_dir() and time.time() - directory.stat().st_mtime > _MAX_AGE:
            shutil.rmtree(directory, ignore_errors=True)
