"""Products of sparse matrices whose rows are thresholded and scaled before they are stored.

Entries z of a row of A B become s = sign(z) · max(|z| − t, 0), with a threshold t for each row, and the row
is scaled to a given length, which makes it the exact minimiser

    length · s / ‖s‖  =  argmin over ‖l‖ ≤ length of  −z·l + t‖l‖₁        with the minimum  −length · ‖s‖

Few entries pass the threshold: they are found 64 columns at a time, and only they are written.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coclick.arrays.csr import Csr
from coclick.jit.compiler import jit, jit_fastmath, jit_inline
from coclick.jit.intrinsics import larger_mask, lowest_bit
from coclick.jit.threads import balanced_blocks, run_blocks, threads
from coclick.kernels.row_sums import (
    GROUP,
    RowSums,
    add_dense_rows,
    add_sparse_rows,
    make_row_sums,
    prefetch_ahead,
)

Rows = Csr | NDArray[np.float32]  # sparse or dense
Block = tuple[int, int]  # the first row, and the one after the last

_BLOCKS_PER_THREAD = 16
_MAX_WAVE = 1 << 25  # entries of one wave of blocks, at most; memory that is never written costs nothing
_NO_DENSE = np.zeros((0, 0), np.float32)
_ZERO, _ONE = np.uint64(0), np.uint64(1)  # unsigned: numba tests signed indices for negative values


class Thresholded(NamedTuple):
    """A thresholded product."""

    rows: Csr
    thresholds: NDArray[np.float32]
    gains: NDArray[np.float64]  # ‖s‖ of each row


def thresholded_product(
    left: Csr,
    right: Rows,
    thresholds: NDArray[np.float32],
    share: float = 0.0,
    length: float | None = None,
) -> Thresholded:
    """Return `left @ right` with each row thresholded and, if `length` is given, scaled to that length.

    A negative threshold means unknown: it becomes `share` times the root mean square of the row's entries, if
    the row has any. Columns are not checked.
    """
    check_fit(left, right)
    columns = right.columns if isinstance(right, Csr) else right.shape[1]
    thresholds, gains = thresholds.copy(), np.zeros(left.rows)
    sparse = right if isinstance(right, Csr) else Csr.empty(0, 0)
    dense = _NO_DENSE if isinstance(right, Csr) else np.ascontiguousarray(right)
    right_rows = sparse.indptr[:-1], sparse.indptr[1:], sparse.indices, sparse.data, dense
    factors = left.indptr, left.indices, left.data, *right_rows
    scale = -1.0 if length is None else length
    waves = list(_waves(_max_entries_by_block(left, right)))
    size = max((last for wave in waves for _, last in wave.values()), default=0)
    indices, data = np.empty(size, np.int32), np.empty(size, np.float32)  # reused by each wave
    found = _GrowingCsr(left.rows)
    for wave in waves:

        def work(first: int, last: int, wave: dict[Block, Block] = wave) -> None:
            own = slice(*wave[first, last])
            _thresholded_rows(
                first, last, *factors, columns, thresholds, share, scale, make_row_sums(columns),
                indices[own], data[own], found.indptr, gains,
            )  # fmt: skip

        run_blocks(work, wave)
        found.append(wave, indices, data)
    return Thresholded(Csr(found.indptr, found.indices, found.data, columns), thresholds, gains)


def max_entries(left: Csr, right: Csr) -> int:
    """Return an upper bound on the number of entries of `left @ right`."""
    return sum(_max_entries_by_block(left, right).values())


def check_fit(left: Csr, right: Rows) -> None:
    """Raise unless `right` has as many rows as `left` has columns."""
    rows = right.rows if isinstance(right, Csr) else len(right)
    if left.columns != rows:
        raise ValueError(f"{left.columns} columns do not fit {rows} rows")


def _max_entries_by_block(left: Csr, right: Rows) -> dict[Block, int]:
    """Blocks of rows, with an upper bound on the entries of each."""
    blocks = balanced_blocks(left.indptr, _BLOCKS_PER_THREAD * threads())
    if not isinstance(right, Csr):
        return {(first, last): (last - first) * right.shape[1] for first, last in blocks}
    upper_bounds = dict.fromkeys(blocks, 0)

    def count(first: int, last: int) -> None:
        factors = left.indptr, left.indices, right.indptr, right.columns
        upper_bounds[first, last] = _max_entries(first, last, *factors)

    run_blocks(count, blocks)
    return upper_bounds


def _waves(upper_bounds: dict[Block, int]) -> Iterator[dict[Block, Block]]:
    """Blocks that are computed together, each with its range in their common memory."""
    wave: dict[Block, Block] = {}
    end = 0
    for block, entries in upper_bounds.items():
        needed = entries + 1  # an entry is written before it is decided whether to keep it
        if wave and end + needed > _MAX_WAVE:
            yield wave
            wave, end = {}, 0
        wave[block] = end, end + needed
        end += needed
    if wave:
        yield wave


class _GrowingCsr:
    """Rows that arrive in waves. The arrays grow in place, so a large matrix is in memory only once."""

    def __init__(self, rows: int) -> None:
        self.indptr = np.zeros(rows + 1, np.int64)  # holds the lengths of rows that are not appended yet
        self.indices = np.empty(0, np.int32)
        self.data = np.empty(0, np.float32)

    def append(self, wave: dict[Block, Block], indices: NDArray[np.int32], data: NDArray[np.float32]) -> None:
        """Copy the rows of a wave; those before them are appended already."""
        first, last = min(wave)[0], max(wave)[1]
        np.cumsum(self.indptr[first : last + 1], out=self.indptr[first : last + 1])
        self.indices = _grown(self.indices, int(self.indptr[last]))
        self.data = _grown(self.data, int(self.indptr[last]))

        def copy(first: int, last: int) -> None:
            to = slice(self.indptr[first], self.indptr[last])
            begin = wave[first, last][0]
            own = slice(begin, begin + to.stop - to.start)
            self.indices[to], self.data[to] = indices[own], data[own]

        run_blocks(copy, wave)


def _grown(array: NDArray[Any], size: int) -> NDArray[Any]:
    """Grow an array. The first allocation is a new array, which keeps the huge pages that numpy requests."""
    if not len(array):
        return np.empty(size, array.dtype)
    array.resize(size, refcheck=False)
    return array


@jit
def _max_entries(
    first: int,
    last: int,
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    row_indptr: NDArray[np.int64],
    columns: int,
) -> int:
    upper_bound = 0
    for row in range(np.uint64(first), np.uint64(last)):
        added = 0
        for at in range(np.uint64(indptr[row]), np.uint64(indptr[row + _ONE])):
            other = np.uint64(indices[at])
            added += row_indptr[other + _ONE] - row_indptr[other]
            if added >= columns:
                break
        upper_bound += min(added, columns)
    return upper_bound


@jit_fastmath
def _squares(values: NDArray[np.float32], begin: np.uint64, count: np.uint64) -> float:
    total = 0.0
    for i in range(count):
        total += np.float64(values[begin + i]) * np.float64(values[begin + i])
    return total


@jit_inline
def _first_threshold(
    squares: float, share: float, columns: int, row: np.uint64, thresholds: NDArray[np.float32]
) -> np.float32:
    """The threshold of a row from the sum of its squares; it is stored if the row has entries."""
    threshold = np.float32(share * np.sqrt(squares) / np.sqrt(columns))
    if squares > 0:
        thresholds[row] = threshold
    return threshold


@jit_inline
def _write_above(
    sums: NDArray[np.float32],
    group: np.uint64,
    threshold: np.float32,
    out_indices: NDArray[np.int32],
    out_data: NDArray[np.float32],
    end: np.uint64,
) -> np.uint64:
    """Write the sums of a group that exceed the threshold and clear all; return where the row now ends."""
    begin = group * GROUP
    rest = larger_mask(sums, begin, threshold)
    while rest:
        place = begin + lowest_bit(rest)
        value = sums[place]
        kept = abs(value) - threshold
        out_indices[end], out_data[end] = place, kept if value > 0 else -kept
        rest &= rest - _ONE
        end += _ONE
    for column in range(GROUP):
        sums[begin + column] = 0
    return end


@jit
def _thresholded_rows(
    first: int,
    last: int,
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    data: NDArray[np.float32],
    begins: NDArray[np.int64],
    ends: NDArray[np.int64],
    row_indices: NDArray[np.int32],
    row_data: NDArray[np.float32],
    dense: NDArray[np.float32],
    columns: int,
    thresholds: NDArray[np.float32],
    share: float,
    length: float,
    scratch: RowSums,
    out_indices: NDArray[np.int32],
    out_data: NDArray[np.float32],
    lengths: NDArray[np.int64],
    gains: NDArray[np.float64],
) -> None:
    """Compute rows `first` … `last` − 1 from sparse rows or, if `dense` is not empty, from dense rows."""
    sums, marks, words, groups = scratch
    last_entry, end = np.uint64(indptr[last]), np.uint64(0)
    is_sparse = len(dense) == 0
    for row in range(np.uint64(first), np.uint64(last)):
        begin, stop = np.uint64(indptr[row]), np.uint64(indptr[row + _ONE])
        start, threshold = end, thresholds[row]
        if is_sparse and stop - begin == _ONE:  # the most common case: nothing to sum
            prefetch_ahead(begin, last_entry, indices, begins, ends, row_indices, row_data)
            factor, other = data[begin], np.uint64(indices[begin])
            source, entries = np.uint64(begins[other]), np.uint64(ends[other] - begins[other])
            if threshold < 0:
                squares = np.float64(factor) * np.float64(factor) * _squares(row_data, source, entries)
                threshold = _first_threshold(squares, share, columns, row, thresholds)
            for entry in range(source, source + entries):  # always written, to avoid branches
                value = factor * row_data[entry]
                kept = abs(value) - threshold
                out_indices[end], out_data[end] = row_indices[entry], kept if value > 0 else -kept
                end += _ONE if kept > 0 else _ZERO
        elif begin < stop:
            if is_sparse:
                count = add_sparse_rows(
                    begin, stop, last_entry, indices, data, begins, ends, row_indices, row_data,
                    sums, marks, words, groups,
                )  # fmt: skip
            else:
                count = add_dense_rows(begin, stop, indices, data, dense, sums, groups)
            if threshold < 0:
                squares = 0.0
                for i in range(count):
                    squares += _squares(sums, np.uint64(groups[i]) * GROUP, GROUP)
                threshold = _first_threshold(squares, share, columns, row, thresholds)
            for i in range(count):
                group = np.uint64(groups[i])
                end = _write_above(sums, group, threshold, out_indices, out_data, end)
        gains[row] = np.sqrt(_squares(out_data, start, end - start))
        if length >= 0 and end > start:
            scale = np.float32(length / gains[row])
            for at in range(start, end):
                out_data[at] *= scale
        lengths[row + _ONE] = end - start
