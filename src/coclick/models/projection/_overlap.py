"""`OverlapProjection`: a projection whose scores also count what both sides have in common, as it stands.

    score(q, d) = xᵀ (P Rᵀ + I) y

Queries and documents have the same features here. Similar queries are found by xᵀ (P Pᵀ + I) x', similar
documents likewise. The images are dense and the features sparse, so search scores every document.
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
    """A projection plus the plain product of features."""

    capabilities = ProjectionModel.capabilities - {"export"}  # embeddings are only half of its scores

    def _score(self, query: Query, docs: NDArray[np.int32]) -> Floats:
        """Both products."""
        embedded = self._embed_queries([query])[0]
        return _scores(embedded, self.features_of(query), self.doc_index_, self.doc_features_, docs)

    def _search(self, queries: Sequence[Query], k: int, mask: DocMask) -> TopK:
        """By all scores."""
        return Model._search(self, queries, k, mask)

    def _similar_queries(self, queries: Sequence[Query], k: int) -> TopK:
        """By embeddings and features of queries alone."""
        asked = zip(self._embed_queries(queries), map(self.features_of, queries), strict=True)
        return _nearest(asked, len(queries), self.query_index_, self.query_features_, k)

    def _similar_docs(self, docs: NDArray[np.int32], k: int) -> TopK:
        """By embeddings and features of documents alone."""
        features = (
            self.doc_features_.take_checked(docs[i : i + 1], "the features") for i in range(len(docs))
        )
        asked = zip(self.doc_index_.vectors[docs], features, strict=True)
        return _nearest(asked, len(docs), self.doc_index_, self.doc_features_, k)

    def weigh_features(self, query: Query, rows: Csr) -> Floats:
        """Both products."""
        index = DenseIndex.build(self.embed_doc_features(rows))
        every = np.arange(rows.rows, dtype=np.int32)
        return _scores(self._embed_queries([query])[0], self.features_of(query), index, rows, every)

    def products(self, asked: Csr, held: Csr) -> NDArray[np.float64]:
        """A feature of the query with the same feature of the document adds the product of their weights."""
        same = asked.indices[:, None] == held.indices[None, :]
        return super().products(asked, held) + same * np.outer(asked.data, held.data)


def _scores(image: Floats, features: Csr, index: DenseIndex, others: Csr, rows: NDArray[np.int32]) -> Floats:
    """The dot products of the image with images, and of the features with features; 0 where negative."""
    overlap = np.empty(len(rows), np.float32)
    spread = np.zeros(others.columns, np.float32)
    if not score_rows(others.indptr, others.indices, others.data, *features.row(0), rows, spread, overlap):
        raise corrupt_error("the features of the model are")
    return np.maximum(index.dots(image, rows) + overlap, np.float32(0))


def _nearest(
    asked: Iterable[tuple[Floats, Csr]], count: int, index: DenseIndex, features: Csr, k: int
) -> TopK:
    """The k nearest rows of each embedding with its features, by all scores."""
    rows, scores = padded(count, k)
    every = np.arange(features.rows, dtype=np.int32)
    for i, (embedded, its_features) in enumerate(asked):
        best, values = top_rows(_scores(embedded, its_features, index, features, every), k)
        rows[i, : len(best)], scores[i, : len(best)] = best, values
    return rows, scores
