"""Exact top-k search over sparse vectors through postings and blocks."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from coclick.errors import corrupt_error
from coclick.kernels import blockmax, dots
from coclick.kernels.blocks import BLOCK, STRIP, Blocks, block_count
from coclick.kernels.postings import Postings

TABLE = 1 << 20  # counters of a search, at most; small searches use fewer and stay in the cache
FEW = 2048  # up to so many allowed rows are all scored

NO_MASK = np.empty(0, np.uint8)


class Scratch:
    """Working memory of one thread for searches over `rows` rows and `terms` terms."""

    def __init__(self, rows: int, terms: int) -> None:
        self.clock = np.zeros(1, np.uint8)  # number of the search, modulo 256
        self.stamps = np.zeros(rows, np.uint8)  # by place: the last search that scored it
        self.query = np.zeros(terms, np.float32)  # all zero between searches
        self.table = np.zeros(TABLE, np.float32)
        self.bounds = np.zeros(block_count(rows), np.int32)


def search(
    postings: Postings,
    blocks: Blocks,
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    data: NDArray[np.float32],
    query_terms: NDArray[np.int32],
    query_weights: NDArray[np.float32],
    k: int,
    scratch: Scratch,
    allowed: NDArray[np.uint8] = NO_MASK,
) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
    """Return the `k` rows with the largest dot products with the query, best first; ties by smaller row.

    Rows that score 0 are left out. Unknown terms and weights that are not positive are ignored. `allowed` is
    a mask of the rows that may be found.
    """
    rows = np.empty((1, min(k, len(indptr) - 1)), np.int32)
    scores = np.empty(rows.shape, np.float32)
    search_block(
        postings, blocks, indptr, indices, data, np.array([0, len(query_terms)]), query_terms, query_weights,
        0, 1, rows, scores, scratch, allowed,
    )  # fmt: skip
    found = np.count_nonzero(scores)
    return rows[0, :found], scores[0, :found]


def search_block(
    postings: Postings,
    blocks: Blocks,
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
    allowed: NDArray[np.uint8] = NO_MASK,
) -> None:
    """Run `search` for the queries `first` … `last` − 1 of a sparse matrix, in one call without the GIL.

    Results go to the same rows of `rows` and `scores`, which have k columns, padded with −1 and 0.
    """
    _require(len(indptr) - 1 == len(scratch.stamps), "the scratch memory is for another number of rows")
    _require(len(allowed) in (0, len(indptr) - 1), "the mask must have an entry for each row")
    _require(
        last <= min(len(query_indptr) - 1, len(rows), len(scores)), "there are fewer queries than requested"
    )
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
    if not _sizes_match(blocks, len(indptr) - 1) or not blockmax.search_range(
        postings, blocks, indptr, indices, data, query_indptr, query_terms, query_weights, first, last,
        allowed, scratch.clock, scratch.stamps, scratch.query, scratch.table, scratch.bounds, rows, scores,
    ):  # fmt: skip
        raise corrupt_error("the index is")


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
    """Run `search` among the given distinct rows by scoring all of them."""
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
    """Return the dot products of given rows with the query, bit by bit the scores of `search`."""
    scores = np.empty(len(rows), np.float32)
    if not dots.score_rows(indptr, indices, data, query_terms, query_weights, rows, scratch.query, scores):
        raise corrupt_error("the index is")
    return scores


def _sizes_match(blocks: Blocks, rows: int) -> bool:
    """Whether the arrays of the blocks have the right sizes for so many rows."""
    lines, count = len(blocks.common), block_count(rows)
    return (
        len(blocks.order) == rows
        and blocks.blocks.shape == (lines, count)
        and blocks.strips.shape == (count, lines, BLOCK // STRIP)
    )


def _require(condition: bool, message: str) -> None:
    if not condition:
        raise ValueError(message)
