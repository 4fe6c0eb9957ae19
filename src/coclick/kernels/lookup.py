"""Single values of sparse rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from coclick.kernels.jit import jit


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
