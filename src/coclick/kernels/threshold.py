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
from coclick.kernels.heap import best_first, push
from coclick.kernels.jit import jit
from coclick.kernels.prefetch import prefetch

HEAD = 16  # postings of each list that a probe reads, at least
PROBED = 1024  # postings that a probe reads altogether, if the heads are not more
CHOSEN = 64  # rows that a probe scores, at least
MARGIN = 0.3  # sweeps go as deep as if θ were less by this part, which leaves fewer rows to score
WAITING = 32  # rows that are fetched from memory together
ROUNDING = 1e-7  # relative error of a float32 operation
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
    clock: NDArray[np.int32],
    stamps: NDArray[np.int32],
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
        rows[query, :] = -1
        scores[query, :] = 0.0
        _spread(terms, query_weights[start:end], dense)
        found = _search(
            post_indptr, post_rows, post_weights, indptr, indices, data, terms,
            max_norm, allowed, clock[0], stamps, dense, table, rows[query], scores[query],
        )  # fmt: skip
        _wipe(terms, dense)
        if found < 0:
            return False
        best_first(scores[query], rows[query], found)
    return True


@jit
def _spread(terms: NDArray[np.int32], weights: NDArray[np.float32], dense: NDArray[np.float32]) -> None:
    """Add the query's positive weights to `dense`; terms that do not exist are left out."""
    for i in range(len(terms)):
        if 0 <= terms[i] < len(dense) and weights[i] > 0.0:
            dense[terms[i]] += weights[i]


@jit
def _wipe(terms: NDArray[np.int32], dense: NDArray[np.float32]) -> None:
    """Set `dense` to zero again."""
    for i in range(len(terms)):
        if 0 <= terms[i] < len(dense):
            dense[terms[i]] = 0.0


@jit
def _score(
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    data: NDArray[np.float32],
    dense: NDArray[np.float32],
    row: int,
) -> np.float32:
    """The dot product of a row with the query, summed by ascending term; NaN if it is damaged."""
    if row < 0 or row >= len(indptr) - 1:
        return np.float32(np.nan)
    start, end = indptr[row], indptr[row + 1]
    if start < 0 or end > len(indices) or end > len(data):
        return np.float32(np.nan)
    total = 0.0
    for at in range(start, end):
        term = np.uint32(indices[at])
        if term >= len(dense):
            return np.float32(np.nan)
        total += np.float64(dense[term]) * np.float64(data[at])
    return np.float32(total)


@jit
def score_rows(
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    data: NDArray[np.float32],
    terms: NDArray[np.int32],
    weights: NDArray[np.float32],
    rows: NDArray[np.int32],
    dense: NDArray[np.float32],
    scores: NDArray[np.float32],
) -> bool:
    """The scores of given rows; False for damage."""
    sound = True
    _spread(terms, weights, dense)
    for first in range(0, len(rows), WAITING):
        last = min(first + WAITING, len(rows))
        _fetch(indptr, indices, data, rows[first:last])
        for i in range(first, last):
            scores[i] = _score(indptr, indices, data, dense, rows[i])
            sound &= scores[i] >= 0.0
    _wipe(terms, dense)
    return sound


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
    now: int,
    stamps: NDArray[np.int32],
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

    # Probe. The plan needs a guess of τ before there is a θ.
    rungs = np.empty(lists, np.int64)
    tau = 0.2 * math.sqrt(np.sum(query * query)) / norm if norm else 0.0
    cost = plan(query, depths, impacts, tops, tau, norm, 0.0, PROBED, 1, rungs)
    used = _clear(table, cost)
    chosen = np.empty(max(CHOSEN, 2 * k), np.int32)
    found = _probe(post_rows, post_weights, starts, query, depths, rungs, allowed, now, stamps, used, chosen)
    if found >= 0:
        found = _score_block(indptr, indices, data, dense, chosen, found, rows, scores, 0)
    if found < 0:
        return -1

    # Plan. Depths for the best τ, the best τ for these depths, and once more.
    target = (1.0 - MARGIN) * scores[0] if found == k else 0.0
    tau = 0.6 * target / (norm * norm) if norm else 0.0
    caps = np.empty(lists, np.float64)
    for _ in range(2):
        cost = plan(query, depths, impacts, tops, tau, norm, target, len(post_rows), 0, rungs)
        for i in range(lists):
            caps[i] = impacts[i, rungs[i]]
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
    allowed: NDArray[np.uint8],
    now: int,
    stamps: NDArray[np.int32],
    table: NDArray[np.float32],
    chosen: NDArray[np.int32],
) -> int:
    """Choose and stamp the rows with the largest partial scores: how many, or −1 for damage."""
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
            if size == len(chosen) and value <= partial[0]:
                continue
            if row < 0 or row >= len(stamps):
                return -1
            if stamps[row] == now or (len(allowed) and not allowed[row]):
                continue
            if size == len(chosen):
                stamps[chosen[0]] = 0
            stamps[row] = now
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
    now: int,
    stamps: NDArray[np.int32],
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
    waiting = np.empty(WAITING, np.int32)
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
            if row < 0 or row >= len(stamps):
                return -1
            if stamps[row] == now or (len(allowed) and not allowed[row]):
                continue
            stamps[row] = now
            prefetch(indptr, row)
            waiting[waits] = row
            waits += 1
            if waits == WAITING:
                found = _score_block(indptr, indices, data, dense, waiting, waits, rows, scores, found)
                if found < 0:
                    return -1
                if found == len(rows):
                    cut = np.float32(scores[0] - base)
                waits = 0
    return _score_block(indptr, indices, data, dense, waiting, waits, rows, scores, found)


@jit
def _score_block(
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    data: NDArray[np.float32],
    dense: NDArray[np.float32],
    block: NDArray[np.int32],
    count: int,
    rows: NDArray[np.int32],
    scores: NDArray[np.float32],
    found: int,
) -> int:
    """Score the first `count` rows of a block into the heap: its size, or −1 for damage."""
    _fetch(indptr, indices, data, block[:count])
    for i in range(count):
        value = _score(indptr, indices, data, dense, block[i])
        if not value >= 0.0:
            return -1
        if value > 0.0:
            found = push(scores, rows, found, value, block[i])
    return found


@jit
def _fetch(
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    data: NDArray[np.float32],
    rows: NDArray[np.int32],
) -> None:
    """Load rows from memory together: waiting for one after the other takes three times as long."""
    for row in rows:
        if 0 <= row < len(indptr) - 1:
            start = indptr[row]
            for line in (0, 16):  # 64 bytes each
                prefetch(indices, start + line)
                prefetch(data, start + line)
