"""`BiasedProjection`: a projection whose scores have a mean, and biases of the features of either side.

    score(q, d) = μ + b_q·x + b_d·y + xᵀ P Rᵀ y

The maps are P beside b_q and R beside b_d; images have two columns for the biases, so that their dot product
is the score: (xᵀP, μ + b_q·x, 1) and (yᵀR, 1, b_d·y). What has no features has no image.
"""

from __future__ import annotations

import numpy as np

from coclick.arrays.csr import Csr
from coclick.models.projection._base import Floats, ProjectionModel
from coclick.models.projection.linear_map import DenseMap
from coclick.progress import Progress
from coclick.results import Contribution


class BiasedProjection(ProjectionModel):
    """A projection with biases."""

    mean_: float
    query_bias_: Floats  # of each feature
    doc_bias_: Floats

    def build_biased_embeddings(
        self, maps: tuple[Floats, Floats], biases: tuple[Floats, Floats], mean: float, progress: Progress
    ) -> None:
        """Take maps and biases that were learned, of queries and of documents."""
        self.mean_ = mean
        self.query_bias_, self.doc_bias_ = biases
        query_map = np.column_stack([maps[0], biases[0], np.zeros_like(biases[0])])
        doc_map = np.column_stack([maps[1], np.zeros_like(biases[1]), biases[1]])
        self.build_embeddings(DenseMap.of([query_map]), DenseMap.of([doc_map]), progress)

    def embed_query_features(self, features: Csr) -> Floats:
        """With μ added to the bias, and 1 for the bias of documents."""
        return _plus(super().embed_query_features(features), features, self.mean_, 1)

    def embed_doc_features(self, features: Csr) -> Floats:
        """With 1 for the bias of queries."""
        return _plus(super().embed_doc_features(features), features, 1, 0)

    def compared(self, images: Floats) -> Floats:
        """Without biases: they say nothing about what is alike."""
        images = images.copy()
        images[:, -2:] = 0
        return images

    def parts(self, asked: Csr, held: Csr, clicks: int | None) -> list[Contribution]:
        """The products of features, and the mean and the biases."""
        if not (asked.nnz and held.nnz):
            return []
        biases = [
            Contribution(f"{kind} {view}", label, float(value))
            for kind, rows, bias, name in (
                ("bias of query", asked, self.query_bias_, self.features_.query_label),
                ("bias of document", held, self.doc_bias_, self.features_.doc_label),
            )
            for column, value in zip(rows.indices.tolist(), rows.data * bias[rows.indices], strict=True)
            for view, label in [name(column, self.graph_)]
        ]
        return [
            *super().parts(asked, held, clicks),
            *biases,
            Contribution("mean", "of what was learned", self.mean_),
        ]


def _plus(images: Floats, features: Csr, last_but_one: float, last: float) -> Floats:
    """Add to the last two columns of the images that are of something."""
    there = features.row_nnz() > 0
    images[there, -2] += np.float32(last_but_one)
    images[there, -1] += np.float32(last)
    return images
