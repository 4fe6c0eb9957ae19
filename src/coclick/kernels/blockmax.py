"""Exact top-k search over sparse non-negative vectors that reads only a small part of the index.

Posting lists of rare terms are short and are read. Lists of common terms are not: blocks.py bounds what these
terms add to a row by the maximum over its block, then over its strip.

1. Sum the bounds of the query's common terms for all blocks.
2. Read the lists of its rare terms and add them to a counter for each row.
3. Score the rows with the highest counter + bound through their own vectors. θ is the k-th best score.
4. Visit the blocks whose bound reaches θ, highest first, and score the rows of their strips that reach it
   too: the rows that match by their common terms alone.
5. Score the rows with a rare term whose counter + bound reaches θ.

The counters form a hash table that fits into the processor's cache. Collisions can only raise a bound, so no
result is lost.

Arrays may come from damaged files: every number read from them is checked before it is used as an index. The
score of a damaged row is NaN; functions that return a count return −1.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coclick.jit.compiler import jit, jit_inline, jit_noalloc
from coclick.jit.selection import best_first, push
from coclick.kernels.block_bounds import (
    TILE,
    CommonTerms,
    blocks_between,
    prefetch_strips,
    strip_bound,
    sum_bounds,
    sum_strips,
)
from coclick.kernels.blocks import BLOCK, QUANT_LEVELS, STRIP, Blocks
from coclick.kernels.dots import BATCH, clear_query, scatter_query
from coclick.kernels.postings import Postings
from coclick.kernels.scorer import Scorer, is_allowed, score_unstamped

MIN_HEAD = 16  # postings of each list that step 3 considers, at least
MIN_PROMISING = 16  # rows that step 3 scores, at least
LEVELS = 16  # steps in which blocks are visited, from the highest bound down
FIXED_POINT_ONE = 1 << 29  # bounds are integers: this is the highest possible one
ROUNDING = 1e-7  # relative error of a float32 operation
_BLOCK = np.uint64(BLOCK)  # unsigned: numba tests signed indices for negative values


class RareTerms(NamedTuple):
    """The posting lists to read, and the counters."""

    places: NDArray[np.int32]
    weights: NDArray[np.float32]
    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    query: NDArray[np.float64]
    table: NDArray[np.float32]


class Workspace(NamedTuple):
    """Working memory of one search."""

    promising: NDArray[np.int32]  # places of promising rows, a heap
    reaches: NDArray[np.float32]  # upper bounds of their scores
    strip_bounds: NDArray[np.int32]
    pending: NDArray[np.int32]  # places of rows to score
    listed: NDArray[np.int64]  # blocks or places to look at


@jit
def search_range(
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
    allowed: NDArray[np.uint8],
    clock: NDArray[np.uint8],
    stamps: NDArray[np.uint8],
    dense: NDArray[np.float32],
    table: NDArray[np.float32],
    bounds: NDArray[np.int32],
    rows: NDArray[np.int32],
    scores: NDArray[np.float32],
) -> bool:
    """Find the best rows for each query of a range, best first, padded with −1 and 0.

    An empty `allowed` permits every row. Return False for a damaged index.
    """
    for query in range(first, last):
        start, end = query_indptr[query], query_indptr[query + 1]
        if start < 0 or end < start or end > min(len(query_terms), len(query_weights)):
            return False
        terms = query_terms[start:end]
        clock[0] += 1
        if clock[0] == 0:  # overflow
            stamps[:] = 0
            clock[0] = 1
        rows[query, :] = -1
        scores[query, :] = 0.0
        scatter_query(terms, query_weights[start:end], dense)
        scorer = Scorer(
            blocks.order, indptr, indices, data, dense, allowed, stamps, clock[0], rows[query], scores[query]
        )
        found = _search(postings, blocks, terms, scorer, table, bounds)
        clear_query(terms, dense)
        if found < 0:
            return False
        best_first(scores[query], rows[query], found)
    return True


@jit
def _search(
    postings: Postings,
    blocks: Blocks,
    terms: NDArray[np.int32],
    scorer: Scorer,
    table: NDArray[np.float32],
    bounds: NDArray[np.int32],
) -> int:
    """Fill the heap of the best rows; return its size, or −1 for a damaged index."""
    starts = np.empty(len(terms), np.int64)
    ends = np.empty(len(terms), np.int64)
    query = np.empty(len(terms), np.float64)
    lines = np.empty(len(terms), np.int64)
    lists = _open_lists(postings, blocks.common, terms, scorer.query, starts, ends, query, lines)
    if lists <= 0 or len(scorer.rows) == 0:
        return min(lists, 0)
    if lists == 1:
        return _search_one_list(postings, starts[0], ends[0], query[0], scorer)

    # Move the rare lists to the front of their arrays, and the lines of common terms to the front of theirs.
    largest, common_total = 0.0, 0.0
    for i in range(lists):
        upper_bound = query[i] * postings.weights[starts[i]]
        largest += upper_bound
        common_total += upper_bound if lines[i] >= 0 else 0.0
    unit = common_total / FIXED_POINT_ONE
    steps = np.empty(lists, np.int32)
    count, reads = 0, 0
    for i in range(lists):
        if lines[i] < 0:
            starts[count], ends[count], query[count] = starts[i], ends[i], query[i]
            reads += ends[i] - starts[i]
            count += 1
        else:
            lines[i - count] = lines[i]
            steps[i - count] = np.int32(query[i] * postings.weights[starts[i]] / QUANT_LEVELS / unit) + 1
    rare = RareTerms(
        postings.places, postings.weights, starts[:count], ends[:count], query[:count], _cleared(table, reads)
    )
    peaks = np.empty(-(-len(bounds) // TILE), np.int32)
    slack = np.float32(ROUNDING * (lists + 10) * largest)
    common = CommonTerms(
        lines[: lists - count], steps[: lists - count], np.float32(unit), blocks.strips, bounds, peaks, slack
    )

    top = sum_bounds(common, blocks.blocks)
    _add_rare(rare)
    max_promising = max(MIN_PROMISING, 2 * len(scorer.rows))
    workspace = Workspace(
        np.empty(max_promising, np.int32), np.empty(max_promising, np.float32),
        np.empty(BLOCK // STRIP, np.int32), np.empty(BATCH, np.int32), np.empty(TILE, np.int64),
    )  # fmt: skip
    found = _score_promising(rare, common, scorer, workspace)
    if found >= 0:
        found = _visit_blocks(common, top, scorer, workspace, found)
    if found >= 0:
        found = _score_rare(rare, common, scorer, workspace, found)
    return found


@jit_noalloc
def _open_lists(
    postings: Postings,
    common: NDArray[np.int32],
    terms: NDArray[np.int32],
    dense: NDArray[np.float32],
    starts: NDArray[np.int64],
    ends: NDArray[np.int64],
    query: NDArray[np.float64],
    lines: NDArray[np.int64],
) -> int:
    """Find the distinct non-empty lists and the lines of common terms; return how many, or −1 for damage."""
    lists = 0
    count = min(len(postings.places), len(postings.weights))
    for term in terms:
        if term < 0 or term >= min(len(dense), len(postings.indptr) - 1) or dense[term] <= 0.0:
            continue
        start, end = postings.indptr[term], postings.indptr[term + 1]
        if start < 0 or end < start or end > count:
            return -1
        if end > start and postings.weights[start] > 0.0:
            starts[lists], ends[lists], query[lists] = start, end, dense[term]
            lines[lists] = _line_of(common, term)
            lists += 1
            dense[term] = -dense[term]  # marks the term as done
    for term in terms:
        if 0 <= term < len(dense):
            dense[term] = abs(dense[term])
    return lists


@jit_inline
def _line_of(common: NDArray[np.int32], term: int) -> int:
    """The position of a term among the common terms, which ascend; −1 if it is not common."""
    low, high = 0, len(common)
    while low < high:
        middle = (low + high) >> 1
        if common[middle] < term:
            low = middle + 1
        else:
            high = middle
    return low if low < len(common) and common[low] == term else -1


@jit_noalloc
def _search_one_list(postings: Postings, start: int, end: int, weight: float, scorer: Scorer) -> int:
    """Fill the heap for a query with a single list; return its size, or −1 for damage.

    The best rows are at the head of the list, and their vectors need not be read: that matters when
    thousands tie.
    """
    found = 0
    for at in range(start, end):
        value = np.float32(weight * np.float64(postings.weights[at]))
        if found == len(scorer.rows) and value < scorer.scores[0]:
            break
        place = postings.places[at]
        if not 0 <= place < len(scorer.order) or not 0 <= scorer.order[place] < len(scorer.order):
            return -1
        if value > 0.0 and is_allowed(scorer, place):
            found = push(scorer.scores, scorer.rows, found, value, scorer.order[place])
    return found


@jit
def _cleared(table: NDArray[np.float32], postings: int) -> NDArray[np.float32]:
    """A part of the table with at least two counters per posting, a power of two, set to zero."""
    size = 1024
    while size < 2 * postings and size < len(table):
        size *= 2
    used = table[:size]
    used[:] = 0.0
    return used


@jit_noalloc
def _add_rare(rare: RareTerms) -> None:
    """Add the contributions of the rare terms to the counters."""
    mask = np.uint32(len(rare.table) - 1)
    for i in range(len(rare.query)):
        weight = np.float32(rare.query[i])
        for at in range(np.uint64(rare.starts[i]), np.uint64(rare.ends[i])):
            rare.table[np.uint32(rare.places[at]) & mask] += weight * rare.weights[at]


@jit_noalloc
def _score_promising(rare: RareTerms, common: CommonTerms, scorer: Scorer, workspace: Workspace) -> int:
    """Score the most promising heads of lists; return the heap size, or −1 for damage.

    These have the highest counter + bound, and their counters turn negative. It is only a first guess, so
    rows that share a counter may displace each other.
    """
    mask = np.uint32(len(rare.table) - 1)
    promising, reaches = workspace.promising, workspace.reaches
    size = 0
    for i in range(len(rare.query)):
        for at in range(rare.starts[i], min(rare.starts[i] + max(MIN_HEAD, len(scorer.rows)), rare.ends[i])):
            place = rare.places[at]
            if not 0 <= place < len(scorer.order):
                return -1
            value = rare.table[np.uint32(place) & mask]
            reach = value + common.unit * np.float32(common.bounds[place // BLOCK])
            if value <= 0.0 or (size == len(promising) and reach <= reaches[0]):
                continue
            rare.table[np.uint32(place) & mask] = -value
            if is_allowed(scorer, place):
                size = push(reaches, promising, size, reach, place)
    return score_unstamped(scorer, promising[:size], 0)


@jit_noalloc
def _visit_blocks(common: CommonTerms, top: int, scorer: Scorer, workspace: Workspace, found: int) -> int:
    """Add the rows that belong in the heap by their common terms; return its size, or −1 for damage."""
    strip_bounds, pending, listed = workspace.strip_bounds, workspace.pending, workspace.listed
    n_pending = 0
    min_bound = _min_bound(common, scorer, found)
    below = top + 1
    while below > min_bound:
        level = max(min_bound, below - 1 - top // LEVELS)
        for tile in range(len(common.peaks)):
            if common.peaks[tile] < level:
                continue
            count, common.peaks[tile] = blocks_between(common.bounds, tile, level, below, listed)
            for block in listed[:count]:
                prefetch_strips(common, block)
            for block in listed[:count]:
                if common.bounds[block] < min_bound:
                    continue
                sum_strips(common, block, strip_bounds)
                for strip in range(BLOCK // STRIP):
                    if strip_bounds[strip] < min_bound:
                        continue
                    first = block * BLOCK + strip * STRIP
                    for place in range(first, min(first + STRIP, len(scorer.order))):
                        if is_allowed(scorer, place):
                            pending[n_pending] = place
                            n_pending += 1
                    if n_pending > BATCH - STRIP:
                        found = score_unstamped(scorer, pending[:n_pending], found)
                        if found < 0:
                            return -1
                        n_pending = 0
                        min_bound = _min_bound(common, scorer, found)
        below = level
    return score_unstamped(scorer, pending[:n_pending], found)


@jit_noalloc
def _score_rare(
    rare: RareTerms, common: CommonTerms, scorer: Scorer, workspace: Workspace, found: int
) -> int:
    """Add the rows with a rare term that belong in the heap; return its size, or −1 for damage."""
    pending, listed = workspace.pending, workspace.listed
    n_pending = 0
    full = len(scorer.rows)
    cut = scorer.scores[0] - common.slack if found == full else np.float32(-1.0)
    for i in range(len(rare.query)):
        for first in range(rare.starts[i], rare.ends[i], TILE):
            count = _list_reaching(
                rare, common, len(scorer.order), first, min(first + TILE, rare.ends[i]), cut, listed
            )
            if count < 0:
                return -1
            for place in listed[:count]:
                prefetch_strips(common, place // BLOCK)
            for place in listed[:count]:
                value = abs(rare.table[place & (len(rare.table) - 1)])
                if value + common.unit * np.float32(strip_bound(common, place)) < cut:
                    continue
                if not is_allowed(scorer, place):
                    continue
                pending[n_pending] = place
                n_pending += 1
                if n_pending == BATCH:
                    found = score_unstamped(scorer, pending, found)
                    if found < 0:
                        return -1
                    n_pending = 0
                    if found == full:
                        cut = scorer.scores[0] - common.slack
    return score_unstamped(scorer, pending[:n_pending], found)


@jit_inline
def _list_reaching(
    rare: RareTerms,
    common: CommonTerms,
    rows: int,
    first: int,
    last: int,
    cut: np.float32,
    listed: NDArray[np.int64],
) -> int:
    """List the places of postings whose counter + bound reaches `cut`; return how many, or −1 for damage.

    Without branches: every place is written, and the next one overwrites it if it does not reach the cut.
    """
    mask, last_row, highest = np.uint64(len(rare.table) - 1), np.uint64(rows - 1), np.uint64(0)
    count = np.uint64(0)
    for at in range(np.uint64(first), np.uint64(last)):
        given = np.uint64(rare.places[at])  # a negative number becomes larger than all rows
        highest = max(highest, given)
        place = min(given, last_row)
        reach = abs(rare.table[place & mask]) + common.unit * np.float32(common.bounds[place // _BLOCK])
        listed[count] = place
        count += np.uint64(not reach < cut)
    return int(count) if highest <= last_row else -1


@jit_inline
def _min_bound(common: CommonTerms, scorer: Scorer, found: int) -> int:
    """The smallest bound of a row that may still enter the heap."""
    if found < len(scorer.rows) or common.unit == 0.0:
        return 1
    return max(1, int((scorer.scores[0] - common.slack) / common.unit))
