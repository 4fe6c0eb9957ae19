"""`BiasedProjection`: a projection whose scores have a mean and biases of the features of both sides.

    score(q, d) = μ + b_q·x + b_d·y + xᵀ P Rᵀ y

The maps are P with a column b_q and R with a column b_d. Embeddings have two columns for the biases, so that
their dot product is the score: (xᵀP, μ + b_q·x, 1) and (yᵀR, 1, b_d·y). The embedding of a text without
features is zero.
"""

from __future__ import annotations

from typing import Annotated

import numpy as np

from coclick.arrays.csr import Csr
from coclick.models.projection._base import Floats, ProjectionModel
from coclick.models.projection.linear_map import DenseMap
from coclick.progress import Progress
from coclick.results import Contribution
from coclick.storage.layout import Shape


class BiasedProjection(ProjectionModel):
    """A projection with biases."""

    mean_: float
    query_bias_: Annotated[Floats, Shape("query_features")]
    doc_bias_: Annotated[Floats, Shape("doc_features")]

    def _build_biased_embeddings(
        self, maps: tuple[Floats, Floats], biases: tuple[Floats, Floats], mean: float, progress: Progress
    ) -> None:
        """Set the learned maps and biases of queries and documents, and embed everything."""
        self.mean_ = mean
        self.query_bias_, self.doc_bias_ = biases
        query_map = np.column_stack([maps[0], biases[0], np.zeros_like(biases[0])])
        doc_map = np.column_stack([maps[1], np.zeros_like(biases[1]), biases[1]])
        self._build_embeddings(DenseMap.from_blocks([query_map]), DenseMap.from_blocks([doc_map]), progress)

    def _embed_query_features(self, features: Csr) -> Floats:
        """Return embeddings with μ added to the bias, and 1 for the bias of documents."""
        return _add_biases(super()._embed_query_features(features), features, self.mean_, 1)

    def _embed_doc_features(self, features: Csr) -> Floats:
        """Return embeddings with 1 for the bias of queries."""
        return _add_biases(super()._embed_doc_features(features), features, 1, 0)

    def _without_biases(self, embeddings: Floats) -> Floats:
        """Return the embeddings with biases set to zero, because they do not measure similarity."""
        embeddings = embeddings.copy()
        embeddings[:, -2:] = 0
        return embeddings

    def _contributions(self, query_row: Csr, doc_row: Csr, clicks: int | None) -> list[Contribution]:
        """Return the products of features, the biases and the mean."""
        if not (query_row.nnz and doc_row.nnz):
            return []
        biases = [
            Contribution(f"{kind} {view}", label, float(value))
            for kind, rows, bias, name in (
                ("bias of query", query_row, self.query_bias_, self.features_.query_label),
                ("bias of document", doc_row, self.doc_bias_, self.features_.doc_label),
            )
            for column, value in zip(rows.indices.tolist(), rows.data * bias[rows.indices], strict=True)
            for view, label in [name(column, self.graph_)]
        ]
        return [
            *super()._contributions(query_row, doc_row, clicks),
            *biases,
            Contribution("mean", "of the training data", self.mean_),
        ]


def _add_biases(embeddings: Floats, features: Csr, last_but_one: float, last: float) -> Floats:
    """Add to the last two columns of the embeddings of rows that have features."""
    nonempty = features.row_nnz() > 0
    embeddings[nonempty, -2] += np.float32(last_but_one)
    embeddings[nonempty, -1] += np.float32(last)
    return embeddings
