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
from coclick.arrays.strings import Vocab
from coclick.errors import corrupt_error
from coclick.index.dense import DenseIndex
from coclick.kernels.dots import score_rows
from coclick.models.base import DocMask, Model, TopK, as_list
from coclick.models.projection._base import Floats, ProjectionModel
from coclick.results import Run, padded, top_rows, without_itself
from coclick.text.analyzer import normalise


class OverlapProjection(ProjectionModel):
    """A projection plus the plain product of features."""

    can_export = False  # images are only half of its scores

    def _score(self, query: str, docs: NDArray[np.int32]) -> Floats:
        """Both products."""
        image = self.embed_queries([query])[0]
        return _scores(image, self.features_of(query), self.doc_index_, self.doc_features_, docs)

    def _search(self, queries: Sequence[str], k: int, allowed: DocMask) -> TopK:
        """By all scores."""
        return Model._search(self, queries, k, allowed)

    def similar_queries(self, queries: str | Sequence[str], k: int = 10) -> Run:
        """By images and features of queries alone."""
        texts = [normalise(query) for query in as_list(queries)]
        k = self._clip(k, len(self.trained_on.queries))
        asked = zip(self.embed_queries(texts), map(self.features_of, texts), strict=True)
        own = self.graph_.queries.lookup(texts)
        return _similar(asked, self.query_index_, self.query_features_, own, k, self.graph_.queries)

    def similar_docs(self, docs: str | Sequence[str], k: int = 10) -> Run:
        """By images and features of documents alone."""
        rows = self.rows_of_docs(as_list(docs))
        k = self._clip(k, len(self.graph_.docs))
        features = (
            self.doc_features_.take_checked(rows[i : i + 1], "the features") for i in range(len(rows))
        )
        asked = zip(self.doc_index_.vectors[rows], features, strict=True)
        return _similar(asked, self.doc_index_, self.doc_features_, rows, k, self.graph_.docs)

    def weigh_features(self, query: str, rows: Csr) -> Floats:
        """Both products."""
        index = DenseIndex.build(self.embed_doc_features(rows))
        every = np.arange(rows.rows, dtype=np.int32)
        return _scores(self.embed_queries([query])[0], self.features_of(query), index, rows, every)

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


def _similar(
    asked: Iterable[tuple[Floats, Csr]], index: DenseIndex, features: Csr, own: NDArray[np.int32], k: int,
    names: Vocab,
) -> Run:  # fmt: skip
    """The nearest rows without the row itself, for which one more is fetched."""
    rows, scores = padded(len(own), min(k + 1, len(names)))
    every = np.arange(len(names), dtype=np.int32)
    for i, (image, its_features) in enumerate(asked):
        best, values = top_rows(_scores(image, its_features, index, features, every), rows.shape[1])
        rows[i, : len(best)], scores[i, : len(best)] = best, values
    return Run(*without_itself(rows, scores, own, k), names)
