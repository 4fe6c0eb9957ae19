"""Dot products of sparse rows with one query, which is scattered into a dense array.

The arrays may come from damaged files: a row with an index out of bounds scores NaN.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from coclick.jit.compiler import jit_noalloc
from coclick.jit.intrinsics import prefetch

BATCH = 32  # rows that are prefetched at a time


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
    """Score the given rows; return False if one is damaged."""
    sound = True
    scatter_query(terms, weights, dense)
    for first in range(0, len(rows), BATCH):
        last = min(first + BATCH, len(rows))
        prefetch_rows(indptr, indices, data, rows[first:last])
        for i in range(first, last):
            scores[i] = dot(indptr, indices, data, dense, rows[i])
            sound &= scores[i] >= 0.0
    clear_query(terms, dense)
    return sound


@jit_noalloc
def dot(
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    data: NDArray[np.float32],
    dense: NDArray[np.float32],
    row: int,
) -> np.float32:
    """Return the dot product of a row with the query, summed by ascending term; NaN for a damaged row."""
    if row < 0 or row >= len(indptr) - 1:
        return np.float32(np.nan)
    start, end = indptr[row], indptr[row + 1]
    if start < 0 or end > len(indices) or end > len(data):
        return np.float32(np.nan)
    total = 0.0
    for at in range(
        np.uint64(start), np.uint64(end)
    ):  # unsigned: numba tests signed indices for negative values
        term = np.uint32(indices[at])
        if term >= len(dense):
            return np.float32(np.nan)
        total += np.float64(dense[term]) * np.float64(data[at])
    return np.float32(total)


@jit_noalloc
def prefetch_rows(
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    data: NDArray[np.float32],
    rows: NDArray[np.int32],
) -> None:
    """Prefetch rows together: loading them one after the other takes three times as long."""
    for row in rows:
        if 0 <= row < len(indptr) - 1:
            for at in (indptr[row], indptr[row + 1] - 1):
                prefetch(indices, at)
                prefetch(data, at)


@jit_noalloc
def scatter_query(terms: NDArray[np.int32], weights: NDArray[np.float32], dense: NDArray[np.float32]) -> None:
    """Add the positive weights of the query to `dense`; unknown terms are skipped."""
    for i in range(len(terms)):
        if 0 <= terms[i] < len(dense) and weights[i] > 0.0:
            dense[terms[i]] += weights[i]


@jit_noalloc
def clear_query(terms: NDArray[np.int32], dense: NDArray[np.float32]) -> None:
    """Reset the terms of the query in `dense` to zero."""
    for i in range(len(terms)):
        if 0 <= terms[i] < len(dense):
            dense[terms[i]] = 0.0
