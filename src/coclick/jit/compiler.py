"""`jit`: numba's nopython compiler, single-threaded, without the GIL, and with a cache that is never stale.

Numba's file cache looks at the decorated file alone, so it misses a changed callee in another file. Ours lies
in the user's cache directory, in a folder named after the package version and a digest of all sources with
compiled code. If that is not writable, functions are compiled in every process and a warning says so once.

numba's own parallelism is not used: kernels take a range of rows, and `threads.run_blocks` runs ranges in a
thread pool. That makes them safe to call from the threads of a server and from Spark workers.
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
    """Return the user's cache directory: `COCLICK_CACHE`, else the platform's default."""
    if chosen := os.environ.get("COCLICK_CACHE"):
        return Path(chosen)
    from platformdirs import user_cache_path

    return user_cache_path("coclick").expanduser()  # raises RuntimeError where there is no home directory


def _sources_digest(package: Path) -> str:
    """A digest of all files that may hold compiled code: those that import this module, and jit/."""
    digest = hashlib.sha256()
    for source in sorted(package.rglob("*.py")):
        content = source.read_bytes()
        if b"coclick.jit.compiler" in content or source.parent == package / "jit":
            digest.update(str(source.relative_to(package)).encode())
            digest.update(content)
    return digest.hexdigest()[:12]


def _cache_directory() -> Path | None:
    try:
        directory = cache_home() / f"jit-{__version__}-{_sources_digest(Path(__file__).parent.parent)}"
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


class _CompileResult(CompileResultCacheImpl):
    """A compiled function without its empty environments.

    Every inlined function has an environment, and to load it numba imports the module that defines the
    function: for `np.empty` that is a part of the compiler.
    """

    def reduce(self, cres: Any) -> tuple[Any, ...]:
        """Return what is written to the cache."""
        *kept, environments = super().reduce(cres)
        return (*kept, tuple(environment for environment in environments if environment.consts))


# The cache classes are private names of numba: pyproject.toml pins its versions, a test names what is gone.
class _Cache(FunctionCache):
    """Numba's cache of compiled functions, without loading the compiler.

    Before numba looks into its cache, it loads all that it can compile and searches for BLAS through
    scipy.linalg: half a second in every new process. Compiled code only needs the runtime for reference
    counting; on a cache miss numba loads the rest itself.
    """

    _impl_class = _CompileResult

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the function compiled for these types, or None."""
        rtsys.initialize(target_context)
        with self._guard_against_spurious_io_errors():
            return self._load_overload(sig, target_context)


def jit(function: F) -> F:
    """Compile `function` on its first call, for each combination of argument types."""
    return _cached(function, numba.njit(nogil=True, fastmath=False, error_model="numpy")(function))


def jit_noalloc(function: F) -> F:
    """Like `jit`, for kernels that allocate no arrays: skips numba's reference counting.

    numba updates the count atomically wherever an array is used, in inner loops too: up to 15 % of a
    kernel's time. The caller keeps the arrays alive until the kernel returns.
    """
    options: Any = {"_nrt": False}  # a private option of numba, whose versions pyproject.toml pins
    return _cached(function, numba.njit(nogil=True, fastmath=False, error_model="numpy", **options)(function))


def _cached(function: F, compiled: Any) -> F:
    if _DIRECTORY is None:
        return compiled
    # numba reads this setting when a cache is created; other packages keep their own directory.
    settings: Any = config
    previous, settings.CACHE_DIR = settings.CACHE_DIR, str(_DIRECTORY)
    try:
        compiled._cache = _Cache(function)
        return compiled
    finally:
        settings.CACHE_DIR = previous


_OPTIONS: Any = {"_nrt": False}  # a private option of numba, whose versions pyproject.toml pins

# Like `jit_noalloc`, for small functions that only kernels call: they are inlined. That matters for functions
# that take tuples of arrays, because a call would put every pointer on the stack.
jit_inline: Any = numba.njit(nogil=True, error_model="numpy", forceinline=True, **_OPTIONS)


# Like `jit_inline`, for sums that the compiler may reorder, so that it can use vector instructions. The order
# is fixed at compile time: results are the same in every call and on every thread.
jit_fastmath: Any = numba.njit(
    nogil=True, error_model="numpy", forceinline=True, fastmath={"reassoc", "contract", "nsz"}, **_OPTIONS
)
