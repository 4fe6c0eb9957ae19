"""The k best: a heap of the best rows so far, and the k largest of a list of numbers without sorting.

In the heap the worst row is at the root, ready to be replaced; rows of equal score are ordered by number.

The bits of positive floats, read as integers, are in the order of the floats. Of a short list, each number
is compared with all others, many at once: no jump depends on them. A long one is made short first, by
bisection on the bits, each step a count of all numbers at or above a bound.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from coclick.jit.compiler import jit_inline, jit_noalloc
from coclick.jit.heapsort import place_of, sort, with_place
from coclick.jit.intrinsics import LANES, count_at_least, count_larger


@jit_noalloc
def push(scores: NDArray[np.float32], rows: NDArray[np.int32], size: int, score: np.float32, row: int) -> int:
    """Offer an entry to a heap with room for `len(rows)`, the worst at its root: the new size."""
    if size == len(rows):
        if _worse(scores[0], rows[0], score, row):
            _sink(scores, rows, size, score, row)
        return size
    at = size
    while at > 0:
        parent = (at - 1) >> 1
        if not _worse(score, row, scores[parent], rows[parent]):
            break
        scores[at], rows[at] = scores[parent], rows[parent]
        at = parent
    scores[at], rows[at] = score, row
    return size + 1


@jit_noalloc
def best_first(scores: NDArray[np.float32], rows: NDArray[np.int32], size: int) -> None:
    """Heap sort."""
    while size > 1:
        size -= 1
        score, row = scores[size], rows[size]
        scores[size], rows[size] = scores[0], rows[0]
        _sink(scores, rows, size, score, row)


@jit_noalloc
def _sink(
    scores: NDArray[np.float32], rows: NDArray[np.int32], size: int, score: np.float32, row: int
) -> None:
    """Put an entry in the place of the root and restore the heap."""
    at = 0
    while True:
        child = 2 * at + 1
        if child >= size:
            break
        if child + 1 < size and _worse(scores[child + 1], rows[child + 1], scores[child], rows[child]):
            child += 1
        if not _worse(scores[child], rows[child], score, row):
            break
        scores[at], rows[at] = scores[child], rows[child]
        at = child
    scores[at], rows[at] = score, row


@jit_noalloc
def _worse(score: np.float32, row: int, other_score: np.float32, other_row: int) -> bool:
    return bool(score < other_score or (score == other_score and row > other_row))


# Unsigned throughout: numba gives signed indices a test for negative ones, which costs a fifth here.
ZERO, ONE = np.uint64(0), np.uint64(1)
VECTOR = LANES  # numbers: lists begin at multiples of this, so that their last vector is their own
_FEW = np.uint64(64)
_LOWEST = np.int32(-1)
_POSITIVE = np.int32(0x7FFFFFFF)


@jit_inline
def padded(count: np.uint64) -> np.uint64:
    """The room of a list of so many numbers."""
    return (count + np.uint64(VECTOR - 1)) & ~np.uint64(VECTOR - 1)


@jit_inline
def _largest_below(keys: NDArray[np.int32], start: np.uint64, end: np.uint64, bound: np.int32) -> np.int32:
    largest = _LOWEST
    for i in range(start, end):
        largest = max(largest, keys[i] if keys[i] < bound else _LOWEST)
    return largest


@jit_inline
def _bound_of_largest(keys: NDArray[np.int32], start: np.uint64, n: np.uint64, k: np.uint64) -> np.int32:
    """A bound that the `k` largest of `n` keys reach; others only if they are few, or tie with the last.

    Keys are not negative, 1 ≤ k < n, and their list is padded.
    """
    end = start + padded(n)
    for i in range(start + n, end):
        keys[i] = _LOWEST
    low, high = _POSITIVE, np.int32(0)
    for i in range(start, end):
        low = min(low, keys[i] & _POSITIVE)  # makes the padding the largest of all
        high = max(high, keys[i])
    wanted, enough = np.int32(k), np.int32(max(k, _FEW))
    above_low, above_high = np.int32(n), np.int32(0)
    high = np.int32(high + 1)
    while True:
        middle = np.int32(low + ((high - low) >> 1))
        count = count_at_least(keys, start, end, middle)
        if wanted <= count <= enough:
            return middle
        empty_half = (count == above_low) | (count == above_high)
        if count > wanted:
            low, above_low = middle, count
        else:
            high, above_high = middle, count
        if empty_half:  # the keys left are few or all equal: step from key to key
            high = _largest_below(keys, start, end, high)
            above_high = count_at_least(keys, start, end, high)
            if above_high >= wanted:
                return high


@jit_inline
def _move_up(
    terms: NDArray[np.uint32],
    values: NDArray[np.float32],
    keys: NDArray[np.int32],
    start: np.uint64,
    n: np.uint64,
    bound: np.int32,
) -> np.uint64:
    """Leave only what reaches the bound, in its order; how many that are."""
    kept = start
    for i in range(start, start + n):
        reaches = keys[i] >= bound
        terms[kept] = terms[i]
        values[kept] = values[i]
        kept += np.uint64(reaches)
    return kept - start


@jit_inline
def _leave_few(
    terms: NDArray[np.uint32],
    values: NDArray[np.float32],
    keys: NDArray[np.int32],
    start: np.uint64,
    n: np.uint64,
    k: np.uint64,
    larger: NDArray[np.uint32],
) -> np.uint64:
    """Leave only what fewer than `k` others exceed, in its order; how many that are."""
    for first in range(ZERO, n, np.uint64(LANES)):
        count_larger(keys, start, n, first, larger)
    kept = start
    for i in range(n):
        terms[kept] = terms[start + i]
        values[kept] = values[start + i]
        kept += np.uint64(np.uint64(larger[i]) < k)
    return kept - start


@jit_inline
def _drop_ties(
    terms: NDArray[np.uint32],
    keys: NDArray[np.int32],
    start: np.uint64,
    n: np.uint64,
    k: np.uint64,
    bound: np.int32,
    tied: NDArray[np.uint64],
) -> None:
    """All keys reach the bound: take out those equal to it of largest terms until `k` are left."""
    count = ZERO
    for i in range(n):
        tied[count] = with_place(terms[start + i], i)
        count += np.uint64(keys[start + i] == bound)
    left = k - (n - count)
    if count <= _FEW:
        for i in range(count):
            smaller = ZERO
            for j in range(count):
                smaller += np.uint64(tied[j] < tied[i])
            keys[start + place_of(tied[i])] = bound if smaller < left else _LOWEST
    else:
        sort(tied, count)
        for i in range(left, count):
            keys[start + place_of(tied[i])] = _LOWEST


@jit_inline
def keep_largest(
    terms: NDArray[np.uint32],
    values: NDArray[np.float32],
    keys: NDArray[np.int32],
    start: np.uint64,
    n: np.uint64,
    k: np.uint64,
    tied: NDArray[np.uint64],
    larger: NDArray[np.uint32],
) -> None:
    """Of the `n` > k terms and values from `start` on, leave the `k` of largest values, in their order.

    Where values tie for the last places, smaller terms win. `keys` are the values, read as integers.
    """
    if n > _FEW:
        n = _move_up(terms, values, keys, start, n, _bound_of_largest(keys, start, n, k))
    if k < n <= _FEW:
        n = _leave_few(terms, values, keys, start, n, k, larger)
    if n > k:
        bound = keys[start]
        for i in range(start, start + n):
            bound = min(bound, keys[i])
        _drop_ties(terms, keys, start, n, k, bound, tied)
        _move_up(terms, values, keys, start, n, bound)
