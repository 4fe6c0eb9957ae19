"""Products of sparse matrices whose rows are thresholded and scaled before they are stored.

A row of A B is added up in a dense array of sums. While a row is thin, every addition sets the bit of its
column: the bits yield the columns that were touched in order, so that nothing is sorted and the others are
not read. Of a thick row all columns are read. Entries z become s = sign(z) · max(|z| − t, 0), with a
threshold t for each row, and the row is scaled to a given length, which makes it the exact minimiser

    length · s / ‖s‖  =  argmin over ‖l‖ ≤ length of  −z·l + t‖l‖₁        with the minimum  −length · ‖s‖
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coclick.kernels.bits import lowest_bit
from coclick.kernels.inlined import inlined
from coclick.kernels.jit import jit
from coclick.kernels.prefetch import prefetch
from coclick.kernels.threads import balanced_blocks, run_blocks, threads
from coclick.sparse import Csr

Rows = Csr | NDArray[np.float32]  # sparse or dense

_BLOCKS_A_THREAD = 16
_ROOM = 1 << 25  # entries that a wave of blocks may have; memory that is not written to costs nothing
_THICK = 2  # a row with more additions than one in so many columns is read as a whole
_AHEAD = 8  # entries between the row that is prefetched and the one that is read
_NOTHING = np.zeros((0, 0), np.float32)


class Thresholded(NamedTuple):
    """Rows of a thresholded product."""

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
    """The rows of `left @ right`, each thresholded and, with a length, scaled to it.

    A negative threshold is not known yet: it becomes `share` times the root mean square of the row's entries,
    as soon as the row has any. Columns are not checked.
    """
    check_fit(left, right)
    columns = right.columns if isinstance(right, Csr) else right.shape[1]
    lengths = np.zeros(left.rows + 1, np.int64)
    thresholds, gains = thresholds.copy(), np.zeros(left.rows)
    sparse = right if isinstance(right, Csr) else Csr.empty(0, 0)
    dense = _NOTHING if isinstance(right, Csr) else np.ascontiguousarray(right)
    factors = left.indptr, left.indices, left.data, sparse.indptr, sparse.indices, sparse.data, dense

    def room(block: tuple[int, int]) -> int:
        if isinstance(right, Csr):
            return 1 + most_entries(left, right, *block)
        return 1 + (block[1] - block[0]) * columns

    waves = list(_waves(balanced_blocks(left.indptr, _BLOCKS_A_THREAD * threads()), room))
    size = max((last for wave in waves for _, last in wave.values()), default=0)
    indices, data = np.empty(size, np.int32), np.empty(size, np.float32)  # of one wave after the other
    found, values = np.empty(0, np.int32), np.empty(0, np.float32)
    for wave in waves:

        def work(first: int, last: int, wave: dict[tuple[int, int], tuple[int, int]] = wave) -> None:
            own = slice(*wave[first, last])
            scale = -1.0 if length is None else length
            _rows(
                first, last, *factors, thresholds, share, scale, *_sums(columns),
                indices[own], data[own], lengths, gains,
            )  # fmt: skip

        run_blocks(work, wave)
        for (first, last), (begin, _) in wave.items():
            used = slice(begin, begin + int(lengths[first + 1 : last + 1].sum()))
            _append(found, indices[used])
            _append(values, data[used])
    return Thresholded(Csr(np.cumsum(lengths), found, values, columns), thresholds, gains)


def _sums(columns: int) -> tuple[NDArray[np.float32], NDArray[np.uint64], NDArray[np.uint32]]:
    """Where a row is added up: sums and bits of columns, all zero between rows, and room for a list."""
    words = -(-columns // 64)
    return np.zeros(columns, np.float32), np.zeros(words, np.uint64), np.zeros(columns, np.uint32)


def most_entries(left: Csr, right: Csr, first: int, last: int) -> int:
    """How many entries rows `first` … `last` − 1 of `left @ right` can have at most."""
    return _most_entries(first, last, left.indptr, left.indices, right.indptr, right.columns)


def check_fit(left: Csr, right: Rows) -> None:
    """Raise unless `right` has as many rows as `left` has columns."""
    rows = right.rows if isinstance(right, Csr) else len(right)
    if left.columns != rows:
        raise ValueError(f"{left.columns} columns do not fit {rows} rows")


def _waves(
    blocks: list[tuple[int, int]], room: Callable[[tuple[int, int]], int]
) -> Iterator[dict[tuple[int, int], tuple[int, int]]]:
    """Blocks that are worked on together, each with its place in their common room."""
    wave: dict[tuple[int, int], tuple[int, int]] = {}
    end = 0
    for block in blocks:
        needed = room(block)
        if wave and end + needed > _ROOM:
            yield wave
            wave, end = {}, 0
        wave[block] = end, end + needed
        end += needed
    if wave:
        yield wave


def _append(array: NDArray[Any], more: NDArray[Any]) -> None:
    """Grow an array in place: a large one is then in memory once, not twice as when parts are joined."""
    before = len(array)
    array.resize(before + len(more), refcheck=False)
    array[before:] = more


@jit
def _most_entries(
    first: int,
    last: int,
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    row_indptr: NDArray[np.int64],
    columns: int,
) -> int:
    most = 0
    for row in range(first, last):
        added = 0
        for at in range(indptr[row], indptr[row + 1]):
            added += row_indptr[indices[at] + 1] - row_indptr[indices[at]]
            if added >= columns:
                break
        most += min(added, columns)
    return most


@inlined
def _is_thin(begin: int, end: int, indices: NDArray[np.int32], indptr: NDArray[np.int64], most: int) -> bool:
    added = 0
    for at in range(begin, end):
        added += indptr[indices[at] + 1] - indptr[indices[at]]
        if added > most:
            return False
    return True


@inlined
def _prefetch_row(
    at: int,
    last: int,
    indices: NDArray[np.int32],
    row_indptr: NDArray[np.int64],
    row_indices: NDArray[np.int32],
    row_data: NDArray[np.float32],
) -> None:
    if at < last:
        soon = row_indptr[indices[at]]
        prefetch(row_indices, soon)
        prefetch(row_data, soon)


@inlined
def _add_rows(
    begin: int,
    end: int,
    last: int,
    indices: NDArray[np.int32],
    data: NDArray[np.float32],
    row_indptr: NDArray[np.int64],
    row_indices: NDArray[np.int32],
    row_data: NDArray[np.float32],
    sums: NDArray[np.float32],
    bits: NDArray[np.uint64],
    marks: bool,
) -> None:
    for at in range(begin, end):
        _prefetch_row(at + _AHEAD, last, indices, row_indptr, row_indices, row_data)
        value, other = data[at], indices[at]
        for entry in range(row_indptr[other], row_indptr[other + 1]):
            column = np.uint32(row_indices[entry])
            sums[column] += value * row_data[entry]
            if marks:
                bits[column >> np.uint32(6)] |= np.uint64(1) << np.uint64(column & np.uint32(63))


@inlined
def _add_dense(
    begin: int,
    end: int,
    indices: NDArray[np.int32],
    data: NDArray[np.float32],
    dense: NDArray[np.float32],
    sums: NDArray[np.float32],
) -> None:
    for at in range(begin, end):
        value, source = data[at], dense[indices[at]]
        for column in range(len(sums)):
            sums[column] += value * source[column]


@inlined
def _list_touched(bits: NDArray[np.uint64], touched: NDArray[np.uint32]) -> int:
    """Clear the bits, and list the columns of those that were set; how many there were."""
    count = 0
    for word in range(len(bits)):
        rest = bits[word]
        if rest:
            bits[word] = 0
            while rest:
                touched[count] = np.uint64(64) * np.uint64(word) + lowest_bit(rest)
                rest &= rest - np.uint64(1)
                count += 1
    return count


@inlined
def _size(row: NDArray[np.float32], begin: int, end: int) -> float:
    squares = 0.0
    for at in range(begin, end):
        squares += np.float64(row[at]) * np.float64(row[at])
    return float(np.sqrt(squares))


@jit
def _rows(
    first: int,
    last: int,
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    data: NDArray[np.float32],
    row_indptr: NDArray[np.int64],
    row_indices: NDArray[np.int32],
    row_data: NDArray[np.float32],
    dense: NDArray[np.float32],
    thresholds: NDArray[np.float32],
    share: float,
    length: float,
    sums: NDArray[np.float32],
    bits: NDArray[np.uint64],
    touched: NDArray[np.uint32],
    out_indices: NDArray[np.int32],
    out_data: NDArray[np.float32],
    lengths: NDArray[np.int64],
    gains: NDArray[np.float64],
) -> None:
    """Rows `first` … `last` − 1, of sparse rows or, where there are some, of dense ones.

    Entries are written whether they are kept or not, the next one over those that are not: no jumps.
    """
    columns = len(sums)
    end = 0
    for row in range(first, last):
        begin, stop = indptr[row], indptr[row + 1]
        rows = indices, data, row_indptr, row_indices, row_data
        start, threshold = end, thresholds[row]
        least = max(threshold, np.float32(0))
        is_sparse = len(dense) == 0
        if is_sparse and stop - begin == 1:  # as most rows are: nothing is added up
            factor, other = data[begin], indices[begin]
            for entry in range(row_indptr[other], row_indptr[other + 1]):
                value = factor * row_data[entry]
                out_indices[end], out_data[end] = row_indices[entry], value
                end += abs(value) > least
        elif is_sparse and _is_thin(begin, stop, indices, row_indptr, columns // _THICK):
            _add_rows(begin, stop, indptr[last], *rows, sums, bits, True)
            for listed in range(_list_touched(bits, touched)):
                place = touched[listed]
                value = sums[place]
                sums[place] = 0
                out_indices[end], out_data[end] = place, value
                end += abs(value) > least
        else:
            if is_sparse:
                _add_rows(begin, stop, indptr[last], *rows, sums, bits, False)
            else:
                _add_dense(begin, stop, indices, data, dense, sums)
            for column in range(columns):
                value = sums[column]
                sums[column] = 0
                out_indices[end], out_data[end] = column, value
                end += abs(value) > least
        if threshold < 0:
            size = _size(out_data, start, end)
            threshold = np.float32(share * size / np.sqrt(columns))
            if size > 0:
                thresholds[row] = threshold
        if threshold > 0:
            written, end = end, start
            for at in range(start, written):
                value = out_data[at]
                kept = abs(value) - threshold
                out_indices[end] = out_indices[at]
                out_data[end] = kept if value > 0 else -kept
                end += kept > 0
        gains[row] = _size(out_data, start, end)
        if length >= 0 and end > start:
            scale = np.float32(length / gains[row])
            for at in range(start, end):
                out_data[at] *= scale
        lengths[row + 1] = end - start
