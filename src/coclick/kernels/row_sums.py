"""Rows of a matrix product, summed one after the other in a dense array.

Columns form groups of 64. Adding a sparse row marks the groups of its columns, so that groups without entries
are never read and the others are read as vectors: nothing has to be sorted.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coclick.jit.compiler import jit_inline
from coclick.jit.intrinsics import MASK_BITS, lowest_bit, prefetch

GROUP = np.uint64(MASK_BITS)  # columns
_ONE = np.uint64(1)  # unsigned: numba tests signed indices for negative values
_MARKS = np.uint64(8)  # per word, of 8 bits each
_LINE = np.uint64(16)  # entries in a cache line
_AHEAD = np.uint64(8)  # distance in entries between prefetching and reading


class RowSums(NamedTuple):
    """Working memory in which a row is summed."""

    sums: NDArray[np.float32]  # of all columns, in whole groups; zero between rows
    marks: NDArray[np.uint8]  # of groups; zero between rows
    words: NDArray[np.uint64]  # the same memory
    groups: NDArray[np.uint32]  # list of the groups touched


def make_row_sums(columns: int) -> RowSums:
    """Allocate working memory for rows of so many columns."""
    groups = -(-columns // MASK_BITS)
    words = np.zeros(-(-groups // int(_MARKS)), np.uint64)
    return RowSums(
        np.zeros(groups * MASK_BITS, np.float32), words.view(np.uint8), words, np.empty(groups, np.uint32)
    )


@jit_inline
def prefetch_ahead(
    at: np.uint64,
    last: np.uint64,
    indices: NDArray[np.int32],
    begins: NDArray[np.int64],
    ends: NDArray[np.int64],
    row_indices: NDArray[np.int32],
    row_data: NDArray[np.float32],
) -> None:
    """Prefetch the row of a later entry, and the pointer to a row later still.

    Without a branch: around one, numba would update the reference counts of the arrays for every entry.
    """
    prefetch(begins, indices[min(at + _AHEAD + _AHEAD, last - _ONE)])
    soon = np.uint64(indices[min(at + _AHEAD, last - _ONE)])
    for line in range(np.uint64(begins[soon]), np.uint64(ends[soon]), _LINE):
        prefetch(row_indices, line)
        prefetch(row_data, line)


@jit_inline
def add_sparse_rows(
    begin: np.uint64,
    end: np.uint64,
    last: np.uint64,
    indices: NDArray[np.int32],
    data: NDArray[np.float32],
    begins: NDArray[np.int64],
    ends: NDArray[np.int64],
    row_indices: NDArray[np.int32],
    row_data: NDArray[np.float32],
    sums: NDArray[np.float32],
    marks: NDArray[np.uint8],
    words: NDArray[np.uint64],
    groups: NDArray[np.uint32],
) -> np.uint64:
    """Sum the rows of entries `begin` … `end` − 1 and list the groups touched; return their number."""
    for at in range(begin, end):
        prefetch_ahead(at, last, indices, begins, ends, row_indices, row_data)
        value, other = data[at], np.uint64(indices[at])
        for entry in range(np.uint64(begins[other]), np.uint64(ends[other])):
            column = np.uint64(row_indices[entry])
            sums[column] += value * row_data[entry]
            marks[column // GROUP] = 1
    count = np.uint64(0)
    for word in range(np.uint64(len(words))):
        rest = words[word]
        words[word] = 0
        while rest:
            groups[count] = _MARKS * word + lowest_bit(rest) // _MARKS
            rest &= rest - _ONE
            count += _ONE
    return count


@jit_inline
def add_dense_rows(
    begin: np.uint64,
    end: np.uint64,
    indices: NDArray[np.int32],
    data: NDArray[np.float32],
    dense: NDArray[np.float32],
    sums: NDArray[np.float32],
    groups: NDArray[np.uint32],
) -> np.uint64:
    """Sum the dense rows of entries `begin` … `end` − 1 and list all groups; return their number."""
    for at in range(begin, end):
        value, other = data[at], np.uint64(indices[at])
        for column in range(np.uint64(dense.shape[1])):
            sums[column] += value * dense[other, column]
    for group in range(len(groups)):
        groups[group] = group
    return np.uint64(len(groups))
