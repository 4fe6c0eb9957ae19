"""The product of two sparse matrices as a dense one, for the scores of many queries at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from coclick.arrays.csr import Csr
from coclick.errors import corrupt_error
from coclick.jit.compiler import jit


def dense_product(
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    weights: NDArray[np.float64],
    rows: Csr,
    first: int = 0,
    last: int | None = None,
) -> NDArray[np.float64]:
    """Return the weighted sums of `rows`, in the columns `first` … `last` − 1, added up in their order.

    Line i of the result sums the rows `indices[indptr[i]]` … `indices[indptr[i + 1] − 1]`. Columns ascend
    within a row. Entries are checked, because matrices may come from a damaged file.
    """
    last = rows.columns if last is None else last
    sums = np.zeros((len(indptr) - 1, last - first))
    if not _add_rows(indptr, indices, weights, rows.indptr, rows.indices, rows.data, first, last, sums):
        raise corrupt_error("entries of a sparse matrix are")
    return sums


@jit
def _add_rows(
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    weights: NDArray[np.float64],
    row_indptr: NDArray[np.int64],
    columns: NDArray[np.int32],
    data: NDArray[np.float32],
    first: int,
    last: int,
    sums: NDArray[np.float64],
) -> bool:
    """Add up weighted rows; return False for an index or pointer out of bounds."""
    if indptr[0] < 0 or indptr[-1] > len(indices):
        return False
    for line in range(len(indptr) - 1):
        for i in range(indptr[line], indptr[line + 1]):
            row = indices[i]
            if row < 0 or row >= len(row_indptr) - 1:
                return False
            low, end = row_indptr[row], row_indptr[row + 1]
            if low < 0 or end < low or end > len(columns):
                return False
            high = end
            while low < high:  # skip the columns before the first
                middle = (low + high) >> 1
                if columns[middle] < first:
                    low = middle + 1
                else:
                    high = middle
            for entry in range(low, end):
                column = columns[entry]
                if column >= last:
                    break
                if column < first:  # columns of a damaged file may not ascend
                    return False
                sums[line, column - first] += weights[i] * np.float64(data[entry])
    return True
