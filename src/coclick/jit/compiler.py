"""`jit`: numba's nopython compiler, single-threaded, releasing the GIL, with a cache that can be trusted.

Numba's own file cache looks at the decorated file alone, so a changed callee in another file would go
unnoticed. Ours lives in the user's cache directory under a name made of the package's version and a hash
of all kernel sources. Where it cannot be written, functions are compiled afresh and a warning says so once.

Parallelism is not numba's: kernels take a range of rows, and `threads.run_blocks` runs ranges side by side.
That makes them safe to call from a server's threads and from Spark's workers.
"""

from __future__ import annotations

import hashlib
import os
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numba
from numba.core import config
from numba.core.caching import CompileResultCacheImpl, FunctionCache
from numba.core.runtime import rtsys

from coclick._version import __version__

F = TypeVar("F", bound=Callable[..., Any])


def cache_home() -> Path:
    """Where this user's caches live (`COCLICK_CACHE`, else the platform's cache directory)."""
    if chosen := os.environ.get("COCLICK_CACHE"):
        return Path(chosen)
    from platformdirs import user_cache_path

    return user_cache_path("coclick").expanduser()  # raises RuntimeError where there is no home directory


def _sources_digest() -> str:
    digest = hashlib.sha256()
    package = Path(__file__).parent.parent
    for source in sorted(package.rglob("*.py")):
        content = source.read_bytes()
        if b"coclick.jit.compiler" in content or source.parent == Path(__file__).parent:
            digest.update(str(source.relative_to(package)).encode())
            digest.update(content)
    return digest.hexdigest()[:12]


def _cache_directory() -> Path | None:
    try:
        directory = cache_home() / f"jit-{__version__}-{_sources_digest()}"
        if not directory.exists() and sys.stderr is not None and sys.stderr.isatty():
            print("compiling: the first commands take up to half a minute longer", file=sys.stderr)
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


class _Result(CompileResultCacheImpl):
    """What is kept of a compiled function: not the environments in which there is nothing.

    Every function that was copied into it has one, and to load it numba imports the module where that
    function stood: for `np.empty` a part of its compiler.
    """

    def reduce(self, cres: Any) -> tuple[Any, ...]:
        """What is written to the cache."""
        *kept, environments = super().reduce(cres)
        return (*kept, tuple(one for one in environments if one.consts))


# The cache classes are private names of numba: pyproject.toml pins its versions, a test names what is gone.
class _Cache(FunctionCache):
    """Numba's cache of compiled functions, without what only compiling needs.

    Before numba looks into its cache, it loads everything that it can compile, and searches for BLAS through
    scipy.linalg: half a second in every new process. Compiled code needs but the runtime which counts
    references; where there is none yet, numba's compiler loads the rest itself.
    """

    _impl_class = _Result

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The function compiled for these types, or None."""
        rtsys.initialize(target_context)
        with self._guard_against_spurious_io_errors():
            return self._load_overload(sig, target_context)


def jit(function: F) -> F:
    """Compile `function` on its first call, for each combination of argument types."""
    return _cached(function, numba.njit(nogil=True, fastmath=False, error_model="numpy")(function))


def jit_noalloc(function: F) -> F:
    """Like `jit`, for kernels that make no arrays: nobody counts who holds the arrays that they are given.

    numba counts at every mention of an array, in inner loops too, by an atomic addition: up to a seventh of
    a kernel's time. Whoever calls a kernel holds its arrays until it is done.
    """
    options: Any = {"_nrt": False}  # a private option of numba, whose versions pyproject.toml pins
    return _cached(function, numba.njit(nogil=True, fastmath=False, error_model="numpy", **options)(function))


def _cached(function: F, compiled: Any) -> F:
    if _DIRECTORY is None:
        return compiled
    # Numba reads its cache directory while a cache is made; other people's functions keep theirs.
    settings: Any = config
    theirs, settings.CACHE_DIR = settings.CACHE_DIR, str(_DIRECTORY)
    try:
        compiled._cache = _Cache(function)
        return compiled
    finally:
        settings.CACHE_DIR = theirs


_OPTIONS: Any = {"_nrt": False}  # a private option of numba, whose versions pyproject.toml pins

# Like `borrowing`, for small functions that only other kernels call: the compiler copies them into their
# callers. That matters where they take tuples of arrays: a call would put every pointer on the stack.
jit_inline: Any = numba.njit(nogil=True, error_model="numpy", forceinline=True, **_OPTIONS)


# Like `inlined`, for sums that the compiler may take in any order: it adds a vector of numbers at a time. The
# order is fixed at compile time, so results are the same in every call and on every thread.
jit_fastmath: Any = numba.njit(
    nogil=True, error_model="numpy", forceinline=True, fastmath={"reassoc", "contract", "nsz"}
)
