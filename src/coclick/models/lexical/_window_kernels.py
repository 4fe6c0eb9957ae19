"""Match words and word pairs by merging sorted lists of places.

A place is one number: the row of the document in the upper 32 bits, the position in the lower. Documents are
further apart than any window, so the difference of two places decides a match. Each function returns the
rows with a match, ascending, and the sum of the weights of their matches.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from coclick.jit.compiler import jit, jit_inline

ROW_SHIFT = 32

Matches = tuple[NDArray[np.int64], NDArray[np.float64]]


@jit
def match_word(places: NDArray[np.int64], weights: NDArray[np.float32]) -> Matches:
    """Match every place of a word."""
    count = min(len(places), len(weights))
    rows, sums, found = np.empty(count, np.int64), np.empty(count, np.float64), 0
    for at in range(count):
        found = _add(rows, sums, found, places[at], weights[at])
    return rows[:found], sums[:found]


@jit
def match_ordered(
    places: NDArray[np.int64], weights: NDArray[np.float32], next_places: NDArray[np.int64]
) -> Matches:
    """Match the places of a word that a place of the next word directly follows."""
    count = min(len(places), len(weights))
    rows, sums, found = np.empty(count, np.int64), np.empty(count, np.float64), 0
    at, other = 0, 0
    while at < count and other < len(next_places):
        if next_places[other] <= places[at]:
            other += 1
        else:
            if next_places[other] == places[at] + 1:
                found = _add(rows, sums, found, places[at], weights[at])
            at += 1
    return rows[:found], sums[:found]


@jit
def match_unordered(
    places: NDArray[np.int64], weights: NDArray[np.float32], other_places: NDArray[np.int64], window: int
) -> Matches:
    """Match pairs of places, one of each word, within a window.

    Pairs are taken from left to right, and no place is used twice.
    """
    count = min(len(places), len(weights))
    rows, sums, found = np.empty(count, np.int64), np.empty(count, np.float64), 0
    at, other = 0, 0
    while at < count and other < len(other_places):
        distance = other_places[other] - places[at]
        if abs(distance) < window:
            found = _add(rows, sums, found, places[at], weights[at])
            at += 1
            other += 1
        elif distance > 0:
            at += 1
        else:
            other += 1
    return rows[:found], sums[:found]


@jit
def match_twice(places: NDArray[np.int64], weights: NDArray[np.float32], window: int) -> Matches:
    """Match pairs of places of the same word within a window."""
    count = min(len(places), len(weights))
    rows, sums, found = np.empty(count, np.int64), np.empty(count, np.float64), 0
    at = 0
    while at + 1 < count:
        if places[at + 1] - places[at] < window:
            found = _add(rows, sums, found, places[at], weights[at])
            at += 2
        else:
            at += 1
    return rows[:found], sums[:found]


@jit_inline
def _add(
    rows: NDArray[np.int64], sums: NDArray[np.float64], found: int, place: int, weight: float
) -> int:  # fmt: skip
    """Add a match to the last row or to a new one, and return the number of rows."""
    row = place >> ROW_SHIFT
    if found == 0 or rows[found - 1] != row:
        rows[found], sums[found] = row, 0.0
        found += 1
    sums[found - 1] += weight
    return found
