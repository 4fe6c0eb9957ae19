"""Let a process keep what it frees, so that a run is not charged for fresh memory.

In a virtual machine the first touch of a page can take longer than all the work on it, and tells nothing of
either side of a comparison.
"""

from __future__ import annotations

import ctypes

_TRIM_THRESHOLD, _MMAP_MAX = -1, -4  # of glibc's mallopt


def keep_freed_memory() -> None:
    """For the rest of this process, with glibc; other allocators stay as they are."""
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_TRIM_THRESHOLD, -1)
        mallopt(_MMAP_MAX, 0)
