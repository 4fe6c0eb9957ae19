"""Sparse matrices turned and renumbered, so that rows that are read together lie together."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from coclick.kernels.jit import jit
from coclick.kernels.prefetch import prefetch
from coclick.kernels.threads import balanced_blocks, run_blocks, threads
from coclick.sparse import Csr

_CLUSTER = 200  # rows: small enough for what they read to stay in the cache, large enough to share it
_LOOK_AT = 8  # columns of a row
_AHEAD = 8  # rows
_ENTRIES_AHEAD = 64


def local_orders(matrix: Csr) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Orders of the rows and of the columns in which what is connected stands together.

    One pass over the rows: each joins the cluster of the first of its columns that has one with room,
    or begins a new one; its columns without a cluster follow it.
    """
    keys = _clusters(matrix.indptr, matrix.indices, matrix.columns)
    orders = np.empty(matrix.rows, np.int32), np.empty(matrix.columns, np.int32)

    def sort(side: int, _: int) -> None:
        _counting_sort(keys[side], matrix.rows + 1, orders[side])

    run_blocks(sort, [(0, 1), (1, 2)])
    return orders


def inverse(order: NDArray[np.int32]) -> NDArray[np.int32]:
    """Where each number stands in a permutation."""
    places = np.empty_like(order)
    places[order] = np.arange(len(order), dtype=np.int32)
    return places


def renumber(matrix: Csr, rows: NDArray[np.int32], column_places: NDArray[np.int32]) -> Csr:
    """The rows in the given order, with new numbers for the columns; within a row, entries stay in order."""
    indptr = np.zeros(len(rows) + 1, np.int64)
    np.cumsum(matrix.lengths()[rows], out=indptr[1:])
    new = Csr(indptr, np.empty(matrix.nnz, np.int32), np.empty(matrix.nnz, np.float32), matrix.columns)

    def copy(first: int, last: int) -> None:
        _copy_rows(
            first, last, rows, column_places, matrix.indptr, matrix.indices, matrix.data,
            new.indptr, new.indices, new.data,
        )  # fmt: skip

    run_blocks(copy, balanced_blocks(indptr, 4 * threads()))
    return new


def transpose(matrix: Csr) -> Csr:
    """Columns as rows; their entries are in the order of the rows they come from."""
    blocks = balanced_blocks(matrix.indptr, threads())
    number = {first: block for block, (first, _) in enumerate(blocks)}
    free = np.zeros((len(blocks), matrix.columns), np.int64)  # where each block's entries of a column begin

    def count(first: int, last: int) -> None:
        _count(matrix.indices[matrix.indptr[first] : matrix.indptr[last]], free[number[first]])

    run_blocks(count, blocks)
    indptr = np.zeros(matrix.columns + 1, np.int64)
    _begin_columns(free, indptr)
    new = Csr(indptr, np.empty(matrix.nnz, np.int32), np.empty(matrix.nnz, np.float32), matrix.rows)

    def scatter(first: int, last: int) -> None:
        _scatter(
            first, last, matrix.indptr, matrix.indices, matrix.data, free[number[first]],
            new.indices, new.data,
        )  # fmt: skip

    run_blocks(scatter, blocks)
    return new


@jit
def _clusters(
    indptr: NDArray[np.int64], indices: NDArray[np.int32], columns: int
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """The cluster of each row and of each column; columns that no row leads to come last."""
    rows = len(indptr) - 1
    of_row = np.empty(rows, np.int32)
    of_column = np.full(columns, rows, np.int32)
    sizes = np.zeros(rows, np.int32)
    clusters = 0
    for row in range(rows):
        first, last = indptr[row], min(indptr[row + 1], indptr[row] + _LOOK_AT)
        for at in range(first + _ENTRIES_AHEAD, min(last + _ENTRIES_AHEAD, len(indices))):
            prefetch(of_column, indices[at])
        joined = clusters
        for at in range(first, last):
            cluster = of_column[indices[at]]
            if cluster < rows and sizes[cluster] < _CLUSTER:
                joined = cluster
                break
        clusters += joined == clusters
        sizes[joined] += 1
        of_row[row] = joined
        for at in range(first, last):
            if of_column[indices[at]] == rows:
                of_column[indices[at]] = joined
    return of_row, of_column


@jit
def _counting_sort(keys: NDArray[np.int32], most: int, order: NDArray[np.int32]) -> None:
    """The positions of the keys (below `most`) by ascending key, equal ones as they come."""
    starts = np.zeros(most + 1, np.int32)
    for key in keys:
        starts[key + 1] += 1
    for key in range(most):
        starts[key + 1] += starts[key]
    for position in range(len(keys)):
        key = keys[position]
        order[starts[key]] = position
        starts[key] += 1


@jit
def _copy_rows(
    first: int,
    last: int,
    rows: NDArray[np.int32],
    column_places: NDArray[np.int32],
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    data: NDArray[np.float32],
    new_indptr: NDArray[np.int64],
    new_indices: NDArray[np.int32],
    new_data: NDArray[np.float32],
) -> None:
    for row in range(first, last):
        if row + 2 * _AHEAD < last:
            prefetch(indptr, rows[row + 2 * _AHEAD])
            soon = indptr[rows[row + _AHEAD]]
            prefetch(indices, soon)
            prefetch(data, soon)
        at = indptr[rows[row]]
        for to in range(new_indptr[row], new_indptr[row + 1]):
            new_indices[to] = column_places[indices[at]]
            new_data[to] = data[at]
            at += 1


@jit
def _count(numbers: NDArray[np.int32], counts: NDArray[np.int64]) -> None:
    for number in numbers:
        counts[number] += 1


@jit
def _begin_columns(counts: NDArray[np.int64], indptr: NDArray[np.int64]) -> None:
    """Turn each block's count of each column into where its entries begin."""
    total = 0
    for column in range(counts.shape[1]):
        for block in range(counts.shape[0]):
            count = counts[block, column]
            counts[block, column] = total
            total += count
        indptr[column + 1] = total


@jit
def _scatter(
    first: int,
    last: int,
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    data: NDArray[np.float32],
    free: NDArray[np.int64],
    new_indices: NDArray[np.int32],
    new_data: NDArray[np.float32],
) -> None:
    for row in range(first, last):
        for at in range(indptr[row], indptr[row + 1]):
            slot = free[indices[at]]
            free[indices[at]] = slot + 1
            new_indices[slot] = row
            new_data[slot] = data[at]
