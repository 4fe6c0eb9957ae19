"""Rows of sparse matrices: copied, multiplied, looked into. Pointers are checked before they are followed."""

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
    """The value of one column in each of the given rows, 0 where there is none; columns ascend in a row.

    Rows and pointers out of bounds count as empty, whatever a damaged file says.
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
    """Copy row `rows[i]` to `starts[i]` of the output; −1 copies nothing. False if a pointer is damaged."""
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
    """The dot product of each row of one matrix with the same row of another; columns ascend in a row."""
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
