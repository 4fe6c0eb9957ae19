"""Sparse rows in a layout for random access: terms and values interleaved, each row contiguous."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coclick.arrays.csr import Csr
from coclick.jit.compiler import jit_inline, jit_noalloc
from coclick.jit.intrinsics import GROUP, prefetch, split_group
from coclick.jit.threads import balanced_blocks, even_blocks, run_blocks, threads

# Rows are read in groups of entries; the last group is padded with unknown terms and zero values. Fewer
# different row lengths make the end of a row easier to predict for the processor.
MAX_ENTRIES = 65_535
_ONE, _TWO, _GROUP = np.uint64(1), np.uint64(2), np.uint64(GROUP)
_COUNT_BITS, _COUNT = np.uint64(16), np.uint64(MAX_ENTRIES)
_AHEAD = np.uint64(16)  # distance in rows between prefetching and reading
_LINE = np.uint64(16)  # uint32 numbers in a cache line


class PackedRows(NamedTuple):
    """Sparse rows over `columns` terms, in ascending order.

    Entry e of a row is `entries[start + 2 * e]`, a term, and `values[start + 2 * e + 1]`.
    """

    entries: NDArray[np.uint32]
    values: NDArray[np.float32]  # the same memory
    where: NDArray[np.uint64]  # start and length of each row in one number, so that one cache line is read
    columns: int

    @classmethod
    def empty(cls, rows: int, max_entries: int, columns: int) -> PackedRows:
        """Allocate rows of up to `max_entries` entries each."""
        entries = _aligned(2 * rows * (-(-max_entries // GROUP) * GROUP))
        return cls(entries, entries.view(np.float32), np.empty(rows, np.uint64), columns)

    @classmethod
    def from_csr(cls, matrix: Csr) -> PackedRows:
        """Pack the rows of a matrix."""
        packed = cls.with_room_for(matrix)
        packed.fill(matrix)
        return packed

    @classmethod
    def with_room_for(cls, matrix: Csr) -> PackedRows:
        """Allocate rows for `fill`; the system provides memory only for what is written."""
        entries = _aligned(2 * (matrix.nnz + (GROUP - 1) * matrix.rows))
        return cls(entries, entries.view(np.float32), np.empty(matrix.rows, np.uint64), matrix.columns)

    def fill(self, matrix: Csr) -> None:
        """Pack the rows of a matrix into these rows."""
        longest = _lay_out(matrix.indptr, self.where)
        if longest > MAX_ENTRIES:
            raise ValueError(f"a row has {longest:,} entries, at most {MAX_ENTRIES:,} are possible")

        def pack(first: int, last: int) -> None:
            _pack(first, last, matrix.indptr, matrix.indices, matrix.data, self)

        run_blocks(pack, balanced_blocks(matrix.indptr, 4 * threads()))

    def in_order(self, order: NDArray[np.int32]) -> PackedRows:
        """Return the rows in another order, without copying them."""
        where = np.empty(len(order), np.uint64)

        def find(first: int, last: int) -> None:
            _find(first, last, order, self.where, where)

        run_blocks(find, even_blocks(len(order), 4 * threads()))
        return self._replace(where=where)

    def to_csr(self) -> Csr:
        """Return the rows as a `Csr`."""
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
    """Return the number of entries rounded up to whole groups."""
    return (entries + np.uint64(GROUP - 1)) & ~np.uint64(GROUP - 1)


def _aligned(size: int) -> NDArray[np.uint32]:
    """Memory aligned to cache lines, so that a row touches as few lines as possible."""
    memory = np.empty(size + 16, np.uint32)
    offset = -memory.ctypes.data % 64 // 4
    return memory[offset : offset + size]


@jit_inline
def placed(start: np.uint64, count: np.uint64) -> np.uint64:
    """Return one number with the start of a row in `entries` and its number of entries."""
    return (start << _COUNT_BITS) | count


@jit_inline
def row_start(where: np.uint64) -> np.uint64:
    """Return where a row begins in `entries`."""
    return where >> _COUNT_BITS


@jit_inline
def row_count(where: np.uint64) -> np.uint64:
    """Return how many entries a row has."""
    return where & _COUNT


@jit_inline
def prefetch_row(entries: NDArray[np.uint32], where: np.uint64) -> None:
    """Prefetch the first three cache lines of a row, or fewer if it is shorter."""
    start = row_start(where)
    last = start + _TWO * row_count(where) - _ONE  # one more could be a line of another row
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
    """Pad the last group of a row of `count` entries."""
    for entry in range(count, whole_groups(count)):
        at = start + _TWO * entry
        entries[at] = np.uint32(np.uint64(columns) + (entry & np.uint64(GROUP - 1)))
        values[at + _ONE] = np.float32(0)


@jit_noalloc
def _lay_out(indptr: NDArray[np.int64], where: NDArray[np.uint64]) -> int:
    """Compute where each row begins if they are stored end to end; return the largest number of entries."""
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
    """Look up the rows at places `first` … `last` − 1 of an order."""
    end = np.uint64(last)
    for place in range(np.uint64(first), end):
        if place + _AHEAD < end:
            prefetch(where, order[place + _AHEAD])
        found[place] = where[np.uint64(order[place])]


@jit_noalloc
def _add_up_counts(where: NDArray[np.uint64], indptr: NDArray[np.int64]) -> None:
    """Compute row pointers: where each row begins if they are stored end to end, without gaps."""
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
    """Unpack rows `first` … `last` − 1 in groups: the next row overwrites the padding."""
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
