"""Transpose and renumber sparse matrices, so that rows that are read together are stored together."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coclick.arrays.csr import Csr
from coclick.jit.compiler import jit_noalloc
from coclick.jit.intrinsics import prefetch
from coclick.jit.threads import balanced_blocks, even_blocks, run_blocks, threads

_CLUSTER = 200  # rows: what they read fits into the cache, and many of them share it
# Unsigned: numba tests signed indices for negative values.
_ONE, _MAX_COLUMNS = np.uint64(1), np.uint64(8)  # columns of a row that are looked at
_ROWS_AHEAD, _ENTRIES_AHEAD, _SLOTS_AHEAD = np.uint64(32), np.uint64(64), np.uint64(24)


class Order(NamedTuple):
    """A permutation of numbered items."""

    numbers: NDArray[np.int32]  # the item at each place
    places: NDArray[np.int32]  # the place of each item


def local_orders(matrix: Csr) -> tuple[Order, Order]:
    """Return orders of the rows and of the columns that put connected ones next to each other.

    One pass over the rows: each joins the first cluster among its columns that is not full, or begins a new
    one; its columns without a cluster join it too.
    """
    keys = np.empty(matrix.rows, np.int32), np.empty(matrix.columns, np.int32)
    clusters = _clusters(matrix.indptr, matrix.indices, *keys, np.zeros(matrix.rows, np.uint8))
    rows, columns = (Order(np.empty_like(of_side), np.empty_like(of_side)) for of_side in keys)

    def sort(side: int, _: int) -> None:
        _counting_sort(keys[side], np.zeros(clusters + 2, np.int32), *(rows, columns)[side])

    run_blocks(sort, [(0, 1), (1, 2)])
    return rows, columns


def renumber(matrix: Csr, rows: Order, columns: Order) -> Csr:
    """Return a matrix with rows and columns in new orders; entries within a row keep their order."""
    begins = np.empty(matrix.rows, np.int64)
    indptr = np.zeros(matrix.rows + 1, np.int64)

    def find(first: int, last: int) -> None:
        _find_rows(first, last, rows.numbers, matrix.indptr, begins, indptr)

    run_blocks(find, even_blocks(matrix.rows, 4 * threads()))
    np.cumsum(indptr, out=indptr)
    new = Csr(indptr, np.empty(matrix.nnz, np.int32), np.empty(matrix.nnz, np.float32), matrix.columns)

    def copy(first: int, last: int) -> None:
        _copy_rows(
            first, last, begins, matrix.indices, matrix.data, columns.places,
            new.indptr, new.indices, new.data,
        )  # fmt: skip

    run_blocks(copy, balanced_blocks(indptr, 4 * threads()))
    return new


def transpose(matrix: Csr) -> Csr:
    """Return the transposed matrix, entries in ascending order of their former rows."""
    blocks = balanced_blocks(matrix.indptr, threads())
    number = {first: block for block, (first, _) in enumerate(blocks)}
    # Where each block's entries of a column begin; in 32 bits where those suffice.
    place = np.int32 if matrix.nnz <= np.iinfo(np.int32).max else np.int64
    free = np.zeros((len(blocks), matrix.columns), place)

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


@jit_noalloc
def _clusters(
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    of_row: NDArray[np.int32],
    of_column: NDArray[np.int32],
    sizes: NDArray[np.uint8],
) -> int:
    """Find the cluster of each row and column; return the number of clusters.

    Columns without entries get one more cluster.
    """
    none, clusters = np.int32(len(of_row)), np.int32(0)
    of_column[:] = none
    for row in range(np.uint64(len(of_row))):
        first = np.uint64(indptr[row])
        last = min(np.uint64(indptr[row + _ONE]), first + _MAX_COLUMNS)
        for at in range(first + _ENTRIES_AHEAD, min(last + _ENTRIES_AHEAD, np.uint64(len(indices)))):
            prefetch(of_column, indices[at])
        joined = clusters
        for at in range(first, last):
            cluster = of_column[np.uint64(indices[at])]
            if cluster < none and sizes[np.uint64(cluster)] < _CLUSTER:
                joined = cluster
                break
        clusters += np.int32(joined == clusters)
        sizes[np.uint64(joined)] += np.uint8(1)
        of_row[row] = joined
        for at in range(first, last):
            column = np.uint64(indices[at])
            of_column[column] = joined if of_column[column] == none else of_column[column]
    for number in range(np.uint64(len(of_column))):
        of_column[number] = min(of_column[number], clusters)
    return int(clusters)


@jit_noalloc
def _counting_sort(
    keys: NDArray[np.int32],
    starts: NDArray[np.int32],
    numbers: NDArray[np.int32],
    places: NDArray[np.int32],
) -> None:
    """Sort keys in a stable way: the item at each place, and the place of each item.

    `starts` holds zeros, one for each possible key and one more.
    """
    for i in range(np.uint64(len(keys))):
        starts[np.uint64(keys[i]) + _ONE] += 1
    for key in range(1, len(starts)):
        starts[key] += starts[key - 1]
    count = np.uint64(len(keys))
    for position in range(count):
        if position + _SLOTS_AHEAD + _SLOTS_AHEAD < count:
            prefetch(starts, keys[position + _SLOTS_AHEAD + _SLOTS_AHEAD])
            prefetch(numbers, starts[np.uint64(keys[position + _SLOTS_AHEAD])])
        own = np.uint64(keys[position])
        place = starts[own]
        starts[own] = place + 1
        numbers[np.uint64(place)] = position
        places[position] = place


@jit_noalloc
def _find_rows(
    first: int,
    last: int,
    order: NDArray[np.int32],
    indptr: NDArray[np.int64],
    begins: NDArray[np.int64],
    lengths: NDArray[np.int64],
) -> None:
    """Where the rows at places `first` … `last` − 1 begin, and their lengths, shifted by one place."""
    end = np.uint64(last)
    for place in range(np.uint64(first), end):
        if place + _ROWS_AHEAD < end:
            prefetch(indptr, order[place + _ROWS_AHEAD])
        row = np.uint64(order[place])
        begins[place] = indptr[row]
        lengths[place + _ONE] = indptr[row + _ONE] - indptr[row]


@jit_noalloc
def _copy_rows(
    first: int,
    last: int,
    begins: NDArray[np.int64],
    indices: NDArray[np.int32],
    data: NDArray[np.float32],
    column_places: NDArray[np.int32],
    new_indptr: NDArray[np.int64],
    new_indices: NDArray[np.int32],
    new_data: NDArray[np.float32],
) -> None:
    end = np.uint64(last)
    for row in range(np.uint64(first), end):
        if row + _ROWS_AHEAD < end:
            prefetch(indices, begins[row + _ROWS_AHEAD])
            prefetch(data, begins[row + _ROWS_AHEAD])
        at = np.uint64(begins[row])
        for to in range(np.uint64(new_indptr[row]), np.uint64(new_indptr[row + _ONE])):
            new_indices[to] = column_places[np.uint64(indices[at])]
            new_data[to] = data[at]
            at += _ONE


@jit_noalloc
def _count(numbers: NDArray[np.int32], counts: NDArray[np.signedinteger]) -> None:
    for i in range(np.uint64(len(numbers))):
        counts[np.uint64(numbers[i])] += 1


@jit_noalloc
def _begin_columns(counts: NDArray[np.signedinteger], indptr: NDArray[np.int64]) -> None:
    """Turn the counts by block and column into the positions where their entries begin."""
    total = 0
    for column in range(np.uint64(counts.shape[1])):
        for block in range(np.uint64(counts.shape[0])):
            count = counts[block, column]
            counts[block, column] = total
            total += count
        indptr[column + _ONE] = total


@jit_noalloc
def _scatter(
    first: int,
    last: int,
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    data: NDArray[np.float32],
    free: NDArray[np.signedinteger],
    new_indices: NDArray[np.int32],
    new_data: NDArray[np.float32],
) -> None:
    last_entry = np.uint64(indptr[last])
    for row in range(np.uint64(first), np.uint64(last)):
        for at in range(np.uint64(indptr[row]), np.uint64(indptr[row + _ONE])):
            if at + _SLOTS_AHEAD + _SLOTS_AHEAD < last_entry:
                prefetch(free, indices[at + _SLOTS_AHEAD + _SLOTS_AHEAD])
                soon = free[np.uint64(indices[at + _SLOTS_AHEAD])]
                prefetch(new_indices, soon)
                prefetch(new_data, soon)
            column = np.uint64(indices[at])
            slot = np.uint64(free[column])
            free[column] = slot + _ONE
            new_indices[slot] = row
            new_data[slot] = data[at]
