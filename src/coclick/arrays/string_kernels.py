"""Look-up of byte strings in a sorted, packed array of byte strings."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from coclick.jit.compiler import jit


@jit
def _compare(a: NDArray[np.uint8], b: NDArray[np.uint8]) -> int:
    for i in range(min(len(a), len(b))):
        if a[i] != b[i]:
            return -1 if a[i] < b[i] else 1
    return len(a) - len(b)


@jit
def lookup(
    offsets: NDArray[np.int64],
    data: NDArray[np.uint8],
    order: NDArray[np.int32],
    wanted_offsets: NDArray[np.int64],
    wanted: NDArray[np.uint8],
    found: NDArray[np.int32],
) -> None:
    """Binary search for every wanted string; −1 where there is none.

    `order` lists the entries in the order of their bytes; empty means that they stand in that order.
    Pointers outside the data find nothing, whatever the file says.
    """
    entries = len(offsets) - 1
    for w in range(len(wanted_offsets) - 1):
        key = wanted[wanted_offsets[w] : wanted_offsets[w + 1]]
        found[w] = -1
        low, high = 0, entries
        while low < high:
            middle = (low + high) // 2
            entry = order[middle] if len(order) else middle
            if entry < 0 or entry >= entries:
                break
            first, last = offsets[entry], offsets[entry + 1]
            if first < 0 or last < first or last > len(data):
                break
            way = _compare(data[first:last], key)
            if way == 0:
                found[w] = entry
                break
            if way < 0:
                low = middle + 1
            else:
                high = middle


@jit
def hash_strings(offsets: NDArray[np.int64], data: NDArray[np.uint8], out: NDArray[np.uint32]) -> None:
    """FNV-1a of each string, with a last mixing so that near strings are not near numbers."""
    for i in range(len(offsets) - 1):
        value = np.uint32(2166136261)
        for j in range(offsets[i], offsets[i + 1]):
            value = (value ^ np.uint32(data[j])) * np.uint32(16777619)
        value ^= value >> np.uint32(16)
        value *= np.uint32(2246822507)
        out[i] = value ^ (value >> np.uint32(13))
