"""Vector propagation (paper 003 §2): weighted sums of sparse rows, pruned to the K largest entries.

One half-step is Y = norm(top_K(W X)): prune first, normalise after. Every result row is added up in a
dense array of sums with a list of the terms touched, and chosen from by `topk`. Ties for the last places
go to the smaller hash of the term, then to the smaller term.

The kernel `propagate_block` is a plain function of arrays for a range of rows, with one thread; the other
functions run it on all threads.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coclick.kernels.inlined import inlined
from coclick.kernels.jit import jit
from coclick.kernels.lanes import LANES, rank_lanes
from coclick.kernels.packed import GROUP, PackedRows, fill_group, row_start
from coclick.kernels.prefetch import prefetch
from coclick.kernels.threads import balanced_blocks, run_blocks, threads
from coclick.kernels.topk import ONE, ZERO, TopK, keep_largest, make_top_k
from coclick.sparse import Csr

Done = Callable[[int], None]

_AHEAD = np.uint64(16)  # edges between the row that is prefetched and the one that is read
_LINE = np.uint64(16)  # uint32 numbers in a cache line
_TWO, _GROUP_ROOM = np.uint64(2), np.uint64(2 * GROUP)
_FEW = np.uint64(256)  # terms that are sorted by comparing each with each
_BLOCKS_A_THREAD = 32


class Scratch(NamedTuple):
    """What one thread needs to add up rows: sums of all terms, zero between rows, and a choice."""

    sums: NDArray[np.float32]
    top: TopK
    ranks: NDArray[np.uint32]


def make_scratch(columns: int) -> Scratch:
    """Scratch memory for rows over `columns` terms."""
    sums = np.zeros(columns + GROUP, np.float32)
    sums[columns:] = 1.0  # the terms that fill up groups never look newly touched
    return Scratch(sums, make_top_k(columns + GROUP), np.empty(columns + LANES, np.uint32))


@inlined
def _first_row(
    entries: NDArray[np.uint32],
    values: NDArray[np.float32],
    start: np.uint64,
    count: np.uint64,
    weight: np.float32,
    terms: NDArray[np.uint32],
    sums_of_terms: NDArray[np.float32],
) -> None:
    """The first row of a sum: its terms are all new."""
    for entry in range(count):
        terms[entry] = entries[start + _TWO * entry]
        sums_of_terms[entry] = weight * values[start + _TWO * entry + ONE]


@inlined
def _add_row(
    entries: NDArray[np.uint32],
    values: NDArray[np.float32],
    start: np.uint64,
    count: np.uint64,
    weight: np.float32,
    sums: NDArray[np.float32],
    terms: NDArray[np.uint32],
    touched: np.uint64,
) -> np.uint64:
    """Add a row to the sums; the number of terms touched so far."""
    for group in range(start, start + _TWO * count, _GROUP_ROOM):
        for entry in range(GROUP):
            at = group + np.uint64(2 * entry)
            term = entries[at]
            added = weight * values[at + ONE]
            before = sums[term]
            terms[touched] = term
            touched += np.uint64((before == np.float32(0)) & (added > np.float32(0)))
            sums[term] = before + added
    return touched


@inlined
def _rank(terms: NDArray[np.uint32], count: np.uint64, ranks: NDArray[np.uint32]) -> None:
    """The place of each term in ascending order."""
    if count <= _FEW:
        for first in range(ZERO, count, np.uint64(LANES)):
            rank_lanes(terms, count, first, ranks)
    else:
        for rank, position in enumerate(np.argsort(terms[:count])):
            ranks[position] = rank


@inlined
def _scale(values: NDArray[np.float32], count: np.uint64) -> np.float32:
    """What makes the length of a row 1; two sums side by side, because each waits for its last addition."""
    even, odd = 0.0, 0.0
    for i in range(ZERO, count - (count & ONE), _TWO):
        even += np.float64(values[i]) * np.float64(values[i])
        odd += np.float64(values[i + ONE]) * np.float64(values[i + ONE])
    if count & ONE:
        even += np.float64(values[count - ONE]) * np.float64(values[count - ONE])
    squares = even + odd
    return np.float32(1.0 / np.sqrt(squares)) if squares > 0.0 else np.float32(1)


@inlined
def _write_row(
    terms: NDArray[np.uint32],
    values: NDArray[np.float32],
    count: np.uint64,
    ascend: bool,
    ranks: NDArray[np.uint32],
    normalise: bool,
    row: np.uint64,
    out: PackedRows,
) -> None:
    """Write a row by ascending term; `ascend` says that the terms ascend already."""
    out_entries, out_values, out_counts, out_starts, out_width, columns = out
    scale = _scale(values, count) if normalise else np.float32(1)
    start = row_start(out_width, out_starts, row)
    if ascend:
        for i in range(count):
            out_entries[start + _TWO * i] = terms[i]
            out_values[start + _TWO * i + ONE] = values[i] * scale
    else:
        _rank(terms, count, ranks)
        for i in range(count):
            at = start + _TWO * np.uint64(ranks[i])
            out_entries[at] = terms[i]
            out_values[at + ONE] = values[i] * scale
    fill_group(out_entries, out_values, columns, start, count)
    out_counts[row] = count


@jit
def propagate_block(
    first: int,
    last: int,
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    weights: NDArray[np.float32],
    rows: PackedRows,
    k: int,
    term_hash: NDArray[np.uint32],
    normalise: bool,
    scratch: Scratch,
    numbers: NDArray[np.int32],
    out: PackedRows,
) -> None:
    """Rows `first` … `last` − 1 of norm(top_K(W X)); W's weights are positive. Row i goes to `numbers[i]`."""
    entries, values, counts, starts, width, _ = rows
    sums, top, ranks = scratch
    terms, sums_of_terms, keys, kept_terms, kept_values, tied, tied_keys = top
    most = np.uint64(k)
    block_end = np.uint64(indptr[last])
    for row in range(np.uint64(first), np.uint64(last)):
        begin, end = np.uint64(indptr[row]), np.uint64(indptr[row + ONE])
        for edge in range(begin + _AHEAD, min(end + _AHEAD, block_end)):
            start = row_start(width, starts, np.uint64(indices[edge]))
            prefetch(entries, start)
            prefetch(entries, start + _LINE)
            prefetch(entries, start + _TWO * _LINE)
        touched = ZERO
        if begin < end:
            other = np.uint64(indices[begin])
            touched = np.uint64(counts[other])
            start = row_start(width, starts, other)
            _first_row(entries, values, start, touched, weights[begin], terms, sums_of_terms)
        single = end - begin <= ONE
        if not single:
            for i in range(touched):
                sums[terms[i]] = sums_of_terms[i]
            for edge in range(begin + ONE, end):
                other = np.uint64(indices[edge])
                start = row_start(width, starts, other)
                touched = _add_row(
                    entries, values, start, np.uint64(counts[other]), weights[edge], sums, terms, touched
                )
            for i in range(touched):
                term = terms[i]
                sums_of_terms[i] = sums[term]
                sums[term] = np.float32(0)
        number = np.uint64(numbers[row])
        if touched > most:
            keep_largest(
                terms, sums_of_terms, keys, touched, most, term_hash, kept_terms, kept_values, tied, tied_keys
            )
            _write_row(kept_terms, kept_values, most, single, ranks, normalise, number, out)
        else:
            _write_row(terms, sums_of_terms, touched, single, ranks, normalise, number, out)


def propagate(
    weights: Csr,
    rows: PackedRows,
    k: int,
    term_hash: NDArray[np.uint32],
    *,
    numbers: NDArray[np.int32] | None = None,
    normalise: bool = True,
    done: Done | None = None,
) -> PackedRows:
    """norm(top_K(W X)) for all rows of the weights, on all threads. Row i of W gives row `numbers[i]`."""
    if numbers is None:
        numbers = np.arange(weights.rows, dtype=np.int32)
    out = PackedRows.empty(weights.rows, k, rows.columns)
    spare: list[Scratch] = []

    def block(first: int, last: int) -> None:
        scratch = spare.pop() if spare else make_scratch(rows.columns)
        propagate_block(
            first, last, weights.indptr, weights.indices, weights.data, rows, k, term_hash, normalise,
            scratch, numbers, out,
        )  # fmt: skip
        spare.append(scratch)

    run_blocks(block, balanced_blocks(weights.indptr, _BLOCKS_A_THREAD * threads()), done)
    return out
