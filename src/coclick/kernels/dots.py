"""Dot products of sparse rows with one query, which lies spread over a dense array.

The arrays may come from files that somebody damaged: a row that points outside of them scores NaN.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from coclick.jit.compiler import jit_noalloc
from coclick.jit.intrinsics import prefetch

TOGETHER = 32  # rows that are fetched from memory at a time


@jit_noalloc
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
    spread(terms, weights, dense)
    for first in range(0, len(rows), TOGETHER):
        last = min(first + TOGETHER, len(rows))
        fetch(indptr, indices, data, rows[first:last])
        for i in range(first, last):
            scores[i] = dot(indptr, indices, data, dense, rows[i])
            sound &= scores[i] >= 0.0
    wipe(terms, dense)
    return sound


@jit_noalloc
def dot(
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
    for at in range(np.uint64(start), np.uint64(end)):  # unsigned: no test for negative indices
        term = np.uint32(indices[at])
        if term >= len(dense):
            return np.float32(np.nan)
        total += np.float64(dense[term]) * np.float64(data[at])
    return np.float32(total)


@jit_noalloc
def fetch(
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    data: NDArray[np.float32],
    rows: NDArray[np.int32],
) -> None:
    """Load rows from memory together: waiting for one after the other takes three times as long."""
    for row in rows:
        if 0 <= row < len(indptr) - 1:
            for at in (indptr[row], indptr[row + 1] - 1):
                prefetch(indices, at)
                prefetch(data, at)


@jit_noalloc
def spread(terms: NDArray[np.int32], weights: NDArray[np.float32], dense: NDArray[np.float32]) -> None:
    """Add the query's positive weights to `dense`; terms that do not exist are left out."""
    for i in range(len(terms)):
        if 0 <= terms[i] < len(dense) and weights[i] > 0.0:
            dense[terms[i]] += weights[i]


@jit_noalloc
def wipe(terms: NDArray[np.int32], dense: NDArray[np.float32]) -> None:
    """Set `dense` to zero again."""
    for i in range(len(terms)):
        if 0 <= terms[i] < len(dense):
            dense[terms[i]] = 0.0
