"""Vector propagation (Jiang et al. 2016, §2): weighted sums of sparse rows, pruned to the K largest entries.

One half-step is Y = norm(top_K(W X)): prune first, normalise after. Ties for the last places go to the
smaller term.

Rows go through three steps in small batches: each is summed in a dense array, with a list of the terms
touched; pruned; and written. One step writes single numbers and the next reads them as vectors, which stalls
the processor until the writes are done. Batches avoid three such stalls for every row.

The kernel `propagate_block` works on a range of rows with one thread; `propagate` runs it on all threads.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coclick.arrays.csr import Csr
from coclick.jit.compiler import jit_inline, jit_noalloc
from coclick.jit.intrinsics import prefetch
from coclick.jit.selection import ONE, VECTOR, ZERO, keep_largest, padded, rank
from coclick.jit.threads import balanced_blocks, run_blocks, threads
from coclick.kernels.packed import (
    GROUP,
    PackedRows,
    placed,
    prefetch_row,
    row_count,
    row_start,
    whole_groups,
)

Done = Callable[[int], None]

# Distance in edges between reading a row and prefetching it, and prefetching the sums of its terms.
_AHEAD, _SUMS_AHEAD = np.uint64(16), np.uint64(8)
_TWO, _GROUP = np.uint64(2), np.uint64(GROUP)
# A batch has at most so many rows, or about so many entries: it has to stay in the cache.
_BATCH_ROWS, _BATCH_ENTRIES = np.uint64(32), np.uint64(4096)
_COPY = np.uint64(1 << 32)  # instead of a count: the row is a copy of the row at `start`
_BLOCKS_PER_THREAD = 32
_MIN_BLOCK_WORK = 16_384  # rows and edges that are worth a task of their own


class PropagationScratch(NamedTuple):
    """Working memory of one thread."""

    sums: NDArray[np.float32]  # of all terms, zero between rows
    terms: NDArray[np.uint32]  # terms touched, row after row
    values: NDArray[np.float32]  # their sums
    keys: NDArray[np.int32]  # the values' bits
    upcoming: NDArray[np.uint64]  # the rows of the next edges
    starts: NDArray[np.uint64]  # where the terms of each row begin, and their number
    counts: NDArray[np.uint64]
    room: NDArray[np.uint64]  # for one row
    ranks: NDArray[np.uint32]


def make_scratch(columns: int) -> PropagationScratch:
    """Allocate working memory for rows over `columns` terms."""
    sums = np.zeros(columns + GROUP, np.float32)
    one_row = columns + 2 * GROUP + VECTOR
    room = int(_BATCH_ENTRIES) + one_row
    values = np.empty(room, np.float32)
    return PropagationScratch(
        sums,
        np.empty(room, np.uint32),
        values,
        values.view(np.int32),
        np.empty(int(_AHEAD), np.uint64),
        np.empty(int(_BATCH_ROWS), np.uint64),
        np.empty(int(_BATCH_ROWS), np.uint64),
        np.empty(one_row, np.uint64),
        np.empty(one_row, np.uint32),
    )


@jit_inline
def _next_row(
    edge: np.uint64,
    last: np.uint64,
    indices: NDArray[np.int32],
    rows: PackedRows,
    upcoming: NDArray[np.uint64],
    sums: NDArray[np.float32],
) -> np.uint64:
    """The row of an edge; rows and sums of later edges, up to the `last`, are prefetched."""
    prefetch(rows.where, np.uint64(indices[min(edge + _AHEAD + _AHEAD, last)]))
    soon = rows.where[np.uint64(indices[min(edge + _AHEAD, last)])]
    prefetch_row(rows.entries, soon)
    slot = edge & (_AHEAD - ONE)
    where = upcoming[slot]
    upcoming[slot] = soon
    _prefetch_sums(rows, upcoming[(edge + _SUMS_AHEAD) & (_AHEAD - ONE)], sums)
    return where


@jit_inline
def _prefetch_sums(rows: PackedRows, where: np.uint64, sums: NDArray[np.float32]) -> None:
    """Prefetch the sums of a row's terms, which for a large vocabulary are not in the cache."""
    start, count = row_start(where), row_count(where)
    for group in range(ZERO, count, _GROUP):
        for entry in range(GROUP):
            prefetch(sums, rows.entries[start + _TWO * (group + np.uint64(entry))])


@jit_inline
def _first_row(
    rows: PackedRows,
    where: np.uint64,
    weight: np.float32,
    sums: NDArray[np.float32],
    terms: NDArray[np.uint32],
    at: np.uint64,
) -> np.uint64:
    """Start a sum with its first row, whose terms are all new; return where the terms end."""
    start, count = row_start(where), row_count(where)
    for group in range(ZERO, count, _GROUP):
        for entry in range(GROUP):
            place = group + np.uint64(entry)
            term = rows.entries[start + _TWO * place]
            terms[at + place] = term
            sums[term] = weight * rows.values[start + _TWO * place + ONE]
    return at + count


@jit_inline
def _add_row(
    rows: PackedRows,
    where: np.uint64,
    weight: np.float32,
    sums: NDArray[np.float32],
    terms: NDArray[np.uint32],
    end: np.uint64,
) -> np.uint64:
    """Add a row to the sums; return where the terms touched so far end."""
    start, count = row_start(where), row_count(where)
    for group in range(ZERO, count, _GROUP):
        for entry in range(GROUP):
            place = start + _TWO * (group + np.uint64(entry))
            term = rows.entries[place]
            added = weight * rows.values[place + ONE]
            before = sums[term]
            terms[end] = term
            end += np.uint64((before == np.float32(0)) & (added > np.float32(0)))
            sums[term] = before + added
    return end


