"""The k largest of a list of positive numbers, without sorting.

The bits of positive floats, read as integers, are in the order of the floats. So the k-th largest
is found by bisection on the bits, each step a vectorised count of all numbers at or above a bound.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coclick.kernels.inlined import inlined
from coclick.kernels.lanes import LANES, lanes_at_least, lowest_bit

# Unsigned throughout: numba gives signed indices a test for negative ones, which costs a fifth here.
ZERO, ONE, STEP = np.uint64(0), np.uint64(1), np.uint64(LANES)
_VECTOR = np.uint64(32)
_LOWEST = np.int32(-1)
_POSITIVE = np.int32(0x7FFFFFFF)


class TopK(NamedTuple):
    """Candidates to choose from, the chosen ones, and room to break ties in."""

    terms: NDArray[np.uint32]
    values: NDArray[np.float32]
    keys: NDArray[np.int32]  # the values' bits
    kept_terms: NDArray[np.uint32]
    kept_values: NDArray[np.float32]
    tied: NDArray[np.uint64]
    tied_keys: NDArray[np.int32]


def make_top_k(most: int) -> TopK:
    """Room to choose among up to `most` candidates."""
    room = most + 2 * LANES
    values = np.empty(room, np.float32)
    return TopK(
        np.empty(room, np.uint32),
        values,
        values.view(np.int32),
        np.empty(room, np.uint32),
        np.empty(room, np.float32),
        np.empty(room, np.uint64),
        np.empty(room, np.int32),
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
def kth_largest(keys: NDArray[np.int32], n: np.uint64, k: np.uint64) -> tuple[np.int32, np.uint64]:
    """A bound that `k` of the first `n` keys reach, and how many more than `k` reach it (ties).

    Keys are not negative, 1 ≤ k < n, and there is room for 64 more behind the `n`.
    """
    padded = (n + _VECTOR - ONE) & ~(_VECTOR - ONE)
    for i in range(n, n + STEP):
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
            return middle, ZERO
        empty_half = (count == above_low) | (count == above_high)
        if count > wanted:
            low, above_low = middle, count
        else:
            high, above_high = middle, count
        if empty_half:  # the keys left are few or all equal: step from key to key
            high = _largest_below(keys, padded, high)
            above_high = _count_at_least(keys, padded, high)
            if above_high >= wanted:
                return high, np.uint64(above_high - wanted)


@inlined
def _drop_ties(
    terms: NDArray[np.uint32],
    keys: NDArray[np.int32],
    n: np.uint64,
    bound: np.int32,
    surplus: np.uint64,
    term_hash: NDArray[np.uint32],
    tied: NDArray[np.uint64],
    tied_keys: NDArray[np.int32],
) -> None:
    """Of the keys equal to the bound, take out the `surplus` ones of largest (hash, term)."""
    count = ZERO
    for start in range(ZERO, n, STEP):
        mask = lanes_at_least(keys, start, bound)
        mask &= ~lanes_at_least(keys, start, np.int32(bound + 1))
        while mask:
            at = start + lowest_bit(mask)
            mask &= mask - ONE
            tied[count] = at
            tied_keys[count] = np.int32(term_hash[terms[at]] >> np.uint32(1))
            count += ONE
    hash_bound, equal = kth_largest(tied_keys, count, surplus)
    for i in range(count):
        if tied_keys[i] >= hash_bound + np.int32(equal > ZERO):
            keys[tied[i]] = _LOWEST
            surplus -= ONE
    while surplus:  # equal hashes
        worst, worst_rank = ZERO, ZERO
        for i in range(count):
            term = terms[tied[i]]
            rank = (np.uint64(term_hash[term]) << np.uint64(32)) | np.uint64(term)
            if keys[tied[i]] == bound and rank >= worst_rank:
                worst, worst_rank = tied[i], rank
        keys[worst] = _LOWEST
        surplus -= ONE


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
    tied_keys: NDArray[np.int32],
) -> None:
    """Copy the `k` largest of the first `n` > k values, and their terms, in their order.

    Where values tie for the last places, those of smaller (hash, term) win.
    """
    bound, surplus = kth_largest(keys, n, k)
    if surplus:
        _drop_ties(terms, keys, n, bound, surplus, term_hash, tied, tied_keys)
    kept = ZERO
    for start in range(ZERO, n, STEP):
        mask = lanes_at_least(keys, start, bound)
        while mask:
            at = start + lowest_bit(mask)
            mask &= mask - ONE
            kept_terms[kept] = terms[at]
            kept_values[kept] = values[at]
            kept += ONE
