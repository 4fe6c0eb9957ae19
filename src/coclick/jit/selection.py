"""Top-k selection: a heap of the best rows, the k largest numbers of a list, heap sort and ranks.

The heap keeps the worst row at the root, ready to be replaced; ties are ordered by row number.

The k largest numbers are found without sorting. The bits of positive floats, read as integers, have the order
of the floats. In a short list every number is compared with all others by vector instructions, without
branches. A long list is shortened first, by bisection on the bits: each step counts the numbers that reach a
bound.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from coclick.jit.compiler import jit_inline, jit_noalloc
from coclick.jit.intrinsics import LANES, count_at_least, count_larger, count_smaller


@jit_noalloc
def push(scores: NDArray[np.float32], rows: NDArray[np.int32], size: int, score: np.float32, row: int) -> int:
    """Offer an entry to a heap that holds up to `len(rows)`; return its new size."""
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
    """Turn the heap into a list, best first."""
    while size > 1:
        size -= 1
        score, row = scores[size], rows[size]
        scores[size], rows[size] = scores[0], rows[0]
        _sink(scores, rows, size, score, row)


@jit_noalloc
def _sink(
    scores: NDArray[np.float32], rows: NDArray[np.int32], size: int, score: np.float32, row: int
) -> None:
    """Replace the root by an entry and restore the heap."""
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


# Unsigned throughout: numba tests signed indices for negative values, which costs 20 % here.
ZERO, ONE = np.uint64(0), np.uint64(1)
VECTOR = LANES  # lists begin at multiples of this, so that no vector holds numbers of two lists
_FEW = np.uint64(64)
_LOWEST = np.int32(-1)
_POSITIVE = np.int32(0x7FFFFFFF)
_TWO = np.uint64(2)
_HALF, _LOW_HALF = np.uint64(32), np.uint64((1 << 32) - 1)
_MAX_COMPARED = np.uint64(256)  # numbers up to which comparing all pairs is faster than sorting


@jit_inline
def tag_position(number: np.uint32, place: np.uint64) -> np.uint64:
    """Return a number that sorts like the given one and carries its position in the low bits."""
    return np.uint64(number) << _HALF | place


@jit_inline
def position_of(number: np.uint64) -> np.uint64:
    """Return the position that `tag_position` stored in a number."""
    return number & _LOW_HALF


@jit_inline
def sort(numbers: NDArray[np.uint64], count: np.uint64) -> None:
    """Sort the first `count` numbers in ascending order, in place."""
    unheaped, unsorted = count // _TWO, count  # build the heap, then remove the largest one by one
    while unsorted > ONE:
        if unheaped > np.uint64(0):
            unheaped -= ONE
            moved = numbers[unheaped]
        else:
            unsorted -= ONE
            moved = numbers[unsorted]
            numbers[unsorted] = numbers[np.uint64(0)]
        hole = unheaped
        child = _TWO * hole + ONE
        while child < unsorted:
            if child + ONE < unsorted and numbers[child + ONE] > numbers[child]:
                child += ONE
            if numbers[child] <= moved:
                break
            numbers[hole] = numbers[child]
            hole = child
            child = _TWO * hole + ONE
        numbers[hole] = moved


@jit_inline
def rank(
    numbers: NDArray[np.uint32],
    start: np.uint64,
    count: np.uint64,
    room: NDArray[np.uint64],
    ranks: NDArray[np.uint32],
) -> None:
    """Set `ranks[i]` to how many of `count` distinct numbers from `start` on are smaller than the i-th.

    Both arrays need room for 32 more after the `count`.
    """
    if count <= _MAX_COMPARED:
        for first in range(np.uint64(0), count, np.uint64(LANES)):
            count_smaller(numbers, start, count, first, ranks)
    else:
        for i in range(count):
            room[i] = tag_position(numbers[start + i], i)
        sort(room, count)
        for i in range(count):
            ranks[position_of(room[i])] = i


@jit_inline
def padded(count: np.uint64) -> np.uint64:
    """Return `count` rounded up to whole vectors."""
    return (count + np.uint64(VECTOR - 1)) & ~np.uint64(VECTOR - 1)


@jit_inline
def _largest_below(keys: NDArray[np.int32], start: np.uint64, end: np.uint64, bound: np.int32) -> np.int32:
    largest = _LOWEST
    for i in range(start, end):
        largest = max(largest, keys[i] if keys[i] < bound else _LOWEST)
    return largest


@jit_inline
def _bound_of_largest(keys: NDArray[np.int32], start: np.uint64, n: np.uint64, k: np.uint64) -> np.int32:
    """A bound that the `k` largest of `n` keys reach; others only if they are few or tie with the last.

    Keys are not negative, 1 ≤ k < n, and the list is padded.
    """
    end = start + padded(n)
    for i in range(start + n, end):
        keys[i] = _LOWEST
    low, high = _POSITIVE, np.int32(0)
    for i in range(start, end):
        low = min(low, keys[i] & _POSITIVE)  # turns the padding into the largest number
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
        if empty_half:  # few keys are left, or all are equal: step from key to key
            high = _largest_below(keys, start, end, high)
            above_high = count_at_least(keys, start, end, high)
            if above_high >= wanted:
                return high


@jit_inline
def _keep_reaching(
    terms: NDArray[np.uint32],
    values: NDArray[np.float32],
    keys: NDArray[np.int32],
    start: np.uint64,
    n: np.uint64,
    bound: np.int32,
) -> np.uint64:
    """Keep the entries that reach the bound, in order; return their number."""
    kept = start
    for i in range(start, start + n):
        reaches = keys[i] >= bound
        terms[kept] = terms[i]
        values[kept] = values[i]
        kept += np.uint64(reaches)
    return kept - start


@jit_inline
def _keep_by_rank(
    terms: NDArray[np.uint32],
    values: NDArray[np.float32],
    keys: NDArray[np.int32],
    start: np.uint64,
    n: np.uint64,
    k: np.uint64,
    larger: NDArray[np.uint32],
) -> np.uint64:
    """Keep the entries that fewer than `k` others exceed, in order; return their number."""
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
    """Of the keys equal to the bound, drop those with the largest terms until `k` are left."""
    count = ZERO
    for i in range(n):
        tied[count] = tag_position(terms[start + i], i)
        count += np.uint64(keys[start + i] == bound)
    left = k - (n - count)
    if count <= _FEW:
        for i in range(count):
            smaller = ZERO
            for j in range(count):
                smaller += np.uint64(tied[j] < tied[i])
            keys[start + position_of(tied[i])] = bound if smaller < left else _LOWEST
    else:
        sort(tied, count)
        for i in range(left, count):
            keys[start + position_of(tied[i])] = _LOWEST


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
    """Keep the `k` largest of the `n` > k values from `start` on, with their terms, in order.

    Ties for the last places go to smaller terms. `keys` are the values, read as integers.
    """
    if n > _FEW:
        n = _keep_reaching(terms, values, keys, start, n, _bound_of_largest(keys, start, n, k))
    if k < n <= _FEW:
        n = _keep_by_rank(terms, values, keys, start, n, k, larger)
    if n > k:
        bound = keys[start]
        for i in range(start, start + n):
            bound = min(bound, keys[i])
        _drop_ties(terms, keys, start, n, k, bound, tied)
        _keep_reaching(terms, values, keys, start, n, bound)
