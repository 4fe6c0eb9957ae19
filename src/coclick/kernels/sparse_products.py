"""Products of sparse matrices: sparse if they have few entries, otherwise dense."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coclick.arrays.csr import Csr
from coclick.jit.compiler import jit
from coclick.jit.threads import balanced_blocks, run_blocks, threads
from coclick.kernels.products import times_dense
from coclick.kernels.row_sums import prefetch_ahead
from coclick.kernels.thresholded import Rows, check_fit, max_entries, thresholded_product

_BLOCKS_PER_THREAD = 16
_MAX_SPARSE_SHARE = 0.3  # share of entries up to which sparse results are faster and smaller


class ColumnRange(NamedTuple):
    """The entries of a matrix in columns `first` … `last` − 1: where they begin and end in each row."""

    first: int
    last: int
    begins: NDArray[np.int64]
    ends: NDArray[np.int64]


def times(left: Csr, right: Rows) -> Rows:
    """Return `left @ right`, sparse if it surely has few entries, else dense. Columns are not checked."""
    if not isinstance(right, Csr):
        return times_dense(left, right)
    if is_thin(left, right):
        return thresholded_product(left, right, np.zeros(left.rows, np.float32)).rows
    return times_sparse(left, right)


def is_thin(left: Csr, right: Csr) -> bool:
    """Return whether `left @ right` surely has few entries."""
    check_fit(left, right)
    return max_entries(left, right) <= _MAX_SPARSE_SHARE * left.rows * right.columns


def times_sparse(
    left: Csr, right: Csr, of: ColumnRange | None = None, out: NDArray[np.float32] | None = None
) -> NDArray[np.float32]:
    """Return `left @ right`, or some columns of it, dense, in `out` if given. Columns are not checked."""
    check_fit(left, right)
    chosen = of or ColumnRange(0, right.columns, right.indptr[:-1], right.indptr[1:])
    product = np.empty((left.rows, chosen.last - chosen.first), np.float32) if out is None else out

    def work(first: int, last: int) -> None:
        arrays = left.indptr, left.indices, left.data, chosen.begins, chosen.ends, right.indices, right.data
        _sum_rows(first, last, *arrays, chosen.first, product)

    run_blocks(work, balanced_blocks(left.indptr, 1 if threads() == 1 else _BLOCKS_PER_THREAD * threads()))
    return product


def column_ranges(matrix: Csr, width: int) -> Iterator[ColumnRange]:
    """Yield the columns of a matrix in ranges of that width; no entry is copied."""
    begins = matrix.indptr[:-1]
    for first in range(0, matrix.columns, width):
        last = min(first + width, matrix.columns)
        ends = np.empty_like(begins)
        _first_beyond(matrix.indptr, matrix.indices, begins, last, ends)
        yield ColumnRange(first, last, begins, ends)
        begins = ends


@jit
def _first_beyond(
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    begins: NDArray[np.int64],
    column: int,
    ends: NDArray[np.int64],
) -> None:
    for row in range(len(ends)):
        at = begins[row]
        while at < indptr[row + 1] and indices[at] < column:
            at += 1
        ends[row] = at


@jit
def _sum_rows(
    first: int,
    last: int,
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    data: NDArray[np.float32],
    begins: NDArray[np.int64],
    ends: NDArray[np.int64],
    row_indices: NDArray[np.int32],
    row_data: NDArray[np.float32],
    first_column: int,
    out: NDArray[np.float32],
) -> None:
    for row in range(first, last):
        sums = out[row]
        sums[:] = 0
        for at in range(np.uint64(indptr[row]), np.uint64(indptr[row + 1])):
            prefetch_ahead(at, np.uint64(indptr[last]), indices, begins, ends, row_indices, row_data)
            value, other = data[at], np.uint64(indices[at])
            for entry in range(begins[other], ends[other]):
                sums[np.uint64(row_indices[entry] - first_column)] += value * row_data[entry]
