"""Exact top-k search over sparse non-negative vectors that reads little of what could match.

Rare terms have short lists, which are read. Lists of common terms are not: blocks.py bounds what these
terms add to a row by the most that they add to its block, then to its strip.

1. Sum the bounds of the query's common terms for all blocks.
2. Read the lists of its rare terms, adding to each row's counter.
3. Score the rows whose counter + bound is highest through their own vectors. θ is the k-th score.
4. Visit the blocks whose bound reaches θ, the highest first, and score the rows of those of their strips
   that reach it, too: what matches for its common terms alone.
5. Score the rows with a rare term whose counter + bound reaches θ.

The counters fit into the processor's cache; rows whose places agree modulo their count share one. A
stranger's share only lifts a bound, so nothing is missed.

Arrays may come from files that somebody damaged: whatever was read from them is checked before it
is used as a position. A damaged row's score is NaN; functions that count return −1.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coclick.jit.compiler import jit, jit_inline, jit_noalloc
from coclick.jit.selection import best_first, push
from coclick.kernels.block_bounds import (
    TILE,
    Common,
    blocks_between,
    fetch_strips,
    strip_bound,
    sum_bounds,
    sum_strips,
)
from coclick.kernels.blocks import BLOCK, SHARES, STRIP, Blocks
from coclick.kernels.dots import TOGETHER, spread, wipe
from coclick.kernels.postings import Postings
from coclick.kernels.scorer import Scorer, is_allowed, score_new

HEAD = 16  # postings of each list that are considered in step 3, at least
CHOSEN = 16  # rows that are scored there, at least
LEVELS = 16  # blocks are visited from the highest bound down, in so many steps
WHOLE = 1 << 29  # units of the bounds, which are whole numbers; the highest possible bound
ROUNDING = 1e-7  # relative error of a float32 operation
_BLOCK = np.uint64(BLOCK)  # unsigned: numba gives signed indices a test for negative ones


class Rare(NamedTuple):
    """The lists to read, and the counters."""

    places: NDArray[np.int32]
    weights: NDArray[np.float32]
    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    query: NDArray[np.float64]
    table: NDArray[np.float32]


class Room(NamedTuple):
    """Working memory of one search."""

    chosen: NDArray[np.int32]  # promising rows
    reaches: NDArray[np.float32]  # and what they may score
    strip_bounds: NDArray[np.int32]
    waiting: NDArray[np.int32]  # places of rows to be scored
    near: NDArray[np.int64]  # blocks or places to be looked at


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
    """The best rows for each query of a range, best first; −1 and 0 where there are no more.

    An empty `allowed` permits every row. False for damage.
    """
    for query in range(first, last):
        start, end = query_indptr[query], query_indptr[query + 1]
        if start < 0 or end < start or end > min(len(query_terms), len(query_weights)):
            return False
        terms = query_terms[start:end]
        clock[0] += 1
        if clock[0] == 0:  # it went round
            stamps[:] = 0
            clock[0] = 1
        rows[query, :] = -1
        scores[query, :] = 0.0
        spread(terms, query_weights[start:end], dense)
        target = Scorer(
            blocks.order, indptr, indices, data, dense, allowed, stamps, clock[0], rows[query], scores[query]
        )
        found = _search(postings, blocks, terms, target, table, bounds)
        wipe(terms, dense)
        if found < 0:
            return False
        best_first(scores[query], rows[query], found)
    return True


@jit
def _search(
    postings: Postings,
    blocks: Blocks,
    terms: NDArray[np.int32],
    target: Scorer,
    table: NDArray[np.float32],
    bounds: NDArray[np.int32],
) -> int:
    """The heap of the best rows: its size, or −1 for damage."""
    starts = np.empty(len(terms), np.int64)
    ends = np.empty(len(terms), np.int64)
    query = np.empty(len(terms), np.float64)
    lines = np.empty(len(terms), np.int64)
    lists = _open(postings, blocks.common, terms, target.query, starts, ends, query, lines)
    if lists <= 0 or len(target.rows) == 0:
        return min(lists, 0)
    if lists == 1:
        return _first_of_list(postings, starts[0], ends[0], query[0], target)

    # Rare lists come to the front, and so do the lines of common ones.
    largest, of_common = 0.0, 0.0
    for i in range(lists):
        most = query[i] * postings.weights[starts[i]]
        largest += most
        of_common += most if lines[i] >= 0 else 0.0
    unit = of_common / WHOLE
    steps = np.empty(lists, np.int32)
    count, reads = 0, 0
    for i in range(lists):
        if lines[i] < 0:
            starts[count], ends[count], query[count] = starts[i], ends[i], query[i]
            reads += ends[i] - starts[i]
            count += 1
        else:
            lines[i - count] = lines[i]
            steps[i - count] = np.int32(query[i] * postings.weights[starts[i]] / SHARES / unit) + 1
    rare = Rare(
        postings.places, postings.weights, starts[:count], ends[:count], query[:count], _clear(table, reads)
    )
    peaks = np.empty(-(-len(bounds) // TILE), np.int32)
    slack = np.float32(ROUNDING * (lists + 10) * largest)
    common = Common(
        lines[: lists - count], steps[: lists - count], np.float32(unit), blocks.strips, bounds, peaks, slack
    )

    top = sum_bounds(common, blocks.blocks)
    _count(rare)
    most = max(CHOSEN, 2 * len(target.rows))
    room = Room(
        np.empty(most, np.int32), np.empty(most, np.float32), np.empty(BLOCK // STRIP, np.int32),
        np.empty(TOGETHER, np.int32), np.empty(TILE, np.int64),
    )  # fmt: skip
    found = _score_promising(rare, common, target, room)
    if found >= 0:
        found = _visit_blocks(common, top, target, room, found)
    if found >= 0:
        found = _score_counted(rare, common, target, room, found)
    return found


@jit_noalloc
def _open(
    postings: Postings,
    common: NDArray[np.int32],
    terms: NDArray[np.int32],
    dense: NDArray[np.float32],
    starts: NDArray[np.int64],
    ends: NDArray[np.int64],
    query: NDArray[np.float64],
    lines: NDArray[np.int64],
) -> int:
    """The lists that hold anything, each once, with the lines of common terms: how many, or −1 for damage."""
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
            dense[term] = -dense[term]  # taken
    for term in terms:
        if 0 <= term < len(dense):
            dense[term] = abs(dense[term])
    return lists


@jit_inline
def _line_of(common: NDArray[np.int32], term: int) -> int:
    """Where a term stands among the common ones, which ascend; −1 if it is none."""
    low, high = 0, len(common)
    while low < high:
        middle = (low + high) >> 1
        if common[middle] < term:
            low = middle + 1
        else:
            high = middle
    return low if low < len(common) and common[low] == term else -1


@jit_noalloc
def _first_of_list(postings: Postings, start: int, end: int, weight: float, target: Scorer) -> int:
    """The heap of the best rows where there is one list: its size, or −1 for damage.

    They stand in front, and need no look at their vectors, which matters where thousands tie.
    """
    found = 0
    for at in range(start, end):
        value = np.float32(weight * np.float64(postings.weights[at]))
        if found == len(target.rows) and value < target.scores[0]:
            break
        place = postings.places[at]
        if not 0 <= place < len(target.order) or not 0 <= target.order[place] < len(target.order):
            return -1
        if value > 0.0 and is_allowed(target, place):
            found = push(target.scores, target.rows, found, value, target.order[place])
    return found


@jit
def _clear(table: NDArray[np.float32], postings: int) -> NDArray[np.float32]:
    """As much of the table as there are postings, twice, in powers of two; zeros."""
    size = 1024
    while size < 2 * postings and size < len(table):
        size *= 2
    used = table[:size]
    used[:] = 0.0
    return used


@jit_noalloc
def _count(rare: Rare) -> None:
    """Add to each row's counter what the rare terms contribute."""
    mask = np.uint32(len(rare.table) - 1)
    for i in range(len(rare.query)):
        weight = np.float32(rare.query[i])
        for at in range(np.uint64(rare.starts[i]), np.uint64(rare.ends[i])):
            rare.table[np.uint32(rare.places[at]) & mask] += weight * rare.weights[at]


