"""`Run`: ranked rows with their scores, the only thing that leaves a model."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from coclick.arrays.strings import Vocab


@dataclass(frozen=True)
class Run:
    """For each query its best rows, best first: `rows[i, j]` is −1 where there are no more."""

    rows: NDArray[np.int32]
    scores: NDArray[np.float32]
    names: Vocab

    def __len__(self) -> int:
        return len(self.rows)

    def hits(self, query: int = 0) -> list[tuple[str, float]]:
        """One query's results as (name, score)."""
        found = self.rows[query] >= 0
        rows, scores = self.rows[query][found].tolist(), self.scores[query][found].tolist()
        return [(self.names[row], score) for row, score in zip(rows, scores, strict=True)]


def top_rows(scores: NDArray[np.float32], k: int) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
    """The k best rows above zero by score, then by row; for scores that are at hand for every row."""
    candidates = np.flatnonzero(scores > 0)
    if len(candidates) > k > 0:
        kth = np.partition(scores[candidates], len(candidates) - k)[len(candidates) - k]
        candidates = candidates[scores[candidates] >= kth]
    best = candidates[np.lexsort((candidates, -scores[candidates]))][:k]
    return best.astype(np.int32), scores[best]


def without_itself(
    rows: NDArray[np.int32], scores: NDArray[np.float32], own: NDArray[np.int32], k: int
) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
    """k of k + 1 neighbours that were found for each row `own`, without that row; −1 is no row."""
    itself = rows == own[:, None]
    itself &= own[:, None] >= 0
    order = np.argsort(itself, axis=1, kind="stable")
    rows = np.take_along_axis(np.where(itself, -1, rows), order, 1).astype(np.int32)
    scores = np.take_along_axis(np.where(itself, 0, scores), order, 1).astype(np.float32)
    return rows[:, :k], scores[:, :k]
