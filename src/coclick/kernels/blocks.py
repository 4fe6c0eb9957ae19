"""Rows ordered by similarity, and the largest weight of each common term in every block of rows.

Posting lists of common terms are too long to read in every search. Instead, rows that share common terms are
placed next to each other. 8 rows form a strip, 32 rows a block, and each strip and block keeps the largest
weight of each common term. Summed over the common terms of a query, these bound the score of every row, and
few blocks reach the k-th best score: block-max pruning (Mallia et al., "Faster learned sparse retrieval with
block-max pruning", SIGIR 2024).

A weight is stored as a byte, in 255ths of the term's largest weight, rounded up. A place is the position of a
row in the new order.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coclick.jit.compiler import jit
from coclick.jit.threads import balanced_blocks, run_blocks, threads
from coclick.kernels.postings import Postings, build_postings, count_terms

STRIP = 8  # rows
BLOCK = 32  # rows
COMMON_SHARE = 256  # a term is common if more than one in so many rows has it
MIN_COMMON = 256  # and if its list is longer than this
QUANT_LEVELS = 255  # levels of a weight, relative to the term's largest
_KEY_TERMS = 3  # heaviest common terms of a row, which decide its place
_LEVELS = 8  # of weight in a sort key
_KEY_BASE = 1 << 20  # values of one part of a sort key


class Blocks(NamedTuple):
    """The order of the rows, and the largest weights of each common term by strip and by block."""

    order: NDArray[np.int32]  # rows by place
    common: NDArray[np.int32]  # terms, ascending
    strips: NDArray[np.uint8]  # by block, common term and strip
    blocks: NDArray[np.uint8]  # by common term and block


def block_count(rows: int) -> int:
    """Return the number of blocks of so many rows."""
    return -(-rows // BLOCK)


def build_blocks(
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    data: NDArray[np.float32],
    terms: int,
) -> tuple[Postings, Blocks]:
    """Build postings and blocks of a sparse matrix with `terms` columns and no negative values."""
    rows = len(indptr) - 1
    lengths = count_terms(indptr, indices, terms)
    common = np.flatnonzero(lengths > max(rows // COMMON_SHARE, MIN_COMMON)).astype(np.int32)
    keys = _keys(indptr, indices, data, common, terms)
    order = np.argsort(keys, kind="stable").astype(np.int32)
    postings = build_postings(indptr, indices, data, terms, order)
    by_strip = np.zeros((block_count(rows), len(common), BLOCK // STRIP), np.uint8)
    by_block = np.zeros((len(common), block_count(rows)), np.uint8)

    def keep_largest(first: int, last: int) -> None:
        _keep_largest(*postings, common[first:last], by_strip[:, first:last], by_block[first:last])

    ends = np.concatenate([[0], np.cumsum(lengths[common])])
    run_blocks(keep_largest, balanced_blocks(ends, 4 * threads()))
    return postings, Blocks(order, common, by_strip, by_block)


def _keys(
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    data: NDArray[np.float32],
    common: NDArray[np.int32],
    terms: int,
) -> NDArray[np.uint64]:
    """Sort keys of the rows: the heaviest common term and its level, then the next one, and so on."""
    lines = np.full(terms, -1, np.int32)
    lines[common] = np.arange(len(common))
    scales = np.zeros(len(common), np.float32)
    _find_largest(indices, data, lines, scales)
    keys = np.empty(len(indptr) - 1, np.uint64)

    def fill(first: int, last: int) -> None:
        _fill_keys(indptr, indices, data, lines, scales, first, last, keys)

    run_blocks(fill, balanced_blocks(indptr, threads()))
    return keys


@jit
def _find_largest(
    indices: NDArray[np.int32],
    data: NDArray[np.float32],
    lines: NDArray[np.int32],
    largest: NDArray[np.float32],
) -> None:
    for at in range(len(indices)):
        line = lines[indices[at]]
        if line >= 0:
            largest[line] = max(largest[line], data[at])


@jit
def _fill_keys(
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    data: NDArray[np.float32],
    lines: NDArray[np.int32],
    largest: NDArray[np.float32],
    first: int,
    last: int,
    keys: NDArray[np.uint64],
) -> None:
    heaviest = np.empty(_KEY_TERMS, np.int64)
    weights = np.empty(_KEY_TERMS, np.float32)
    for row in range(first, last):
        heaviest[:] = -1
        weights[:] = 0.0
        for at in range(indptr[row], indptr[row + 1]):
            line, weight = np.int64(lines[indices[at]]), data[at]
            if line < 0:
                continue
            for i in range(_KEY_TERMS):
                if weight > weights[i]:  # insert here; the lighter ones move down
                    line, heaviest[i] = heaviest[i], line
                    weight, weights[i] = weights[i], weight
        key = 0
        for i in range(_KEY_TERMS):
            part = _KEY_BASE - 1
            if heaviest[i] >= 0:
                level = int(_LEVELS * weights[i] / largest[heaviest[i]])
                part = min(_LEVELS * heaviest[i] + _LEVELS - min(level, _LEVELS - 1), _KEY_BASE - 2)
            key = key * _KEY_BASE + part
        keys[row] = key


@jit
def _keep_largest(
    post_indptr: NDArray[np.int64],
    post_places: NDArray[np.int32],
    post_weights: NDArray[np.float32],
    terms: NDArray[np.int32],
    by_strip: NDArray[np.uint8],
    by_block: NDArray[np.uint8],
) -> None:
    for line in range(len(terms)):
        start, end = post_indptr[terms[line]], post_indptr[terms[line] + 1]
        largest = np.float64(post_weights[start])
        for at in range(start, end):
            if post_weights[at] > 0.0:
                share = np.uint8(
                    min(QUANT_LEVELS, math.ceil(QUANT_LEVELS * np.float64(post_weights[at]) / largest))
                )
                place = post_places[at]
                block, strip = place // BLOCK, place % BLOCK // STRIP
                by_strip[block, line, strip] = max(by_strip[block, line, strip], share)
                by_block[line, block] = max(by_block[line, block], share)
