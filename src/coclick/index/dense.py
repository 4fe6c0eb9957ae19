"""`DenseIndex`: rows of dense vectors, searched exactly, many queries at a time.

Blocked matrix products find the candidates. Their float32 sums depend on the other rows of a block, so the
candidates are scored again one by one: a score is the same in any batch and among any candidates. Dot
products that are negative or within rounding error of zero do not match.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np
from numpy.typing import NDArray

from coclick.errors import corrupt_error
from coclick.jit.blas import single_threaded_blas
from coclick.jit.threads import run_blocks, threads
from coclick.kernels.dense import candidates, dot_rows
from coclick.kernels.search import NO_MASK
from coclick.results import padded, top_rows
from coclick.storage.layout import Shape
from coclick.storage.state import stored

Floats = NDArray[np.float32]

_MAX_SCORES = 1 << 24  # in memory at a time
_MIN_COSINE = 1e-6  # smaller dot products, relative to the lengths, may be rounding errors
_ROUNDING = 2.0**-23  # relative error of a float32 product and sum, per dimension


@stored
@dataclass(frozen=True)
class DenseIndex:
    """A matrix of dense vectors, one per row."""

    dimensions: ClassVar = ("rows", "dim")
    vectors: Annotated[Floats, Shape("rows", "dim")]
    longest: float  # the largest length of a vector

    @classmethod
    def build(cls, vectors: Floats) -> DenseIndex:
        """Index the rows of a matrix."""
        return cls(np.ascontiguousarray(vectors), longest_row(vectors))

    def search(
        self, queries: Floats, k: int, allowed: NDArray[np.uint8] | None = None
    ) -> tuple[NDArray[np.int32], Floats]:
        """Return the k rows with the largest positive dot products for each query, padded with −1."""
        found, scores = padded(len(queries), k)
        block = max(1, _MAX_SCORES // max(len(self.vectors), 1))
        mask = NO_MASK if allowed is None else allowed
        for start in range(0, len(queries), block):
            part = slice(start, start + block)
            self._search_block(np.ascontiguousarray(queries[part]), k, mask, found[part], scores[part])
        return found, scores

    def _search_block(
        self, queries: Floats, k: int, mask: NDArray[np.uint8], found: NDArray[np.int32], scores: Floats
    ) -> None:
        """Write the results of some queries into `found` and `scores`."""
        margins = len(self.vectors.T) * _ROUNDING * self.longest * np.linalg.norm(queries, axis=1)

        def work(first: int, last: int) -> None:
            rough = queries[first:last] @ self.vectors.T
            for i in range(first, last):
                rows = candidates(rough[i - first], k, float(margins[i]), mask)
                best, values = top_rows(self.score(queries[i], rows), k)
                found[i, : len(best)], scores[i, : len(best)] = rows[best], values

        size = -(-len(queries) // threads())
        with single_threaded_blas():
            run_blocks(work, [(i, min(i + size, len(queries))) for i in range(0, len(queries), size)])

    def score(self, query: Floats, rows: NDArray[np.int32]) -> Floats:
        """Return the dot products of one query with rows; 0 if negative or within rounding error."""
        dots = self.dots(query, rows)
        dots[dots <= _MIN_COSINE * self.longest * np.linalg.norm(query)] = 0
        return dots

    def dots(self, query: Floats, rows: NDArray[np.int32]) -> Floats:
        """Return the dot products of one query with the given rows."""
        dots = np.empty(len(rows), np.float32)
        dot_rows(self.vectors, rows, query, dots)
        if not np.isfinite(dots).all():
            raise corrupt_error("the vectors of the model are")
        return dots

    def score_all(self, query: Floats) -> Floats:
        """Return the dot products of one query with all rows, 0 where negative."""
        return self.score(query, np.arange(len(self.vectors), dtype=np.int32))

    def find_defect(self) -> str | None:
        """Read all of the content and return what is wrong with it, or None; for `coclick verify`."""
        return None if np.isfinite(self.vectors).all() else "a value is not a number"


def longest_row(matrix: Floats) -> float:
    """Return the largest Euclidean length of a row."""
    return float(np.sqrt(np.einsum("ij,ij->i", matrix, matrix).max(initial=0)))
