"""Compiled code of `Csr` and `Strings`: copy, multiply, look up. Pointers are checked before use."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from coclick.jit.compiler import jit


@jit
def values_at(
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    data: NDArray[np.float32],
    rows: NDArray[np.int32],
    column: int,
) -> NDArray[np.float32]:
    """Return the value of one column in each of the given rows, or 0; columns ascend within a row.

    Rows and pointers out of bounds (in a damaged file) count as empty.
    """
    found = np.zeros(len(rows), np.float32)
    for i in range(len(rows)):
        row = rows[i]
        if row < 0 or row >= len(indptr) - 1:
            continue
        low, high = max(indptr[row], 0), min(indptr[row + 1], len(indices))
        while low < high:
            middle = (low + high) // 2
            if indices[middle] < column:
                low = middle + 1
            else:
                high = middle
        if low < min(indptr[row + 1], len(indices)) and indices[low] == column:
            found[i] = data[low]
    return found


@jit
def copy_rows(
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    data: NDArray[np.float32],
    rows: NDArray[np.int32],
    starts: NDArray[np.int64],
    out_indices: NDArray[np.int32],
    out_data: NDArray[np.float32],
) -> bool:
    """Copy row `rows[i]` to `starts[i]` of the output; −1 copies nothing. Return False for a bad pointer."""
    for i in range(len(rows)):
        row = rows[i]
        if row == -1:
            continue
        if row < 0 or row >= len(indptr) - 1:
            return False
        first, last, start = indptr[row], indptr[row + 1], starts[i]
        if first < 0 or last < first or last > len(indices) or start + last - first > len(out_indices):
            return False
        for j in range(last - first):
            out_indices[start + j] = indices[first + j]
            out_data[start + j] = data[first + j]
    return True


@jit
def row_dots(
    a_indptr: NDArray[np.int64],
    a_indices: NDArray[np.int32],
    a_data: NDArray[np.float32],
    b_indptr: NDArray[np.int64],
    b_indices: NDArray[np.int32],
    b_data: NDArray[np.float32],
) -> NDArray[np.float64]:
    """Return the dot product of each row with the same row of another matrix; columns ascend within a row."""
    dots = np.zeros(len(a_indptr) - 1)
    for row in range(len(dots)):
        a, b = a_indptr[row], b_indptr[row]
        while a < a_indptr[row + 1] and b < b_indptr[row + 1]:
            if a_indices[a] == b_indices[b]:
                dots[row] += np.float64(a_data[a]) * b_data[b]
                a += 1
                b += 1
            elif a_indices[a] < b_indices[b]:
                a += 1
            else:
                b += 1
    return dots


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
    """Find every wanted string by binary search; −1 for unknown ones.

    `order` lists the entries in byte order; it is empty if they are stored in that order. Pointers outside
    the data (in a damaged file) find nothing.
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
            comparison = _compare(data[first:last], key)
            if comparison == 0:
                found[w] = entry
                break
            if comparison < 0:
                low = middle + 1
            else:
                high = middle


@jit
def hash_strings(offsets: NDArray[np.int64], data: NDArray[np.uint8], out: NDArray[np.uint32]) -> None:
    """Hash each string: FNV-1a with a final mixing step, so that similar strings get unrelated numbers."""
    for i in range(len(offsets) - 1):
        value = np.uint32(2166136261)
        for j in range(offsets[i], offsets[i + 1]):
            value = (value ^ np.uint32(data[j])) * np.uint32(16777619)
        value ^= value >> np.uint32(16)
        value *= np.uint32(2246822507)
        out[i] = value ^ (value >> np.uint32(13))
