"""Products of sparse matrices whose rows are thresholded and scaled before they are stored.

A row of A B is added up in a dense array of sums. Every addition marks the group of sums that it touches, so
that thin rows leave most of the array unread, and reading the marked groups in order yields the columns in
order: nothing is sorted. Entries z become s = sign(z) · max(|z| − t, 0), with a threshold t for each row, and
the row is scaled to a given length, which makes it the exact minimiser

    length · s / ‖s‖  =  argmin over ‖l‖ ≤ length of  −z·l + t‖l‖₁        with the minimum  −length · ‖s‖
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coclick.kernels.inlined import inlined
from coclick.kernels.jit import jit
from coclick.kernels.prefetch import prefetch
from coclick.kernels.products import times_dense
from coclick.kernels.threads import balanced_blocks, run_blocks, threads
from coclick.sparse import Csr

Rows = Csr | NDArray[np.float32]  # sparse or dense

_BLOCKS_A_THREAD = 16
_ROOM = 1 << 25  # entries that a wave of blocks may have; memory that is not written to costs nothing
_THIN = 0.1  # of the entries: below, sparse rows are added faster than dense ones
_SHIFT = 4
_GROUP = 1 << _SHIFT  # sums in a cache line
_AHEAD = 8  # entries between the row that is prefetched and the one that is read
_NOTHING = np.zeros((0, 0), np.float32)


class Thresholded(NamedTuple):
    """Rows of a thresholded product."""

    rows: Csr
    thresholds: NDArray[np.float32]
    gains: NDArray[np.float64]  # ‖s‖ of each row


def times(left: Csr, right: Rows) -> Rows:
    """`left @ right`, sparse where that is thin and dense where it is not. Columns are not checked."""
    if not isinstance(right, Csr):
        return times_dense(left, right)
    if is_thin(left, right):
        return thresholded_product(left, right, np.zeros(left.rows, np.float32)).rows
    return times_sparse(left, right)


def is_thin(left: Csr, right: Csr) -> bool:
    """Whether `left @ right` surely has few entries."""
    _check(left, right)
    most = _room(0, left.rows, left.indptr, left.indices, right.indptr, right.columns)
    return most <= _THIN * left.rows * right.columns


def times_sparse(left: Csr, right: Csr) -> NDArray[np.float32]:
    """`left @ right` as a dense matrix. Columns are not checked."""
    _check(left, right)
    out = np.zeros((left.rows, right.columns), np.float32)

    def work(first: int, last: int) -> None:
        arrays = left.indptr, left.indices, left.data, right.indptr, right.indices, right.data
        _add_into(first, last, *arrays, out)

    run_blocks(work, balanced_blocks(left.indptr, 1 if threads() == 1 else _BLOCKS_A_THREAD * threads()))
    return out


def thresholded_product(
    left: Csr,
    right: Rows,
    thresholds: NDArray[np.float32],
    share: float = 0.0,
    length: float | None = None,
) -> Thresholded:
    """The rows of `left @ right`, each thresholded and, with a length, scaled to it.

    A negative threshold is not known yet: it becomes `share` times the root mean square of the row's entries,
    as soon as the row has any.
    """
    _check(left, right)
    columns = right.columns if isinstance(right, Csr) else right.shape[1]
    lengths = np.zeros(left.rows + 1, np.int64)
    thresholds, gains = thresholds.copy(), np.zeros(left.rows)
    groups = -(-columns // _GROUP)
    if isinstance(right, Csr):
        sparse, dense = (right.indptr, right.indices, right.data), _NOTHING
    else:
        none = Csr.empty(0, 0)
        sparse, dense = (none.indptr, none.indices, none.data), np.ascontiguousarray(right)

    def room(block: tuple[int, int]) -> int:
        if isinstance(right, Csr):
            return _room(*block, left.indptr, left.indices, right.indptr, columns)
        return (block[1] - block[0]) * columns

    found, values = np.empty(0, np.int32), np.empty(0, np.float32)
    for wave in _waves(balanced_blocks(left.indptr, _BLOCKS_A_THREAD * threads()), room):
        size = sum(last - first for first, last in wave.values())
        indices, data = np.empty(size, np.int32), np.empty(size, np.float32)

        def work(
            first: int,
            last: int,
            wave: dict[tuple[int, int], tuple[int, int]] = wave,
            indices: NDArray[np.int32] = indices,
            data: NDArray[np.float32] = data,
        ) -> None:
            own = slice(*wave[first, last])
            sums, marks = np.zeros(groups * _GROUP, np.float32), np.zeros(groups, np.uint8)
            _rows(
                first, last, left.indptr, left.indices, left.data, *sparse, dense, columns, thresholds, share,
                -1.0 if length is None else length, sums, marks, indices[own], data[own], lengths, gains,
            )  # fmt: skip

        run_blocks(work, wave)
        for (first, last), (begin, _) in wave.items():
            used = slice(begin, begin + int(lengths[first + 1 : last + 1].sum()))
            _append(found, indices[used])
            _append(values, data[used])
    return Thresholded(Csr(np.cumsum(lengths), found, values, columns), thresholds, gains)


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


def _check(left: Csr, right: Rows) -> None:
    rows = right.rows if isinstance(right, Csr) else len(right)
    if left.columns != rows:
        raise ValueError(f"{left.columns} columns do not fit {rows} rows")


@jit
def _room(
    first: int,
    last: int,
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    row_indptr: NDArray[np.int64],
    columns: int,
) -> int:
    """How many entries the rows of the product can have at most."""
    room = 0
    for row in range(first, last):
        added = 0
        for at in range(indptr[row], indptr[row + 1]):
            added += row_indptr[indices[at] + 1] - row_indptr[indices[at]]
            if added >= columns:
                break
        room += min(added, columns)
    return room


@jit
def _add_into(
    first: int,
    last: int,
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    data: NDArray[np.float32],
    row_indptr: NDArray[np.int64],
    row_indices: NDArray[np.int32],
    row_data: NDArray[np.float32],
    out: NDArray[np.float32],
) -> None:
    for row in range(first, last):
        sums = out[row]
        for at in range(indptr[row], indptr[row + 1]):
            value, other = data[at], indices[at]
            for entry in range(row_indptr[other], row_indptr[other + 1]):
                sums[row_indices[entry]] += value * row_data[entry]


@inlined
def _add_sparse(
    begin: int,
    end: int,
    last: int,
    indices: NDArray[np.int32],
    data: NDArray[np.float32],
    row_indptr: NDArray[np.int64],
    row_indices: NDArray[np.int32],
    row_data: NDArray[np.float32],
    sums: NDArray[np.float32],
    marks: NDArray[np.uint8],
) -> None:
    for at in range(begin, end):
        if at + _AHEAD < last:
            soon = row_indptr[indices[at + _AHEAD]]
            prefetch(row_indices, soon)
            prefetch(row_data, soon)
        value, other = data[at], indices[at]
        for entry in range(row_indptr[other], row_indptr[other + 1]):
            column = np.uint32(row_indices[entry])
            sums[column] += value * row_data[entry]
            marks[column >> np.uint32(_SHIFT)] = 1


@inlined
def _add_dense(
    begin: int,
    end: int,
    indices: NDArray[np.int32],
    data: NDArray[np.float32],
    dense: NDArray[np.float32],
    sums: NDArray[np.float32],
    marks: NDArray[np.uint8],
) -> None:
    for at in range(begin, end):
        value, source = data[at], dense[indices[at]]
        for column in range(len(source)):
            sums[column] += value * source[column]
    if begin < end:
        marks[:] = 1


@inlined
def _root_mean_square(sums: NDArray[np.float32], marks: NDArray[np.uint8], columns: int) -> float:
    squares = 0.0
    for group in range(len(marks)):
        if marks[group]:
            for column in range(group * _GROUP, (group + 1) * _GROUP):
                squares += np.float64(sums[column]) * np.float64(sums[column])
    return float(np.sqrt(squares / columns))


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
    columns: int,
    thresholds: NDArray[np.float32],
    share: float,
    length: float,
    sums: NDArray[np.float32],
    marks: NDArray[np.uint8],
    out_indices: NDArray[np.int32],
    out_data: NDArray[np.float32],
    lengths: NDArray[np.int64],
    gains: NDArray[np.float64],
) -> int:
    """Rows `first` … `last` − 1, of sparse rows or, where there are some, of dense ones; entries written."""
    is_dense = len(dense) > 0
    end = 0
    for row in range(first, last):
        if is_dense:
            _add_dense(indptr[row], indptr[row + 1], indices, data, dense, sums, marks)
        else:
            _add_sparse(
                indptr[row], indptr[row + 1], indptr[last], indices, data, row_indptr, row_indices, row_data,
                sums, marks,
            )  # fmt: skip
        threshold = thresholds[row]
        if threshold < 0:
            size = _root_mean_square(sums, marks, columns)
            threshold = np.float32(share * size)
            if size > 0:
                thresholds[row] = threshold
        start, squares = end, 0.0
        for group in range(len(marks)):
            if not marks[group]:
                continue
            marks[group] = 0
            for column in range(group * _GROUP, (group + 1) * _GROUP):
                found = sums[column]
                sums[column] = 0
                kept = abs(found) - threshold
                if kept > 0:
                    out_indices[end] = column
                    out_data[end] = kept if found > 0 else -kept
                    end += 1
                    squares += np.float64(kept) * np.float64(kept)
        gains[row] = np.sqrt(squares)
        if length >= 0 and end > start:
            scale = np.float32(length / gains[row])
            for at in range(start, end):
                out_data[at] *= scale
        lengths[row + 1] = end - start
    return end
