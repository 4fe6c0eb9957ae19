"""`VectorIndex`: rows of sparse vectors, searched exactly through the words they hold."""

from __future__ import annotations

import math
import threading
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from coclick.kernels.postings import EVERYTHING, Postings, Scratch, build_postings, score_rows, search_block
from coclick.kernels.threads import balanced_blocks, run_blocks, threads
from coclick.sparse import Csr
from coclick.state import stored

_local = threading.local()
_QUERIES_A_BLOCK = 16
_SIZES_KEPT = 8  # of working memory, in each thread


@stored
@dataclass(frozen=True)
class VectorIndex:
    """Vectors by row, and for each term the rows that hold it, heaviest first."""

    vectors: Csr
    indptr: NDArray[np.int64]
    rows: NDArray[np.int32]
    weights: NDArray[np.float32]
    max_norm: float | None  # no vector is longer; None where that is not known

    @classmethod
    def build(cls, vectors: Csr, max_norm: float | None = None) -> VectorIndex:
        """Index the rows of a matrix with non-negative entries."""
        postings = build_postings(vectors.indptr, vectors.indices, vectors.data, vectors.columns)
        return cls(vectors, *postings, max_norm)

    def search(
        self, queries: Csr, k: int, allowed: NDArray[np.uint8] | None = None
    ) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
        """For each query the k rows with the largest dot products, best first; −1 where there are no more.

        Ties go to the smaller row; rows that share nothing with the query are never returned.
        """
        found = np.empty((queries.rows, k), np.int32)
        scores = np.empty((queries.rows, k), np.float32)
        postings = Postings(self.indptr, self.rows, self.weights)
        forward = self.vectors.indptr, self.vectors.indices, self.vectors.data
        asked = queries.indptr, queries.indices, queries.data
        bound = math.inf if self.max_norm is None else self.max_norm
        mask = EVERYTHING if allowed is None else allowed

        def work(first: int, last: int) -> None:
            scratch = self._scratch()
            search_block(postings, *forward, *asked, first, last, found, scores, scratch, bound, mask)

        blocks = 1 if threads() == 1 else -(-queries.rows // _QUERIES_A_BLOCK)
        run_blocks(work, balanced_blocks(queries.indptr, max(blocks, 1)))
        return found, scores

    def score(self, query: Csr, rows: NDArray[np.int32]) -> NDArray[np.float32]:
        """The dot products of one query (the only row of `query`) with the given rows."""
        return self._dots(query, self.vectors, rows)

    def score_others(self, query: Csr, vectors: Csr) -> NDArray[np.float32]:
        """The dot products of one query (the only row of `query`) with rows that are not indexed."""
        return self._dots(query, vectors, np.arange(vectors.rows, dtype=np.int32))

    def score_all(self, query: Csr) -> NDArray[np.float32]:
        """The dot products of one query (the only row of `query`) with all rows."""
        scores = np.zeros(self.vectors.rows, np.float32)
        for term, weight in zip(*query.row(0), strict=True):
            of_term = slice(self.indptr[term], self.indptr[term + 1])
            scores[self.rows[of_term]] += weight * self.weights[of_term]
        return scores

    def _dots(self, query: Csr, vectors: Csr, rows: NDArray[np.int32]) -> NDArray[np.float32]:
        terms, weights = query.row(0)
        scratch = self._scratch()
        return score_rows(vectors.indptr, vectors.indices, vectors.data, terms, weights, rows, scratch)

    def _scratch(self) -> Scratch:
        """This thread's working memory for indexes of this size; that of a few sizes is kept.

        A service asks several indexes in turn, and to make this anew costs more than a search.
        """
        size = self.vectors.rows, self.vectors.columns
        kept: dict[tuple[int, int], Scratch] = _local.__dict__.setdefault("scratches", {})
        if size not in kept:
            while len(kept) >= _SIZES_KEPT:
                del kept[next(iter(kept))]
            kept[size] = Scratch(*size)
        return kept[size]
