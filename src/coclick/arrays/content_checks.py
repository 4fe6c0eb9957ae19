"""Checks of the content of large arrays: one pass at the speed of memory, in blocks that stay in the cache.

NumPy does the work, so that a command which opens a model does not have to load compiled code for it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coclick.jit.threads import run_blocks

_BLOCK = 1 << 18  # entries
_MIN_PARALLEL = 1 << 21


def ascends(pointers: NDArray[Any], last: int) -> bool:
    """Return whether row pointers ascend from 0 to `last`."""
    if not len(pointers) or pointers[0] != 0 or pointers[-1] != last:
        return False
    after = pointers[1:]
    return _every_block(len(after), lambda a, b: bool((pointers[a:b] <= after[a:b]).all()))


def is_within(values: NDArray[Any], low: int, high: int) -> bool:
    """Return whether all entries are at least `low` and below `high`."""
    flat = values.reshape(-1)
    if low == 0 and flat.dtype == np.int32 and high <= np.iinfo(np.int32).max:
        unsigned = flat.view(np.uint32)  # negative numbers are the largest: one pass instead of two
        return _every_block(len(flat), lambda first, last: bool(unsigned[first:last].max() < high))

    def check(first: int, last: int) -> bool:
        block = flat[first:last]
        return bool(block.min() >= low and block.max() < high)

    return _every_block(len(flat), check)


def is_finite(values: NDArray[Any]) -> bool:
    """Return whether no entry is infinite or not a number."""
    flat = values.reshape(-1)
    return _every_block(len(flat), lambda first, last: bool(np.isfinite(flat[first:last]).all()))


def is_not_negative(values: NDArray[Any]) -> bool:
    """Return whether all entries are 0 or more."""
    flat = values.reshape(-1)
    return _every_block(len(flat), lambda first, last: bool(flat[first:last].min() >= 0))


def _every_block(size: int, check: Callable[[int, int], bool]) -> bool:
    """Return whether a check holds for every block; several threads share a large array."""
    blocks = [(first, min(first + _BLOCK, size)) for first in range(0, size, _BLOCK)]
    if size < _MIN_PARALLEL:
        return all(check(*block) for block in blocks)
    failed: list[int] = []

    def work(first: int, last: int) -> None:
        if not failed and not check(first, last):
            failed.append(first)

    run_blocks(work, blocks)
    return not failed
