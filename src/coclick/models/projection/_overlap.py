"""`OverlapProjection`: a projection whose scores include the dot product of the features themselves.

    score(q, d) = xᵀ (P Rᵀ + I) y

Queries and documents have the same features. Similar queries are found by xᵀ (P Pᵀ + I) x', similar documents
likewise. Embeddings are dense and features sparse, so search scores every document.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from coclick.arrays.csr import Csr
from coclick.errors import corrupt_error
from coclick.index.dense import DenseIndex
from coclick.kernels.dots import score_rows
from coclick.models.base import DocMask, Model, TopK
from coclick.models.projection._base import Floats, ProjectionModel
from coclick.results import padded, top_rows
from coclick.text.query import Query


class OverlapProjection(ProjectionModel):
    """A projection plus the dot product of features."""

    capabilities = ProjectionModel.capabilities - {
        "export"
    }  # scores are not dot products of embeddings alone

    def _score(self, query: Query, docs: NDArray[np.int32]) -> Floats:
        """Return the sums of both dot products."""
        embedded = self._embed_queries([query])[0]
        return _scores(embedded, self._query_features(query), self.doc_index_, self.doc_features_, docs)

    def _score_all_of(self, queries: Sequence[Query]) -> Floats:
        """Return the sums of both dot products for each query."""
        return Model._score_all_of(self, queries)

    def _search(self, queries: Sequence[Query], k: int, mask: DocMask) -> TopK:
        """Score all documents."""
        return Model._search(self, queries, k, mask)

    def _similar_queries(self, queries: Sequence[Query], k: int) -> TopK:
        """Score all queries by their embeddings and features."""
        asked = zip(self._embed_queries(queries), map(self._query_features, queries), strict=True)
        return _nearest(asked, len(queries), self.query_index_, self.query_features_, k)

    def _similar_docs(self, docs: NDArray[np.int32], k: int) -> TopK:
        """Score all documents by their embeddings and features."""
        features = (
            self.doc_features_.take_checked(docs[i : i + 1], "the features") for i in range(len(docs))
        )
        asked = zip(self.doc_index_.vectors[docs], features, strict=True)
        return _nearest(asked, len(docs), self.doc_index_, self.doc_features_, k)

    def _score_features(self, query: Query, rows: Csr) -> Floats:
        """Return the sums of both dot products."""
        index = DenseIndex.build(self._embed_doc_features(rows))
        every = np.arange(rows.rows, dtype=np.int32)
        return _scores(self._embed_queries([query])[0], self._query_features(query), index, rows, every)

    def _feature_products(self, query_row: Csr, doc_row: Csr) -> NDArray[np.float64]:
        """Return the products of the projection, plus the weights of features that both sides have."""
        same = query_row.indices[:, None] == doc_row.indices[None, :]
        return super()._feature_products(query_row, doc_row) + same * np.outer(query_row.data, doc_row.data)


def _scores(
    embedding: Floats, features: Csr, index: DenseIndex, others: Csr, rows: NDArray[np.int32]
) -> Floats:
    """The sums of the dot products of embeddings and of features; 0 where negative."""
    overlap = np.empty(len(rows), np.float32)
    spread = np.zeros(others.columns, np.float32)
    if not score_rows(others.indptr, others.indices, others.data, *features.row(0), rows, spread, overlap):
        raise corrupt_error("the features of the model are")
    return np.maximum(index.dots(embedding, rows) + overlap, np.float32(0))


def _nearest(
    asked: Iterable[tuple[Floats, Csr]], count: int, index: DenseIndex, features: Csr, k: int
) -> TopK:
    """The k nearest rows of each embedding with its features."""
    rows, scores = padded(count, k)
    every = np.arange(features.rows, dtype=np.int32)
    for i, (embedded, its_features) in enumerate(asked):
        best, values = top_rows(_scores(embedded, its_features, index, features, every), k)
        rows[i, : len(best)], scores[i, : len(best)] = best, values
    return rows, scores
