"""Sparse rows laid out to be read at random: terms and values side by side, one stretch a row."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coclick.kernels.inlined import inlined
from coclick.kernels.jit import jit
from coclick.kernels.prefetch import prefetch
from coclick.kernels.threads import balanced_blocks, run_blocks, threads
from coclick.sparse import Csr

# Rows are read in groups of four entries, the last group filled up with terms that do not exist and
# zero values: a processor guesses the end of a row right more often when there are fewer ends.
GROUP = 4
MOST_ENTRIES = 65_535
_ONE, _TWO = np.uint64(1), np.uint64(2)
_AHEAD = np.uint64(16)  # rows between the one that is prefetched and the one that is read
_MOST_PADDING = 2  # a fixed width may take this many times the room of rows laid end to end


class PackedRows(NamedTuple):
    """Sparse rows over `columns` terms, which ascend.

    Entry e of row i is `entries[2 * (start + e)]`, a term, and `values[2 * (start + e) + 1]`, where
    start is `i * width`, or `starts[i]` if the width is 0 (rows of very different lengths).
    """

    entries: NDArray[np.uint32]
    values: NDArray[np.float32]  # the same memory
    counts: NDArray[np.uint16]
    starts: NDArray[np.int64]
    width: int
    columns: int

    @classmethod
    def empty(cls, rows: int, most: int, columns: int) -> PackedRows:
        """Room for rows of up to `most` entries."""
        width = (most + GROUP - 1) // GROUP * GROUP
        entries = _aligned(2 * rows * width)
        counts = np.zeros(rows, np.uint16)
        return cls(entries, entries.view(np.float32), counts, np.empty(0, np.int64), width, columns)

    @classmethod
    def from_csr(cls, matrix: Csr, order: NDArray[np.int32] | None = None) -> PackedRows:
        """Pack the rows of a matrix, in the given order."""
        if order is None:
            order = np.arange(matrix.rows, dtype=np.int32)
        longest = int(matrix.lengths().max(initial=1))
        if longest > MOST_ENTRIES:
            raise ValueError(f"a row has {longest:,} entries, {MOST_ENTRIES:,} are possible")
        starts = np.empty(matrix.rows, np.int64)
        total = _lay_out(order, matrix.indptr, starts)
        if matrix.rows * longest <= _MOST_PADDING * total:
            packed = cls.empty(matrix.rows, longest, matrix.columns)
        else:
            entries = _aligned(2 * total)
            counts = np.zeros(matrix.rows, np.uint16)
            packed = cls(entries, entries.view(np.float32), counts, starts, 0, matrix.columns)

        def pack(first: int, last: int) -> None:
            _pack(first, last, order, matrix.indptr, matrix.indices, matrix.data, packed)

        run_blocks(pack, balanced_blocks(matrix.indptr, 4 * threads()))
        return packed

    def to_csr(self, order: NDArray[np.int32] | None = None) -> Csr:
        """Unpack, in the given order."""
        if order is None:
            order = np.arange(len(self.counts), dtype=np.int32)
        indptr = np.zeros(len(order) + 1, np.int64)
        np.cumsum(self.counts[order], out=indptr[1:])
        indices = np.empty(indptr[-1], np.int32)
        data = np.empty(indptr[-1], np.float32)

        def unpack(first: int, last: int) -> None:
            _unpack(first, last, order, self, indptr, indices, data)

        run_blocks(unpack, balanced_blocks(indptr, 4 * threads()))
        return Csr(indptr, indices, data, self.columns)


@inlined
def whole_groups(entries: np.uint64) -> np.uint64:
    """The room of so many entries."""
    return (entries + np.uint64(GROUP - 1)) & ~np.uint64(GROUP - 1)


def _aligned(size: int) -> NDArray[np.uint32]:
    """Memory that begins with a cache line, so that a row touches as few lines as can be."""
    memory = np.empty(size + 16, np.uint32)
    offset = -memory.ctypes.data % 64 // 4
    return memory[offset : offset + size]


@inlined
def row_start(width: int, starts: NDArray[np.int64], row: np.uint64) -> np.uint64:
    """Where in `entries` a row begins."""
    if width:
        return _TWO * row * np.uint64(width)
    return _TWO * np.uint64(starts[row])


@inlined
def fill_group(
    entries: NDArray[np.uint32],
    values: NDArray[np.float32],
    columns: int,
    start: np.uint64,
    count: np.uint64,
) -> None:
    """Fill up the last group of a row of `count` entries."""
    for entry in range(count, (count + np.uint64(3)) & ~np.uint64(3)):
        at = start + np.uint64(2) * entry
        entries[at] = np.uint32(np.uint64(columns) + (entry & np.uint64(3)))
        values[at + np.uint64(1)] = np.float32(0)


@jit
def _lay_out(order: NDArray[np.int32], indptr: NDArray[np.int64], starts: NDArray[np.int64]) -> int:
    """Where each row begins if they lie end to end, and where the last one ends."""
    total = np.uint64(0)
    for place in range(np.uint64(len(order))):
        if place + _AHEAD < np.uint64(len(order)):
            prefetch(indptr, order[place + _AHEAD])
        starts[place] = total
        total += whole_groups(np.uint64(indptr[order[place] + 1] - indptr[order[place]]))
    return int(total)


@jit
def _pack(
    first: int,
    last: int,
    order: NDArray[np.int32],
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    data: NDArray[np.float32],
    packed: PackedRows,
) -> None:
    end = np.uint64(last)
    for row in range(np.uint64(first), end):
        if row + _AHEAD + _AHEAD < end:
            prefetch(indptr, order[row + _AHEAD + _AHEAD])
            soon = indptr[order[row + _AHEAD]]
            prefetch(indices, soon)
            prefetch(data, soon)
        begin = np.uint64(indptr[np.uint64(order[row])])
        count = np.uint64(indptr[np.uint64(order[row]) + _ONE]) - begin
        start = row_start(packed.width, packed.starts, row)
        for entry in range(count):
            packed.entries[start + _TWO * entry] = indices[begin + entry]
            packed.values[start + _TWO * entry + _ONE] = data[begin + entry]
        fill_group(packed.entries, packed.values, packed.columns, start, count)
        packed.counts[row] = count


@jit
def _unpack(
    first: int,
    last: int,
    order: NDArray[np.int32],
    packed: PackedRows,
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    data: NDArray[np.float32],
) -> None:
    end = np.uint64(last)
    for row in range(np.uint64(first), end):
        if row + _AHEAD < end:
            soon = row_start(packed.width, packed.starts, np.uint64(order[row + _AHEAD]))
            for line in range(3):
                prefetch(packed.entries, soon + np.uint64(16 * line))
        at = row_start(packed.width, packed.starts, np.uint64(order[row]))
        for to in range(np.uint64(indptr[row]), np.uint64(indptr[row + _ONE])):
            indices[to] = packed.entries[at]
            data[to] = packed.values[at + _ONE]
            at += _TWO
