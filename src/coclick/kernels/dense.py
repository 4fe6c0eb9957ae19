"""Dot products of dense rows with one query, independent of the other rows, and candidate selection."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from coclick.jit.compiler import jit
from coclick.jit.selection import push

_LANES = 8


@jit
def dot_rows(
    vectors: NDArray[np.float32],
    rows: NDArray[np.int32],
    query: NDArray[np.float32],
    dots: NDArray[np.float32],
) -> None:
    """Compute the dot product of the query with each row, summed in float64 in a fixed order."""
    for i in range(len(rows)):
        dots[i] = dot(vectors[rows[i]], query)


@jit
def dot(vector: NDArray[np.float32], query: NDArray[np.float32]) -> np.float32:
    """Return the dot product. Eight independent sums avoid waiting for each addition."""
    whole = len(query) - len(query) % _LANES
    a = b = c = d = e = f = g = h = 0.0
    for j in range(0, whole, _LANES):
        a += np.float64(vector[j]) * np.float64(query[j])
        b += np.float64(vector[j + 1]) * np.float64(query[j + 1])
        c += np.float64(vector[j + 2]) * np.float64(query[j + 2])
        d += np.float64(vector[j + 3]) * np.float64(query[j + 3])
        e += np.float64(vector[j + 4]) * np.float64(query[j + 4])
        f += np.float64(vector[j + 5]) * np.float64(query[j + 5])
        g += np.float64(vector[j + 6]) * np.float64(query[j + 6])
        h += np.float64(vector[j + 7]) * np.float64(query[j + 7])
    rest = 0.0
    for j in range(whole, len(query)):
        rest += np.float64(vector[j]) * np.float64(query[j])
    return np.float32(((a + b) + (c + d)) + ((e + f) + (g + h)) + rest)


@jit
def candidates(
    scores: NDArray[np.float32], k: int, margin: float, allowed: NDArray[np.uint8]
) -> NDArray[np.int32]:
    """Return the rows that may be among the k best above zero if no score is off by more than `margin`.

    An empty `allowed` permits every row.
    """
    best, rows, size = np.empty(k, np.float32), np.empty(k, np.int32), 0
    everything = len(allowed) == 0
    for row in range(len(scores)):
        score = scores[row]
        if (size < k or score > best[0]) and score > -margin and (everything or allowed[row] > 0):
            size = push(best, rows, size, score, row)
    least = np.float64(-margin)
    if size == k:
        least = max(least, np.float64(best[0]) - 2 * margin)
    found, count = np.empty(2 * k + 64, np.int32), 0
    for row in range(len(scores)):
        if scores[row] >= least and (everything or allowed[row] > 0):
            if count == len(found):
                larger = np.empty(2 * count, np.int32)
                larger[:count] = found
                found = larger
            found[count] = row
            count += 1
    return found[:count]
