"""Rows of sparse vectors turned into postings, and the searches over them."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coclick.errors import ArtefactError
from coclick.kernels import dots, threshold
from coclick.kernels.jit import jit
from coclick.kernels.threads import balanced_blocks, run_blocks, threads

TABLE = 1 << 20  # counters of a search, at most; small searches use few of them and stay in the cache
FEW = 2048  # so few allowed rows are scored one by one
SHORT = 48  # lists up to this length are sorted by insertion

EVERYTHING = np.empty(0, np.uint8)


class Postings(NamedTuple):
    """For each term its rows, by descending weight, then by ascending row."""

    indptr: NDArray[np.int64]
    rows: NDArray[np.int32]
    weights: NDArray[np.float32]


class Scratch:
    """Working memory for the searches of one thread over `rows` rows and `terms` terms."""

    def __init__(self, rows: int, terms: int) -> None:
        self.clock = np.zeros(1, np.uint8)  # counts searches, round and round
        self.stamps = np.zeros(rows, np.uint8)  # the search that last scored a row
        self.query = np.zeros(terms, np.float32)  # zeros between searches
        self.table = np.zeros(TABLE, np.float32)


def build_postings(
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    data: NDArray[np.float32],
    terms: int,
) -> Postings:
    """Postings of the rows of a sparse matrix with `terms` columns and no negative value.

    Needs little memory beyond the result: positions by block and term, and one list to sort.
    """
    if len(data) and not data.min() >= 0.0:
        raise ValueError("weights must not be negative")
    blocks = balanced_blocks(indptr, threads())
    number = {first: i for i, (first, _) in enumerate(blocks)}
    counts = np.zeros((len(blocks), terms), np.int64)

    def count(first: int, last: int) -> None:
        if not _count(indptr, indices, first, last, counts[number[first]]):
            raise _damaged()

    run_blocks(count, blocks)
    post_indptr = np.zeros(terms + 1, np.int64)
    np.cumsum(counts.sum(axis=0), out=post_indptr[1:])
    starts = np.cumsum(counts, axis=0) - counts + post_indptr[:-1]
    rows = np.empty(post_indptr[-1], np.int32)
    weights = np.empty(post_indptr[-1], np.float32)

    def scatter(first: int, last: int) -> None:
        _scatter(indptr, indices, data, first, last, starts[number[first]], rows, weights)

    run_blocks(scatter, blocks)

    def sort(first: int, last: int) -> None:
        _sort_lists(post_indptr, first, last, rows, weights.view(np.uint32))

    run_blocks(sort, balanced_blocks(post_indptr, 8 * threads()))
    return Postings(post_indptr, rows, weights)


def search(
    postings: Postings,
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    data: NDArray[np.float32],
    query_terms: NDArray[np.int32],
    query_weights: NDArray[np.float32],
    k: int,
    scratch: Scratch,
    max_norm: float = math.inf,
    allowed: NDArray[np.uint8] = EVERYTHING,
) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
    """The `k` rows with the largest dot products with the query, best first; ties by smaller row.

    Rows that score 0 are left out. Terms that do not exist and weights that are not positive are
    ignored. No row's L2 norm exceeds `max_norm`. `allowed` is not 0 for the rows that may be found.
    """
    rows = np.empty((1, min(k, len(indptr) - 1)), np.int32)
    scores = np.empty(rows.shape, np.float32)
    search_block(
        postings, indptr, indices, data, np.array([0, len(query_terms)]), query_terms, query_weights,
        0, 1, rows, scores, scratch, max_norm, allowed,
    )  # fmt: skip
    found = np.count_nonzero(scores)
    return rows[0, :found], scores[0, :found]


def search_block(
    postings: Postings,
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    data: NDArray[np.float32],
    query_indptr: NDArray[np.int64],
    query_terms: NDArray[np.int32],
    query_weights: NDArray[np.float32],
    first: int,
    last: int,
    rows: NDArray[np.int32],
    scores: NDArray[np.float32],
    scratch: Scratch,
    max_norm: float = math.inf,
    allowed: NDArray[np.uint8] = EVERYTHING,
) -> None:
    """`search` for the queries `first` … `last` − 1 of a sparse matrix, in one call without the GIL.

    Results go to the same rows of `rows` and `scores`, k wide, filled up with −1 and 0.
    """
    _check(len(indptr) - 1 <= len(scratch.stamps), "scratch for fewer rows")
    _check(len(allowed) in (0, len(indptr) - 1), "a mask needs an entry for each row")
    _check(last <= min(len(query_indptr) - 1, len(rows), len(scores)), "fewer queries than asked")
    if len(allowed) and np.count_nonzero(allowed) <= FEW:
        candidates = np.flatnonzero(allowed).astype(np.int32)
        for query in range(first, last):
            row = slice(query_indptr[query], query_indptr[query + 1])
            found, values = search_within(
                indptr, indices, data, query_terms[row], query_weights[row],
                candidates, rows.shape[1], scratch,
            )  # fmt: skip
            rows[query], scores[query] = -1, 0.0
            rows[query, : len(found)], scores[query, : len(found)] = found, values
        return
    if not threshold.search_range(
        *postings, indptr, indices, data, query_indptr, query_terms, query_weights,
        first, last, float(max_norm), allowed,
        scratch.clock, scratch.stamps, scratch.query, scratch.table, rows, scores,
    ):  # fmt: skip
        raise _damaged()


def search_within(
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    data: NDArray[np.float32],
    query_terms: NDArray[np.int32],
    query_weights: NDArray[np.float32],
    candidates: NDArray[np.int32],
    k: int,
    scratch: Scratch,
) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
    """`search` among the given rows, each named once: they are all scored."""
    scores = score_rows(indptr, indices, data, query_terms, query_weights, candidates, scratch)
    order = np.lexsort((candidates, -scores))[:k]
    order = order[scores[order] > 0.0]
    return candidates[order], scores[order]


def score_rows(
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    data: NDArray[np.float32],
    query_terms: NDArray[np.int32],
    query_weights: NDArray[np.float32],
    rows: NDArray[np.int32],
    scratch: Scratch,
) -> NDArray[np.float32]:
    """The dot products of given rows with the query, to the bit what `search` finds."""
    scores = np.empty(len(rows), np.float32)
    if not dots.score_rows(indptr, indices, data, query_terms, query_weights, rows, scratch.query, scores):
        raise _damaged()
    return scores


def _check(holds: bool, otherwise: str) -> None:
    if not holds:
        raise ValueError(otherwise)


def _damaged() -> ArtefactError:
    return ArtefactError("the index is damaged", hint="run `coclick verify`")


@jit
def _count(
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    first: int,
    last: int,
    counts: NDArray[np.int64],
) -> bool:
    """How often each term occurs in a range of rows; False for damage."""
    for row in range(first, last):
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
    first: int,
    last: int,
    nexts: NDArray[np.int64],
    post_rows: NDArray[np.int32],
    post_weights: NDArray[np.float32],
) -> None:
    """Append a range of rows to the lists of their terms."""
    for row in range(first, last):
        for at in range(indptr[row], indptr[row + 1]):
            place = nexts[indices[at]]
            nexts[indices[at]] = place + 1
            post_rows[place] = row
            post_weights[place] = data[at]


@jit
def _sort_lists(
    post_indptr: NDArray[np.int64],
    first: int,
    last: int,
    rows: NDArray[np.int32],
    bits: NDArray[np.uint32],
) -> None:
    """Sort lists by descending weight; their rows ascend already, and sorting is stable.

    `bits` are the weights' bits, which order non-negative floats as integers. Long lists are sorted
    byte by byte, with bits and row in one number.
    """
    longest = 0
    for term in range(first, last):
        longest = max(longest, post_indptr[term + 1] - post_indptr[term])
    keys = np.empty(longest, np.uint64)
    sorted_keys = np.empty(longest, np.uint64)
    ends = np.empty(257, np.int64)
    for term in range(first, last):
        start, length = post_indptr[term], post_indptr[term + 1] - post_indptr[term]
        if length <= SHORT:
            _insertion_sort(rows[start : start + length], bits[start : start + length])
            continue
        for i in range(length):
            keys[i] = np.uint64(~bits[start + i]) << np.uint64(32) | np.uint64(rows[start + i])
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
            rows[start + i] = np.int32(keys[i] & np.uint64(0xFFFFFFFF))
            bits[start + i] = ~np.uint32(keys[i] >> np.uint64(32))


@jit
def _insertion_sort(rows: NDArray[np.int32], bits: NDArray[np.uint32]) -> None:
    for i in range(1, len(rows)):
        row, key = rows[i], bits[i]
        at = i
        while at > 0 and bits[at - 1] < key:
            rows[at], bits[at] = rows[at - 1], bits[at - 1]
            at -= 1
        rows[at], bits[at] = row, key
