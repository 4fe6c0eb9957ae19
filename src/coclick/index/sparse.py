"""`VectorIndex`: exact top-k search over sparse vectors through an inverted index."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np
from numpy.typing import NDArray

from coclick.arrays.csr import Csr
from coclick.jit.threads import balanced_blocks, run_blocks, threads
from coclick.kernels.blocks import BLOCK, STRIP, Blocks, block_count, build_blocks
from coclick.kernels.postings import Postings
from coclick.kernels.search import NO_MASK, Scratch, score_rows, search_block
from coclick.storage.layout import Index, Pointers, Shape
from coclick.storage.state import stored

_local = threading.local()
_QUERIES_PER_BLOCK = 16
_MAX_SCRATCHES = 8  # kept in each thread


@stored
@dataclass(frozen=True)
class VectorIndex:
    """Vectors by row, postings by term (places of rows, heaviest first), and blocks of similar rows."""

    dimensions: ClassVar = ("rows", "terms")
    vectors: Annotated[Csr, Shape("rows", "terms")]
    indptr: Annotated[NDArray[np.int64], Pointers("terms", "postings")]
    places: Annotated[NDArray[np.int32], Shape("postings"), Index("rows")]
    weights: Annotated[NDArray[np.float32], Shape("postings")]
    order: Annotated[NDArray[np.int32], Shape("rows"), Index("rows")]
    common: Annotated[NDArray[np.int32], Shape("common"), Index("terms")]
    strips: Annotated[NDArray[np.uint8], Shape("blocks", "common", BLOCK // STRIP)]
    blocks: Annotated[NDArray[np.uint8], Shape("common", "blocks")]

    def sizes(self) -> dict[str, int]:
        """Return the sizes that follow from others."""
        return {"blocks": block_count(self.vectors.rows)}

    @classmethod
    def build(cls, vectors: Csr) -> VectorIndex:
        """Index the rows of a matrix with non-negative entries."""
        postings, blocks = build_blocks(vectors.indptr, vectors.indices, vectors.data, vectors.columns)
        return cls(vectors, *postings, blocks.order, blocks.common, blocks.strips, blocks.blocks)

    def search(
        self, queries: Csr, k: int, allowed: NDArray[np.uint8] | None = None
    ) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
        """Return for each query the k rows with the largest dot products, best first, padded with −1.

        Ties go to the smaller row; rows that share no term with the query are never returned.
        """
        found = np.empty((queries.rows, k), np.int32)
        scores = np.empty((queries.rows, k), np.float32)
        postings = Postings(self.indptr, self.places, self.weights)
        blocks = Blocks(self.order, self.common, self.strips, self.blocks)
        forward = self.vectors.indptr, self.vectors.indices, self.vectors.data
        wanted = queries.indptr, queries.indices, queries.data
        mask = NO_MASK if allowed is None else allowed

        def work(first: int, last: int) -> None:
            scratch = self._scratch()
            search_block(postings, blocks, *forward, *wanted, first, last, found, scores, scratch, mask)

        parts = 1 if threads() == 1 else -(-queries.rows // _QUERIES_PER_BLOCK)
        run_blocks(work, balanced_blocks(queries.indptr, max(parts, 1)))
        return found, scores

    def score(self, query: Csr, rows: NDArray[np.int32]) -> NDArray[np.float32]:
        """Return the dot products of one query (the only row of `query`) with the given rows."""
        return self._dots(query, self.vectors, rows)

    def score_others(self, query: Csr, vectors: Csr) -> NDArray[np.float32]:
        """Return the dot products of one query (the only row of `query`) with other vectors."""
        return self._dots(query, vectors, np.arange(vectors.rows, dtype=np.int32))

    def score_all(self, query: Csr) -> NDArray[np.float32]:
        """Return the dot products of one query (the only row of `query`) with all rows."""
        by_place = np.zeros(self.vectors.rows, np.float32)
        for term, weight in zip(*query.row(0), strict=True):
            of_term = slice(self.indptr[term], self.indptr[term + 1])
            by_place[self.places[of_term]] += weight * self.weights[of_term]
        scores = np.empty_like(by_place)
        scores[self.order] = by_place
        return scores

    def _dots(self, query: Csr, vectors: Csr, rows: NDArray[np.int32]) -> NDArray[np.float32]:
        terms, weights = query.row(0)
        scratch = self._scratch()
        return score_rows(vectors.indptr, vectors.indices, vectors.data, terms, weights, rows, scratch)

    def _scratch(self) -> Scratch:
        """This thread's working memory for indexes of this size.

        A service searches several indexes in turn, and allocating this memory costs more than a search.
        """
        size = self.vectors.rows, self.vectors.columns
        kept: dict[tuple[int, int], Scratch] = _local.__dict__.setdefault("scratches", {})
        if size not in kept:
            while len(kept) >= _MAX_SCRATCHES:
                del kept[next(iter(kept))]
            kept[size] = Scratch(*size)
        return kept[size]
