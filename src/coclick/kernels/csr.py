"""Sparse matrices turned and renumbered, so that rows that are read together lie together."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from coclick.kernels.jit import jit
from coclick.kernels.prefetch import prefetch
from coclick.kernels.threads import balanced_blocks, run_blocks, threads
from coclick.sparse import Csr

_AHEAD = 8


def group_by_rarest_column(matrix: Csr) -> NDArray[np.int32]:
    """An order of the rows in which rows that share their rarest column are neighbours.

    A column that no other row has says nothing, so "rarest" is among columns of two rows or more.
    """
    rows_with = _count(matrix.indices, matrix.columns)
    rarest = np.empty(matrix.rows, np.int32)

    def find(first: int, last: int) -> None:
        _rarest_columns(first, last, matrix.indptr, matrix.indices, rows_with, rarest)

    run_blocks(find, balanced_blocks(matrix.indptr, 4 * threads()))
    return _counting_sort(rarest, matrix.columns + 1)


def take_rows(matrix: Csr, order: NDArray[np.int32]) -> Csr:
    """The rows in the given order."""
    indptr = np.zeros(len(order) + 1, np.int64)
    np.cumsum(matrix.lengths()[order], out=indptr[1:])
    indices = np.empty(matrix.nnz, np.int32)
    data = np.empty(matrix.nnz, np.float32)

    def copy(first: int, last: int) -> None:
        _copy_rows(first, last, order, matrix.indptr, matrix.indices, matrix.data, indptr, indices, data)

    run_blocks(copy, balanced_blocks(indptr, 4 * threads()))
    return Csr(indptr, indices, data, matrix.columns)


def number_by_first_use(matrix: Csr) -> NDArray[np.int32]:
    """Renumber the columns in place, in the order in which the rows use them; the old numbers."""
    old = np.empty(matrix.columns, np.int32)
    _number_by_first_use(matrix.indices, old)
    return old


def transpose(matrix: Csr) -> Csr:
    """Columns as rows; their entries are in the order of the rows they come from."""
    indptr = np.zeros(matrix.columns + 1, np.int64)
    np.cumsum(_count(matrix.indices, matrix.columns), out=indptr[1:])
    indices = np.empty(matrix.nnz, np.int32)
    data = np.empty(matrix.nnz, np.float32)
    _transpose(matrix.indptr, matrix.indices, matrix.data, indptr[:-1].copy(), indices, data)
    return Csr(indptr, indices, data, matrix.rows)


def inverse(order: NDArray[np.int32]) -> NDArray[np.int32]:
    """Where each number stands in a permutation."""
    places = np.empty_like(order)
    places[order] = np.arange(len(order), dtype=np.int32)
    return places


@jit
def _count(numbers: NDArray[np.int32], most: int) -> NDArray[np.int32]:
    counts = np.zeros(most, np.int32)
    for number in numbers:
        counts[number] += 1
    return counts


@jit
def _rarest_columns(
    first: int,
    last: int,
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    rows_with: NDArray[np.int32],
    rarest: NDArray[np.int32],
) -> None:
    for row in range(first, last):
        best, fewest = np.int32(len(rows_with)), np.int32(2**31 - 1)
        for at in range(indptr[row], indptr[row + 1]):
            rows = rows_with[indices[at]]
            if 2 <= rows < fewest:
                best, fewest = indices[at], rows
        rarest[row] = best


@jit
def _counting_sort(keys: NDArray[np.int32], most: int) -> NDArray[np.int32]:
    """The positions of the keys in ascending order of keys (all below `most`), equal ones in place."""
    starts = np.zeros(most + 1, np.int64)
    for key in keys:
        starts[key + 1] += 1
    for key in range(most):
        starts[key + 1] += starts[key]
    order = np.empty(len(keys), np.int32)
    for position in range(len(keys)):
        order[starts[keys[position]]] = position
        starts[keys[position]] += 1
    return order


@jit
def _copy_rows(
    first: int,
    last: int,
    order: NDArray[np.int32],
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    data: NDArray[np.float32],
    new_indptr: NDArray[np.int64],
    new_indices: NDArray[np.int32],
    new_data: NDArray[np.float32],
) -> None:
    for row in range(first, last):
        if row + 2 * _AHEAD < last:
            prefetch(indptr, order[row + 2 * _AHEAD])
            soon = indptr[order[row + _AHEAD]]
            prefetch(indices, soon)
            prefetch(data, soon)
        start = indptr[order[row]]
        for to in range(new_indptr[row], new_indptr[row + 1]):
            new_indices[to] = indices[start]
            new_data[to] = data[start]
            start += 1


@jit
def _number_by_first_use(indices: NDArray[np.int32], old: NDArray[np.int32]) -> None:
    new = np.full(len(old), -1, np.int32)
    used = 0
    for at in range(len(indices)):
        column = indices[at]
        if new[column] < 0:
            new[column] = used
            old[used] = column
            used += 1
        indices[at] = new[column]
    for column in range(len(old)):
        if new[column] < 0:
            old[used] = column
            used += 1


@jit
def _transpose(
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    data: NDArray[np.float32],
    free: NDArray[np.int64],
    new_indices: NDArray[np.int32],
    new_data: NDArray[np.float32],
) -> None:
    for row in range(len(indptr) - 1):
        for at in range(indptr[row], indptr[row + 1]):
            slot = free[indices[at]]
            free[indices[at]] = slot + 1
            new_indices[slot] = row
            new_data[slot] = data[at]
