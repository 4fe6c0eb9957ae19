"""Sparse rows laid out to be read at random: terms and values side by side, one stretch a row."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coclick.arrays.csr import Csr
from coclick.jit.compiler import jit_inline, jit_noalloc
from coclick.jit.intrinsics import GROUP, prefetch, split_group
from coclick.jit.threads import balanced_blocks, even_blocks, run_blocks, threads

# Rows are read in groups of entries, the last group filled up with terms that do not exist and zero
# values: a processor guesses the end of a row right more often when there are fewer ends.
MOST_ENTRIES = 65_535
_ONE, _TWO, _GROUP = np.uint64(1), np.uint64(2), np.uint64(GROUP)
_COUNT_BITS, _COUNT = np.uint64(16), np.uint64(MOST_ENTRIES)
_AHEAD = np.uint64(16)  # rows between the one that is prefetched and the one that is read
_LINE = np.uint64(16)  # uint32 numbers in a cache line


class PackedRows(NamedTuple):
    """Sparse rows over `columns` terms, which ascend.

    Entry e of a row is `entries[start + 2 * e]`, a term, and `values[start + 2 * e + 1]`.
    """

    entries: NDArray[np.uint32]
    values: NDArray[np.float32]  # the same memory
    where: NDArray[np.uint64]  # each row's start and its number of entries: one number, so one line to read
    columns: int

    @classmethod
    def empty(cls, rows: int, most: int, columns: int) -> PackedRows:
        """Empty rows, with room for up to `most` entries each."""
        entries = _aligned(2 * rows * (-(-most // GROUP) * GROUP))
        return cls(entries, entries.view(np.float32), np.empty(rows, np.uint64), columns)

    @classmethod
    def from_csr(cls, matrix: Csr) -> PackedRows:
        """Pack the rows of a matrix."""
        packed = cls.with_room_for(matrix)
        packed.fill(matrix)
        return packed

    @classmethod
    def with_room_for(cls, matrix: Csr) -> PackedRows:
        """Rows to `fill` with those of a matrix; the system gives memory for what is filled only."""
        entries = _aligned(2 * (matrix.nnz + (GROUP - 1) * matrix.rows))
        return cls(entries, entries.view(np.float32), np.empty(matrix.rows, np.uint64), matrix.columns)

    def fill(self, matrix: Csr) -> None:
        """Pack the rows of a matrix into memory that has room for them."""
        longest = _lay_out(matrix.indptr, self.where)
        if longest > MOST_ENTRIES:
            raise ValueError(f"a row has {longest:,} entries, {MOST_ENTRIES:,} are possible")

        def pack(first: int, last: int) -> None:
            _pack(first, last, matrix.indptr, matrix.indices, matrix.data, self)

        run_blocks(pack, balanced_blocks(matrix.indptr, 4 * threads()))

    def in_order(self, order: NDArray[np.int32]) -> PackedRows:
        """The same rows in another order; they stay where they are."""
        where = np.empty(len(order), np.uint64)

        def find(first: int, last: int) -> None:
            _find(first, last, order, self.where, where)

        run_blocks(find, even_blocks(len(order), 4 * threads()))
        return self._replace(where=where)

    def to_csr(self) -> Csr:
        """Unpack."""
        indptr = np.empty(len(self.where) + 1, np.int64)
        _add_up_counts(self.where, indptr)
        indices = np.empty(indptr[-1], np.int32)
        data = np.empty(indptr[-1], np.float32)

        def unpack(first: int, last: int) -> None:
            _unpack(first, last, self, indptr, indices, data)

        run_blocks(unpack, balanced_blocks(indptr, 4 * threads()))
        return Csr(indptr, indices, data, self.columns)


@jit_inline
def whole_groups(entries: np.uint64) -> np.uint64:
    """The room of so many entries."""
    return (entries + np.uint64(GROUP - 1)) & ~np.uint64(GROUP - 1)


def _aligned(size: int) -> NDArray[np.uint32]:
    """Memory that begins with a cache line, so that a row touches as few lines as can be."""
    memory = np.empty(size + 16, np.uint32)
    offset = -memory.ctypes.data % 64 // 4
    return memory[offset : offset + size]


@jit_inline
def placed(start: np.uint64, count: np.uint64) -> np.uint64:
    """Where a row is: one number of its start in `entries` and its number of entries."""
    return (start << _COUNT_BITS) | count


@jit_inline
def row_start(where: np.uint64) -> np.uint64:
    """Where in `entries` a row begins."""
    return where >> _COUNT_BITS


@jit_inline
def row_count(where: np.uint64) -> np.uint64:
    """How many entries a row has."""
    return where & _COUNT


@jit_inline
def prefetch_row(entries: NDArray[np.uint32], where: np.uint64) -> None:
    """Prefetch the first three cache lines of a row, or fewer if it has no more."""
    start = row_start(where)
    last = start + _TWO * row_count(where) - _ONE  # not one further: that may be a line of another row
    prefetch(entries, start)
    prefetch(entries, min(start + _LINE, last))
    prefetch(entries, min(start + _TWO * _LINE, last))


@jit_inline
def fill_group(
    entries: NDArray[np.uint32],
    values: NDArray[np.float32],
    columns: int,
    start: np.uint64,
    count: np.uint64,
) -> None:
    """Fill up the last group of a row of `count` entries."""
    for entry in range(count, whole_groups(count)):
        at = start + _TWO * entry
        entries[at] = np.uint32(np.uint64(columns) + (entry & np.uint64(GROUP - 1)))
        values[at + _ONE] = np.float32(0)


@jit_noalloc
def _lay_out(indptr: NDArray[np.int64], where: NDArray[np.uint64]) -> int:
    """Say where each row of a matrix lies if they lie end to end; the entries of the longest."""
    start, longest = np.uint64(0), np.uint64(0)
    for row in range(np.uint64(len(where))):
        count = np.uint64(indptr[row + _ONE] - indptr[row])
        where[row] = placed(start, count)
        start += _TWO * whole_groups(count)
        longest = max(longest, count)
    return int(longest)


@jit_noalloc
def _find(
    first: int,
    last: int,
    order: NDArray[np.int32],
    where: NDArray[np.uint64],
    found: NDArray[np.uint64],
) -> None:
    """Where the rows at places `first` … `last` − 1 of an order are."""
    end = np.uint64(last)
    for place in range(np.uint64(first), end):
        if place + _AHEAD < end:
            prefetch(where, order[place + _AHEAD])
        found[place] = where[np.uint64(order[place])]


@jit_noalloc
def _add_up_counts(where: NDArray[np.uint64], indptr: NDArray[np.int64]) -> None:
    """Where each row begins and the last one ends if they lie end to end, without gaps."""
    total = np.uint64(0)
    indptr[0] = 0
    for row in range(np.uint64(len(where))):
        total += row_count(where[row])
        indptr[row + _ONE] = total


@jit_noalloc
def _pack(
    first: int,
    last: int,
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    data: NDArray[np.float32],
    packed: PackedRows,
) -> None:
    for row in range(np.uint64(first), np.uint64(last)):
        begin = np.uint64(indptr[row])
        start, count = row_start(packed.where[row]), row_count(packed.where[row])
        for entry in range(count):
            packed.entries[start + _TWO * entry] = indices[begin + entry]
            packed.values[start + _TWO * entry + _ONE] = data[begin + entry]
        fill_group(packed.entries, packed.values, packed.columns, start, count)


@jit_noalloc
def _unpack(
    first: int,
    last: int,
    packed: PackedRows,
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    data: NDArray[np.float32],
) -> None:
    """Rows `first` … `last` − 1, by groups: the next row overwrites what is too much."""
    end, stop = np.uint64(last), np.uint64(indptr[last])
    for row in range(np.uint64(first), end):
        if row + _AHEAD < end:
            prefetch_row(packed.entries, packed.where[row + _AHEAD])
        at = row_start(packed.where[row])
        to, row_end = np.uint64(indptr[row]), np.uint64(indptr[row + _ONE])
        while to < row_end and to + _GROUP <= stop:
            split_group(packed.entries, at, indices, data, to)
            to += _GROUP
            at += _TWO * _GROUP
        while to < row_end:
            indices[to] = packed.entries[at]
            data[to] = packed.values[at + _ONE]
            to += _ONE
            at += _TWO
