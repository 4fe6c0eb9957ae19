"""Keep freed memory in the process, so that timings exclude page faults on fresh memory.

In a virtual machine the first access to a page can take longer than the work on it, which would distort a
comparison.
"""

from __future__ import annotations

import ctypes

_TRIM_THRESHOLD, _MMAP_MAX = -1, -4  # of glibc's mallopt


def keep_freed_memory() -> None:
    """Configure glibc for the rest of this process; other allocators are unchanged."""
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_TRIM_THRESHOLD, -1)
        mallopt(_MMAP_MAX, 0)
