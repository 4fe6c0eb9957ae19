"""Postings of sparse vectors: a list for each term, heaviest first.

Postings refer to places, the positions of rows in the order by similarity (blocks.py), not to rows.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coclick.errors import corrupt_error
from coclick.jit.compiler import jit
from coclick.jit.threads import balanced_blocks, run_blocks, threads

MAX_INSERTION = 48  # lists up to this length are sorted by insertion


class Postings(NamedTuple):
    """For each term the places of its rows, by descending weight, then by ascending place."""

    indptr: NDArray[np.int64]
    places: NDArray[np.int32]
    weights: NDArray[np.float32]


def count_terms(indptr: NDArray[np.int64], indices: NDArray[np.int32], terms: int) -> NDArray[np.int64]:
    """Return the number of rows that contain each term."""
    counts = np.zeros(terms, np.int64)
    rows = np.arange(len(indptr) - 1, dtype=np.int32)
    if not _count(indptr, indices, rows, 0, len(rows), counts):
        raise corrupt_error("the index is")
    return counts


def build_postings(
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    data: NDArray[np.float32],
    terms: int,
    order: NDArray[np.int32],
) -> Postings:
    """Build the postings of a sparse matrix without negative values, with its rows in this order.

    Needs little memory beyond the result: positions by block and term, and one list to sort.
    """
    if len(data) and not data.min() >= 0.0:
        raise ValueError("weights must not be negative")
    ends = np.zeros(len(order) + 1, np.int64)
    np.cumsum(np.diff(indptr)[order], out=ends[1:])
    blocks = balanced_blocks(ends, threads())
    number = {first: i for i, (first, _) in enumerate(blocks)}
    counts = np.zeros((len(blocks), terms), np.int64)

    def count(first: int, last: int) -> None:
        if not _count(indptr, indices, order, first, last, counts[number[first]]):
            raise corrupt_error("the index is")

    run_blocks(count, blocks)
    post_indptr = np.zeros(terms + 1, np.int64)
    np.cumsum(counts.sum(axis=0), out=post_indptr[1:])
    starts = np.cumsum(counts, axis=0) - counts + post_indptr[:-1]
    places = np.empty(post_indptr[-1], np.int32)
    weights = np.empty(post_indptr[-1], np.float32)

    def scatter(first: int, last: int) -> None:
        _scatter(indptr, indices, data, order, first, last, starts[number[first]], places, weights)

    run_blocks(scatter, blocks)

    def sort(first: int, last: int) -> None:
        _sort_lists(post_indptr, first, last, places, weights.view(np.uint32))

    run_blocks(sort, balanced_blocks(post_indptr, 8 * threads()))
    return Postings(post_indptr, places, weights)


@jit
def _count(
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    order: NDArray[np.int32],
    first: int,
    last: int,
    counts: NDArray[np.int64],
) -> bool:
    """Count the terms in the rows of a range of places; return False for damage."""
    for row in order[first:last]:
        if indptr[row] < 0 or indptr[row + 1] > len(indices):
            return False
        for at in range(indptr[row], indptr[row + 1]):
            if indices[at] < 0 or indices[at] >= len(counts):
                return False
            counts[indices[at]] += 1
    return True


@jit
def _scatter(
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    data: NDArray[np.float32],
    order: NDArray[np.int32],
    first: int,
    last: int,
    nexts: NDArray[np.int64],
    post_places: NDArray[np.int32],
    post_weights: NDArray[np.float32],
) -> None:
    """Append the rows of a range of places to the lists of their terms."""
    for place in range(first, last):
        for at in range(indptr[order[place]], indptr[order[place] + 1]):
            end = nexts[indices[at]]
            nexts[indices[at]] = end + 1
            post_places[end] = place
            post_weights[end] = data[at]


@jit
def _sort_lists(
    post_indptr: NDArray[np.int64],
    first: int,
    last: int,
    places: NDArray[np.int32],
    bits: NDArray[np.uint32],
) -> None:
    """Sort lists by descending weight; places ascend already, and the sort is stable.

    `bits` are the weights' bits: as integers they have the order of the floats. Long lists are sorted by
    radix, with bits and place in one number.
    """
    longest = 0
    for term in range(first, last):
        longest = max(longest, post_indptr[term + 1] - post_indptr[term])
    keys = np.empty(longest, np.uint64)
    sorted_keys = np.empty(longest, np.uint64)
    ends = np.empty(257, np.int64)
    for term in range(first, last):
        start, length = post_indptr[term], post_indptr[term + 1] - post_indptr[term]
        if length <= MAX_INSERTION:
            _insertion_sort(places[start : start + length], bits[start : start + length])
            continue
        for i in range(length):
            keys[i] = np.uint64(~bits[start + i]) << np.uint64(32) | np.uint64(places[start + i])
        for shift in (32, 40, 48, 56):
            ends[:] = 0
            for i in range(length):
                ends[(keys[i] >> np.uint64(shift) & np.uint64(255)) + np.uint64(1)] += 1
            for byte in range(1, 257):
                ends[byte] += ends[byte - 1]
            for i in range(length):
                byte = keys[i] >> np.uint64(shift) & np.uint64(255)
                sorted_keys[ends[byte]] = keys[i]
                ends[byte] += 1
            keys, sorted_keys = sorted_keys, keys
        for i in range(length):
            places[start + i] = np.int32(keys[i] & np.uint64(0xFFFFFFFF))
            bits[start + i] = ~np.uint32(keys[i] >> np.uint64(32))


@jit
def _insertion_sort(places: NDArray[np.int32], bits: NDArray[np.uint32]) -> None:
    for i in range(1, len(places)):
        place, key = places[i], bits[i]
        at = i
        while at > 0 and bits[at - 1] < key:
            places[at], bits[at] = places[at - 1], bits[at - 1]
            at -= 1
        places[at], bits[at] = place, key
