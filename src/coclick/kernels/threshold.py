"""Exact top-k search over sparse non-negative vectors that reads little of what could match.

Postings are ordered by impact: for each term its rows, the largest weight first. A search reads a
prefix of each of the query's lists, as deep as it must to be sure, and scores few rows through
their own vectors:

1. Probe: read the heads of the lists and score the rows that look best. θ is the k-th score.
2. Plan (depths.py): of all depths such that no row outside the prefixes reaches θ, find the
   cheapest.
3. Sweep: read the prefixes once, adding to each row's bound; score a row when that reaches θ.

The sweep's counters fit into the processor's cache; rows whose numbers agree modulo their count
share one. A stranger's share only lifts a bound, so nothing is missed.

Arrays may come from files that somebody damaged: whatever was read from them is checked before it
is used as a position. A damaged row's score is NaN; functions that count return −1.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from coclick.kernels.depths import RUNGS, below, ladder, plan, tightest
from coclick.kernels.dots import TOGETHER, dot, fetch, spread, wipe
from coclick.kernels.heap import best_first, push
from coclick.kernels.jit import jit
from coclick.kernels.prefetch import prefetch

HEAD = 16  # postings of each list that a probe reads, at least
PROBED = 1024  # postings that a probe reads altogether, if the heads are not more
CHOSEN = 64  # rows that a probe scores, at least
SCORING = 50  # what it costs to score a row, beyond its entries; reading a posting costs 1
ROUNDING = 1e-7  # relative error of a float32 operation
TAKEN = np.float32(-1.0)  # a counter whose row was chosen
NORM_ROUNDING = 1e-5  # relative error of vectors that were scaled to their norm


@jit
def search_range(
    post_indptr: NDArray[np.int64],
    post_rows: NDArray[np.int32],
    post_weights: NDArray[np.float32],
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    data: NDArray[np.float32],
    query_indptr: NDArray[np.int64],
    query_terms: NDArray[np.int32],
    query_weights: NDArray[np.float32],
    first: int,
    last: int,
    max_norm: float,
    allowed: NDArray[np.uint8],
    clock: NDArray[np.uint8],
    stamps: NDArray[np.uint8],
    dense: NDArray[np.float32],
    table: NDArray[np.float32],
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
        found = _search(
            post_indptr, post_rows, post_weights, indptr, indices, data, terms,
            max_norm, allowed, clock[0], stamps, dense, table, rows[query], scores[query],
        )  # fmt: skip
        wipe(terms, dense)
        if found < 0:
            return False
        best_first(scores[query], rows[query], found)
    return True


@jit
def _search(
    post_indptr: NDArray[np.int64],
    post_rows: NDArray[np.int32],
    post_weights: NDArray[np.float32],
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    data: NDArray[np.float32],
    terms: NDArray[np.int32],
    max_norm: float,
    allowed: NDArray[np.uint8],
    now: np.uint8,
    stamps: NDArray[np.uint8],
    dense: NDArray[np.float32],
    table: NDArray[np.float32],
    rows: NDArray[np.int32],
    scores: NDArray[np.float32],
) -> int:
    """The heap of the best rows: its size, or −1 for damage."""
    k = len(rows)
    starts = np.empty(len(terms), np.int64)
    lengths = np.empty(len(terms), np.int64)
    query = np.empty(len(terms), np.float64)
    postings = min(len(post_rows), len(post_weights))
    lists = _open(post_indptr, postings, terms, dense, starts, lengths, query)
    if lists <= 0 or k == 0:
        return lists if k else 0
    if lists == 1:
        last = starts[0] + lengths[0]
        return _first_of_list(
            post_rows[starts[0] : last], post_weights[starts[0] : last], query[0],
            len(indptr) - 1, allowed, rows, scores,
        )  # fmt: skip
    query = query[:lists]
    depths = np.empty((lists, RUNGS), np.int64)
    impacts = np.empty((lists, RUNGS), np.float32)
    tops = np.empty(lists, np.int64)
    largest = 0.0
    for i in range(lists):
        tops[i] = ladder(post_weights, starts[i], lengths[i], max(HEAD, k), depths[i], impacts[i])
        largest += query[i] * impacts[i, 0]
    slack = ROUNDING * (lists + 10) * largest
    norm = max_norm * (1.0 + NORM_ROUNDING) if max_norm < math.inf else 0.0

    # Probe.
    rungs = np.empty(lists, np.int64)
    cost = 0
    for i in range(lists):
        rungs[i] = min(1, tops[i])
        while rungs[i] < tops[i] and depths[i, rungs[i] + 1] * lists <= PROBED:
            rungs[i] += 1
        cost += depths[i, rungs[i]]
    used = _clear(table, cost)
    chosen = np.empty(max(CHOSEN, 2 * k), np.int32)
    found = _probe(
        post_rows, post_weights, starts, query, depths, rungs, len(indptr) - 1, allowed, used, chosen
    )
    if found >= 0:
        found = _score_new(indptr, indices, data, dense, now, stamps, chosen[:found], rows, scores, 0)
    if found < 0:
        return -1

    # Plan. Depths for a likely τ, the best τ for these depths, and once more.
    theta = max(0.0, scores[0] - slack) if found == k else 0.0
    scoring = SCORING + len(indices) / (len(indptr) - 1)
    tau = 0.4 * theta / (norm * norm) if norm else 0.0
    caps = np.empty(lists, np.float64)
    for _ in range(2):
        plan(query, depths, impacts, tops, tau, norm, theta, scoring, rungs)
        cost = 0
        for i in range(lists):
            caps[i] = impacts[i, rungs[i]]
            cost += depths[i, rungs[i]]
        tau = tightest(query, caps, norm)

    used = _clear(table, cost)
    return _sweep(
        post_rows, post_weights, indptr, indices, data, starts, query, depths, rungs, caps,
        tau, norm, slack, allowed, now, stamps, dense, used, rows, scores, found,
    )  # fmt: skip


@jit
def _open(
    post_indptr: NDArray[np.int64],
    postings: int,
    terms: NDArray[np.int32],
    dense: NDArray[np.float32],
    starts: NDArray[np.int64],
    lengths: NDArray[np.int64],
    query: NDArray[np.float64],
) -> int:
    """The lists that are not empty, each once: how many, or −1 for damage."""
    lists = 0
    for i in range(len(terms)):
        term = terms[i]
        if term < 0 or term >= min(len(dense), len(post_indptr) - 1) or dense[term] <= 0.0:
            continue
        start, end = post_indptr[term], post_indptr[term + 1]
        if start < 0 or end < start or end > postings:
            return -1
        if end > start:
            starts[lists], lengths[lists], query[lists] = start, end - start, dense[term]
            lists += 1
            dense[term] = -dense[term]  # taken
    for i in range(len(terms)):
        if 0 <= terms[i] < len(dense):
            dense[terms[i]] = abs(dense[terms[i]])
    return lists


@jit
def _first_of_list(
    post_rows: NDArray[np.int32],
    post_weights: NDArray[np.float32],
    weight: float,
    row_count: int,
    allowed: NDArray[np.uint8],
    rows: NDArray[np.int32],
    scores: NDArray[np.float32],
) -> int:
    """The heap of the best rows where there is one list: its size, or −1 for damage.

    They stand in front, and need no look at their vectors, which matters where thousands tie.
    """
    found = 0
    for at in range(len(post_rows)):
        value = np.float32(weight * np.float64(post_weights[at]))
        if found == len(rows) and value < scores[0]:
            break
        row = post_rows[at]
        if row < 0 or row >= row_count:
            return -1
        if value > 0.0 and (len(allowed) == 0 or allowed[row]):
            found = push(scores, rows, found, value, row)
    return found


@jit
def _clear(table: NDArray[np.float32], postings: int) -> NDArray[np.float32]:
    """As much of the table as there are postings, four times, in powers of two; zeros."""
    size = 1024
    while size < 4 * postings and size < len(table):
        size *= 2
    used = table[:size]
    used[:] = 0.0
    return used


@jit
def _probe(
    post_rows: NDArray[np.int32],
    post_weights: NDArray[np.float32],
    starts: NDArray[np.int64],
    query: NDArray[np.float64],
    depths: NDArray[np.int64],
    rungs: NDArray[np.int64],
    rows: int,
    allowed: NDArray[np.uint8],
    table: NDArray[np.float32],
    chosen: NDArray[np.int32],
) -> int:
    """Choose the rows with the largest partial scores: how many, or −1 for damage.

    Which rows look best is no more than a good guess, so rows that share a counter may displace
    each other.
    """
    mask = np.uint32(len(table) - 1)
    for i in range(len(query)):
        weight = np.float32(query[i])
        for at in range(starts[i], starts[i] + depths[i, rungs[i]]):
            table[np.uint32(post_rows[at]) & mask] += weight * post_weights[at]
    partial = np.empty(len(chosen), np.float32)
    size = 0
    for i in range(len(query)):
        for at in range(starts[i], starts[i] + depths[i, rungs[i]]):
            row = post_rows[at]
            value = table[np.uint32(row) & mask]
            if value == TAKEN or (size == len(chosen) and value <= partial[0]):
                continue
            if row < 0 or row >= rows:
                return -1
            table[np.uint32(row) & mask] = TAKEN
            if len(allowed) == 0 or allowed[row]:
                size = push(partial, chosen, size, value, row)
    return size


@jit
def _sweep(
    post_rows: NDArray[np.int32],
    post_weights: NDArray[np.float32],
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    data: NDArray[np.float32],
    starts: NDArray[np.int64],
    query: NDArray[np.float64],
    depths: NDArray[np.int64],
    rungs: NDArray[np.int64],
    caps: NDArray[np.float64],
    tau: float,
    norm: float,
    slack: float,
    allowed: NDArray[np.uint8],
    now: np.uint8,
    stamps: NDArray[np.uint8],
    dense: NDArray[np.float32],
    table: NDArray[np.float32],
    rows: NDArray[np.int32],
    scores: NDArray[np.float32],
    found: int,
) -> int:
    """Add to the heap every row of the prefixes that belongs there: its size, or −1 for damage."""
    base = 0.5 * tau * norm * norm + slack
    for i in range(len(query)):
        base += below(query[i], caps[i], tau)
    cut = np.float32(scores[0] - base) if found == len(rows) else np.float32(-1.0)
    mask = np.uint32(len(table) - 1)
    half = np.float32(0.5 * tau)
    waiting = np.empty(TOGETHER, np.int32)
    waits = 0
    for i in range(len(query)):
        weight = np.float32(query[i])
        known = np.float32(below(query[i], caps[i], tau))
        for at in range(starts[i], starts[i] + depths[i, rungs[i]]):
            value = post_weights[at]
            row = post_rows[at]
            gain = weight * value - half * value * value - known
            reach = table[np.uint32(row) & mask] + max(gain, np.float32(0.0))
            table[np.uint32(row) & mask] = reach
            if reach < cut:
                continue
            if row < 0 or row >= len(indptr) - 1:
                return -1
            if len(allowed) and not allowed[row]:
                continue
            prefetch(stamps, row)
            prefetch(indptr, row)
            waiting[waits] = row
            waits += 1
            if waits == TOGETHER:
                found = _score_new(indptr, indices, data, dense, now, stamps, waiting, rows, scores, found)
                if found < 0:
                    return -1
                if found == len(rows):
                    cut = np.float32(scores[0] - base)
                waits = 0
    return _score_new(indptr, indices, data, dense, now, stamps, waiting[:waits], rows, scores, found)


@jit
def _score_new(
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    data: NDArray[np.float32],
    dense: NDArray[np.float32],
    now: np.uint8,
    stamps: NDArray[np.uint8],
    block: NDArray[np.int32],
    rows: NDArray[np.int32],
    scores: NDArray[np.float32],
    found: int,
) -> int:
    """Score into the heap what has no stamp yet: the heap's size, or −1 for damage."""
    fresh = 0
    for row in block:
        if stamps[row] != now:
            stamps[row] = now
            block[fresh] = row
            fresh += 1
    fetch(indptr, indices, data, block[:fresh])
    for row in block[:fresh]:
        value = dot(indptr, indices, data, dense, row)
        if not value >= 0.0:
            return -1
        if value > 0.0:
            found = push(scores, rows, found, value, row)
    return found
