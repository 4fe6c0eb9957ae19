"""A heap of the best rows found so far: the worst of them at its root, ready to be replaced.

Rows are ordered by score, and rows of the same score by their number, the smaller first.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from coclick.jit.compiler import borrowing


@borrowing
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


@borrowing
def best_first(scores: NDArray[np.float32], rows: NDArray[np.int32], size: int) -> None:
    """Heap sort."""
    while size > 1:
        size -= 1
        score, row = scores[size], rows[size]
        scores[size], rows[size] = scores[0], rows[0]
        _sink(scores, rows, size, score, row)


@borrowing
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


@borrowing
def _worse(score: np.float32, row: int, other_score: np.float32, other_row: int) -> bool:
    return bool(score < other_score or (score == other_score and row > other_row))