@jit_noalloc
def _score_promising(rare: Rare, common: Common, target: Scorer, room: Room) -> int:
    """Score rows at the heads of lists whose counter + bound is highest: the heap's size, or −1 for damage.

    Their counters turn negative. Which rows are best is no more than a good guess, so rows that share
    a counter may displace each other.
    """
    mask = np.uint32(len(rare.table) - 1)
    chosen, reaches = room.chosen, room.reaches
    size = 0
    for i in range(len(rare.query)):
        for at in range(rare.starts[i], min(rare.starts[i] + max(HEAD, len(target.rows)), rare.ends[i])):
            place = rare.places[at]
            if not 0 <= place < len(target.order):
                return -1
            value = rare.table[np.uint32(place) & mask]
            reach = value + common.unit * np.float32(common.bounds[place // BLOCK])
            if value <= 0.0 or (size == len(chosen) and reach <= reaches[0]):
                continue
            rare.table[np.uint32(place) & mask] = -value
            if is_allowed(target, place):
                size = push(reaches, chosen, size, reach, place)
    return score_new(target, chosen[:size], 0)


@jit_noalloc
def _visit_blocks(common: Common, top: int, target: Scorer, room: Room, found: int) -> int:
    """Add to the heap every row that belongs there for its common terms: its size, or −1 for damage."""
    strip_bounds, waiting, near = room.strip_bounds, room.waiting, room.near
    waits = 0
    least = _least(common, target, found)
    below = top + 1
    while below > least:
        level = max(least, below - 1 - top // LEVELS)
        for tile in range(len(common.peaks)):
            if common.peaks[tile] < level:
                continue
            count, common.peaks[tile] = blocks_between(common.bounds, tile, level, below, near)
            for block in near[:count]:
                fetch_strips(common, block)
            for block in near[:count]:
                if common.bounds[block] < least:
                    continue
                sum_strips(common, block, strip_bounds)
                for strip in range(BLOCK // STRIP):
                    if strip_bounds[strip] < least:
                        continue
                    first = block * BLOCK + strip * STRIP
                    for place in range(first, min(first + STRIP, len(target.order))):
                        if is_allowed(target, place):
                            waiting[waits] = place
                            waits += 1
                    if waits > TOGETHER - STRIP:
                        found = score_new(target, waiting[:waits], found)
                        if found < 0:
                            return -1
                        waits = 0
                        least = _least(common, target, found)
        below = level
    return score_new(target, waiting[:waits], found)


@jit_noalloc
def _score_counted(rare: Rare, common: Common, target: Scorer, room: Room, found: int) -> int:
    """Add to the heap every row with a rare term that belongs there: its size, or −1 for damage."""
    waiting, near = room.waiting, room.near
    waits = 0
    full = len(target.rows)
    cut = target.scores[0] - common.slack if found == full else np.float32(-1.0)
    for i in range(len(rare.query)):
        for first in range(rare.starts[i], rare.ends[i], TILE):
            count = _counted(
                rare, common, len(target.order), first, min(first + TILE, rare.ends[i]), cut, near
            )
            if count < 0:
                return -1
            for place in near[:count]:
                fetch_strips(common, place // BLOCK)
            for place in near[:count]:
                value = abs(rare.table[place & (len(rare.table) - 1)])
                if value + common.unit * np.float32(strip_bound(common, place)) < cut:
                    continue
                if not is_allowed(target, place):
                    continue
                waiting[waits] = place
                waits += 1
                if waits == TOGETHER:
                    found = score_new(target, waiting, found)
                    if found < 0:
                        return -1
                    waits = 0
                    if found == full:
                        cut = target.scores[0] - common.slack
    return score_new(target, waiting[:waits], found)


@jit_inline
def _counted(
    rare: Rare, common: Common, rows: int, first: int, last: int, cut: np.float32, near: NDArray[np.int64]
) -> int:
    """List the places of postings whose counter + bound reaches a cut: how many, or −1 for damage.

    Places are listed whether they reach it or not, the next one over those that do not: no jumps.
    """
    mask, most, highest = np.uint64(len(rare.table) - 1), np.uint64(rows - 1), np.uint64(0)
    count = np.uint64(0)
    for at in range(np.uint64(first), np.uint64(last)):
        given = np.uint64(rare.places[at])  # beyond all rows if it was negative
        highest = max(highest, given)
        place = min(given, most)
        reach = abs(rare.table[place & mask]) + common.unit * np.float32(common.bounds[place // _BLOCK])
        near[count] = place
        count += np.uint64(not reach < cut)
    return int(count) if highest <= most else -1


@jit_inline
def _least(common: Common, target: Scorer, found: int) -> int:
    """The least bound of a row that belongs into the heap."""
    if found < len(target.rows) or common.unit == 0.0:
        return 1
    return max(1, int((target.scores[0] - common.slack) / common.unit))