@jit_inline
def _scale(values: NDArray[np.float32], start: np.uint64, count: np.uint64, step: np.uint64) -> np.float32:
    """The factor that makes the length of a row 1; two independent sums avoid waiting for each addition."""
    even, odd = 0.0, 0.0
    for group in range(ZERO, count, _GROUP):
        for entry in range(0, GROUP, 2):
            place = start + step * (group + np.uint64(entry))
            even += np.float64(values[place]) * np.float64(values[place])
            odd += np.float64(values[place + step]) * np.float64(values[place + step])
    squares = even + odd
    return np.float32(1.0 / np.sqrt(squares)) if squares > 0.0 else np.float32(1)


@jit_inline
def _write_row(
    terms: NDArray[np.uint32],
    values: NDArray[np.float32],
    start: np.uint64,
    count: np.uint64,
    room: NDArray[np.uint64],
    ranks: NDArray[np.uint32],
    to: np.uint64,
    out: PackedRows,
) -> None:
    """Write a row in ascending order of terms, in whole groups."""
    for entry in range(GROUP):
        terms[start + count + np.uint64(entry)] = np.uint32(out.columns + entry)
        values[start + count + np.uint64(entry)] = np.float32(0)
    scale = _scale(values, start, count, ONE)
    rank(terms, start, whole_groups(count), room, ranks)
    for group in range(ZERO, count, _GROUP):
        for entry in range(GROUP):
            place = group + np.uint64(entry)
            at = to + _TWO * np.uint64(ranks[place])
            out.entries[at] = terms[start + place]
            out.values[at + ONE] = values[start + place] * scale


@jit_inline
def _copy_row(rows: PackedRows, where: np.uint64, to: np.uint64, out: PackedRows) -> np.uint64:
    """Write a row that is a multiple of one other; return its number of entries."""
    start, count = row_start(where), row_count(where)
    scale = _scale(rows.values, start + ONE, count, _TWO)
    for group in range(ZERO, count, _GROUP):
        for entry in range(GROUP):
            place = _TWO * (group + np.uint64(entry))
            out.entries[to + place] = rows.entries[start + place]
            out.values[to + place + ONE] = rows.values[start + place + ONE] * scale
    return count


@jit_noalloc
def propagate_block(
    first: int,
    last: int,
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    weights: NDArray[np.float32],
    rows: PackedRows,
    k: int,
    scratch: PropagationScratch,
    out: PackedRows,
) -> None:
    """Compute rows `first` … `last` − 1 of norm(top_K(W X)); the weights W are positive.

    They are written end to end, from where they would begin if all rows before them had k entries.
    """
    sums, terms, values, keys, upcoming, starts, counts, room, ranks = scratch
    max_terms, last_row = np.uint64(k), np.uint64(last)
    row, to = np.uint64(first), _TWO * np.uint64(first) * whole_groups(max_terms)
    edge, last_edge = np.uint64(indptr[first]), np.uint64(indptr[last]) - ONE
    if indptr[first] < indptr[last]:
        for early in range(edge, edge + _AHEAD):
            upcoming[early & (_AHEAD - ONE)] = rows.where[
                np.uint64(indices[min(np.uint64(early), last_edge)])
            ]
    while row < last_row:
        before, at = row, ZERO
        while row < last_row and row - before < _BATCH_ROWS and at < _BATCH_ENTRIES:
            end, touched = np.uint64(indptr[row + ONE]), at
            starts[row - before], counts[row - before] = at, ZERO
            if edge < end:
                where = _next_row(edge, last_edge, indices, rows, upcoming, sums)
                if edge + ONE == end and row_count(where) <= max_terms:
                    starts[row - before], counts[row - before] = where, _COPY
                else:
                    touched = _first_row(rows, where, weights[edge], sums, terms, at)
                    for other in range(edge + ONE, end):
                        where = _next_row(other, last_edge, indices, rows, upcoming, sums)
                        touched = _add_row(rows, where, weights[other], sums, terms, touched)
                    for i in range(at, touched):
                        values[i] = sums[terms[i]]
                        sums[terms[i]] = np.float32(0)
                    counts[row - before] = touched - at
            edge = end
            at += padded(touched - at + _GROUP)
            row += ONE
        for i in range(row - before):
            if max_terms < counts[i] < _COPY:
                keep_largest(terms, values, keys, starts[i], counts[i], max_terms, room, ranks)
                counts[i] = max_terms
        for i in range(row - before):
            count = counts[i]
            if count < _COPY:
                _write_row(terms, values, starts[i], count, room, ranks, to, out)
            else:
                count = _copy_row(rows, starts[i], to, out)
            out.where[before + i] = placed(to, count)
            to += _TWO * whole_groups(count)


def propagate(
    weights: Csr,
    rows: PackedRows,
    k: int,
    *,
    done: Done | None = None,
) -> PackedRows:
    """Return norm(top_K(W X)) for all rows of the weights, computed on all threads."""
    k = min(k, max(rows.columns, 1))  # memory is allocated for k entries per row
    out = PackedRows.empty(weights.rows, k, rows.columns)
    spare: list[PropagationScratch] = []

    def block(first: int, last: int) -> None:
        scratch = spare.pop() if spare else make_scratch(rows.columns)
        propagate_block(first, last, weights.indptr, weights.indices, weights.data, rows, k, scratch, out)
        spare.append(scratch)

    enough = (weights.rows + weights.nnz) // _MIN_BLOCK_WORK + 1
    run_blocks(block, balanced_blocks(weights.indptr, min(enough, _BLOCKS_PER_THREAD * threads())), done)
    return out
