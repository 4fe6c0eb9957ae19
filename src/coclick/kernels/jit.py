"""`jit`: numba's nopython compiler, single-threaded, releasing the GIL, with a cache that can be trusted.

Numba's own file cache looks at the decorated file alone, so a changed callee in another file would go
unnoticed. Ours lives in the user's cache directory under a name made of the package's version and a hash
of all kernel sources. Where it cannot be written, functions are compiled afresh and a warning says so once.

Parallelism is not numba's: kernels take a range of rows, and `threads.run_blocks` runs ranges side by side.
That makes them safe to call from a server's threads and from Spark's workers.
"""

from __future__ import annotations

import hashlib
import importlib
import os
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numba
from numba.core import config

from coclick import process
from coclick._version import __version__

F = TypeVar("F", bound=Callable[..., Any])
_BLAS = "scipy.linalg.cython_blas"


def _load_without_blas() -> None:
    """Load numba's array functions without its search for BLAS, which imports scipy.linalg.

    That takes a third of a second, and no kernel of ours multiplies dense matrices. It would take `np.dot`
    away from other compiled functions of the process, so only the command line does it.
    """
    if _BLAS not in sys.modules:
        sys.modules[_BLAS] = None  # type: ignore[assignment]
        try:
            importlib.import_module("numba.np.arraymath")
        finally:
            del sys.modules[_BLAS]


if process.is_ours:
    _load_without_blas()


def cache_home() -> Path:
    """Where this user's caches live (`COCLICK_CACHE`, else the platform's cache directory)."""
    if chosen := os.environ.get("COCLICK_CACHE"):
        return Path(chosen)
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "coclick"
    if sys.platform == "win32" and (local := os.environ.get("LOCALAPPDATA")):
        return Path(local) / "coclick"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "coclick"


def _sources_digest() -> str:
    digest = hashlib.sha256()
    for source in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(source.name.encode())
        digest.update(source.read_bytes())
    return digest.hexdigest()[:12]


def _cache_directory() -> Path | None:
    try:
        directory = cache_home() / f"jit-{__version__}-{_sources_digest()}"
        directory.mkdir(parents=True, exist_ok=True)
        writable = os.access(directory, os.W_OK)
    except (OSError, RuntimeError):  # RuntimeError: no home directory
        writable = False
    if not writable:
        warnings.warn(
            "the cache directory is not writable, so code is compiled again in every process; "
            "set COCLICK_CACHE to a writable directory",
            RuntimeWarning,
            stacklevel=2,
        )
        return None
    return directory


_DIRECTORY = _cache_directory()


def jit(function: F) -> F:
    """Compile `function` on its first call, for each combination of argument types."""
    options: dict[str, Any] = {"nogil": True, "fastmath": False, "error_model": "numpy"}
    if _DIRECTORY is None:
        return numba.njit(**options)(function)
    # Numba reads its cache directory while it decorates; other people's functions keep theirs.
    settings: Any = config
    theirs, settings.CACHE_DIR = settings.CACHE_DIR, str(_DIRECTORY)
    try:
        return numba.njit(cache=True, **options)(function)
    finally:
        settings.CACHE_DIR = theirs
