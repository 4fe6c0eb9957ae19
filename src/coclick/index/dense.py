"""`DenseIndex`: rows of dense vectors, searched exactly, many queries at a time.

Matrix products of blocks find what may be among the best; their float32 sums depend on the company of a row,
so what they find is scored again one by one. A score is thus the same in any batch and among any candidates.
Dot products that are negative, or no more than rounding, count as nothing found.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from coclick.errors import corrupt_error
from coclick.jit.threads import run_blocks
from coclick.kernels.dense import candidates, dot_rows
from coclick.kernels.search import EVERYTHING
from coclick.results import top_rows
from coclick.storage.state import stored

Floats = NDArray[np.float32]

_SCORES = 1 << 24  # that are in memory at a time
_NOTHING = 1e-6  # of the product of lengths: what is less would be zero but for rounding
_ROUNDING = 2.0**-23  # of a float32 product and sum, for each dimension


@stored
@dataclass(frozen=True)
class DenseIndex:
    """One vector a row."""

    vectors: Floats
    longest: float  # no vector is longer

    @classmethod
    def build(cls, vectors: Floats) -> DenseIndex:
        """Index the rows of a matrix."""
        return cls(np.ascontiguousarray(vectors), longest_row(vectors))

    def search(
        self, queries: Floats, k: int, allowed: NDArray[np.uint8] | None = None
    ) -> tuple[NDArray[np.int32], Floats]:
        """For each query the k rows with the largest positive dot products, best first; −1 where no more."""
        found = np.full((len(queries), k), -1, np.int32)
        scores = np.zeros((len(queries), k), np.float32)
        block = max(1, _SCORES // max(len(self.vectors), 1))
        mask = EVERYTHING if allowed is None else allowed
        for start in range(0, len(queries), block):
            asked = np.ascontiguousarray(queries[start : start + block])
            rough = asked @ self.vectors.T
            margins = len(self.vectors.T) * _ROUNDING * self.longest * np.linalg.norm(asked, axis=1)

            def work(
                first: int, last: int, at: int = start, rough: Floats = rough, asked: Floats = asked
            ) -> None:
                for i in range(first, last):
                    rows = candidates(rough[i], k, float(margins[i]), mask)  # noqa: B023
                    best, values = top_rows(self.score(asked[i], rows), k)
                    found[at + i, : len(best)], scores[at + i, : len(best)] = rows[best], values

            run_blocks(work, [(i, i + 1) for i in range(len(asked))])
        return found, scores

    def score(self, query: Floats, rows: NDArray[np.int32]) -> Floats:
        """The dot products of one query with the given rows; 0 where negative or no more than rounding."""
        dots = self.dots(query, rows)
        dots[dots <= _NOTHING * self.longest * np.linalg.norm(query)] = 0
        return dots

    def dots(self, query: Floats, rows: NDArray[np.int32]) -> Floats:
        """The dot products of one query with the given rows."""
        dots = np.empty(len(rows), np.float32)
        dot_rows(self.vectors, rows, query, dots)
        if not np.isfinite(dots).all():
            raise corrupt_error("the vectors of the model are")
        return dots

    def score_all(self, query: Floats) -> Floats:
        """The dot products of one query with all rows, 0 where negative."""
        return self.score(query, np.arange(len(self.vectors), dtype=np.int32))

    def find_defect(self) -> str | None:
        """What is wrong with the content, reading all of it: for `coclick verify`."""
        return None if np.isfinite(self.vectors).all() else "a value is not a number"


def longest_row(matrix: Floats) -> float:
    """The largest Euclidean length of a row."""
    return float(np.sqrt(np.einsum("ij,ij->i", matrix, matrix).max(initial=0)))
