"""The k largest of a list of positive numbers, without sorting.

The bits of positive floats, read as integers, are in the order of the floats. So the k-th largest
is found by bisection on the bits, each step a vectorised count of all numbers at or above a bound.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coclick.kernels.inlined import inlined

# Unsigned throughout: numba gives signed indices a test for negative ones, which costs a fifth here.
ZERO, ONE = np.uint64(0), np.uint64(1)
_VECTOR = 32
_LOWEST = np.int32(-1)
_POSITIVE = np.int32(0x7FFFFFFF)
_FEW = np.uint64(32)


class TopK(NamedTuple):
    """Candidates to choose from, the chosen ones, and room to break ties in."""

    terms: NDArray[np.uint32]
    values: NDArray[np.float32]
    keys: NDArray[np.int32]  # the values' bits
    kept_terms: NDArray[np.uint32]
    kept_values: NDArray[np.float32]
    tied: NDArray[np.uint64]  # positions
    tied_keys: NDArray[np.int64]


def make_top_k(most: int) -> TopK:
    """Room to choose among up to `most` candidates."""
    room = most + 2 * _VECTOR
    values = np.empty(room, np.float32)
    return TopK(
        np.empty(room, np.uint32),
        values,
        values.view(np.int32),
        np.empty(room, np.uint32),
        np.empty(room, np.float32),
        np.empty(room, np.uint64),
        np.empty(room, np.int64),
    )


@inlined
def _count_at_least(keys: NDArray[np.int32], padded: np.uint64, bound: np.int32) -> np.int32:
    count = np.int32(0)
    for i in range(padded):
        count = np.int32(count + np.int32(keys[i] >= bound))
    return count


@inlined
def _largest_below(keys: NDArray[np.int32], padded: np.uint64, bound: np.int32) -> np.int32:
    largest = _LOWEST
    for i in range(padded):
        largest = max(largest, keys[i] if keys[i] < bound else _LOWEST)
    return largest


@inlined
def kth_largest(keys: NDArray[np.int32], n: np.uint64, k: np.uint64) -> tuple[np.int32, bool]:
    """A bound that the `k` largest of the first `n` keys reach, and whether others reach it, too (ties).

    Keys are not negative, 1 ≤ k < n, and there is room for 32 more behind the `n`.
    """
    padded = (n + np.uint64(_VECTOR - 1)) & ~np.uint64(_VECTOR - 1)
    for i in range(n, padded):
        keys[i] = _LOWEST
    low, high = _POSITIVE, np.int32(0)
    for i in range(padded):
        low = min(low, keys[i] & _POSITIVE)  # makes the padding the largest of all
        high = max(high, keys[i])
    wanted, above_low, above_high = np.int32(k), np.int32(n), np.int32(0)
    high = np.int32(high + 1)
    while True:
        middle = np.int32(low + ((high - low) >> 1))
        count = _count_at_least(keys, padded, middle)
        if count == wanted:
            return middle, False
        empty_half = (count == above_low) | (count == above_high)
        if count > wanted:
            low, above_low = middle, count
        else:
            high, above_high = middle, count
        if empty_half:  # the keys left are few or all equal: step from key to key
            high = _largest_below(keys, padded, high)
            above_high = _count_at_least(keys, padded, high)
            if above_high >= wanted:
                return high, above_high > wanted


@inlined
def _kth_smallest(numbers: NDArray[np.int64], count: np.uint64, k: np.uint64) -> np.int64:
    """The k-th smallest of some different numbers."""
    if count > _FEW:
        return np.partition(numbers[:count], np.int64(k) - 1)[np.int64(k) - 1]
    found = np.int64(0)
    for i in range(count):
        smaller = np.int64(0)
        for other in range(count):
            smaller += np.int64(numbers[other] < numbers[i])
        found = numbers[i] if np.uint64(smaller) == k - ONE else found
    return found


@inlined
def _drop_ties(
    terms: NDArray[np.uint32],
    keys: NDArray[np.int32],
    n: np.uint64,
    k: np.uint64,
    bound: np.int32,
    term_hash: NDArray[np.uint32],
    tied: NDArray[np.uint64],
    tied_keys: NDArray[np.int64],
) -> None:
    """Of the keys equal to the bound, take out those of largest (hash, term) until `k` reach it."""
    count, above = ZERO, ZERO
    for i in range(n):
        tied[count] = i
        count += np.uint64(keys[i] == bound)
        above += np.uint64(keys[i] > bound)
    for i in range(count):
        term = terms[tied[i]]
        tied_keys[i] = np.int64(term_hash[term]) << np.int64(31) | np.int64(term)
    last = _kth_smallest(tied_keys, count, k - above)
    for i in range(count):
        keys[tied[i]] = bound if tied_keys[i] <= last else _LOWEST


@inlined
def keep_largest(
    terms: NDArray[np.uint32],
    values: NDArray[np.float32],
    keys: NDArray[np.int32],
    n: np.uint64,
    k: np.uint64,
    term_hash: NDArray[np.uint32],
    kept_terms: NDArray[np.uint32],
    kept_values: NDArray[np.float32],
    tied: NDArray[np.uint64],
    tied_keys: NDArray[np.int64],
) -> None:
    """Copy the `k` largest of the first `n` > k values, and their terms, in their order.

    Where values tie for the last places, those of smaller (hash, term) win.
    """
    bound, ties = kth_largest(keys, n, k)
    if ties:
        _drop_ties(terms, keys, n, k, bound, term_hash, tied, tied_keys)
    kept = ZERO
    for i in range(n):
        kept_terms[kept] = terms[i]
        kept_values[kept] = values[i]
        kept += np.uint64(keys[i] >= bound)
