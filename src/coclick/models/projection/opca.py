"""`opca`: oriented principal component analysis (paper 001 §5.3; Diamantaras & Kung 1996, Platt et al. 2010).

    S v = μ (N + ρI) v        S = Σ w (q qᵀ + d dᵀ) / 2Σw        N = Σ w (q − d)(q − d)ᵀ / Σw

The directions v in which queries and titles vary most (S) for how much the two sides of a clicked pair differ
(N, Eq. 24): the `dim` largest μ, with vᵀ(N + ρI)v = 1. ρ is `ridge` times the mean diagonal of N; less puts
rare words first. score(q, d) = cos(Aᵀq, Aᵀd) with A the columns v. The solver: `learning.oriented`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from coclick.arrays.csr import Csr
from coclick.graph.click_graph import ClickGraph
from coclick.models.projection._base import TitleProjection
from coclick.models.projection.click_evidence import Weight, weigh
from coclick.models.projection.linear_map import DenseMap
from coclick.models.registry import register
from coclick.models.spec import Range
from coclick.progress import Progress
from coclick.solvers.opca import oriented_pca
from coclick.solvers.sampling import pairs_with_features


@register
@dataclass
class OPCA(TitleProjection):
    """Directions in which texts differ, but not those of a pair."""

    name = "opca"
    summary = "a projection of words in which clicked pairs come near, by oriented principal components"
    max_docs = 200_000

    weight: Weight = "log1p"
    ridge: Annotated[float, Range(1e-4)] = 0.2

    def _fit(self, graph: ClickGraph, progress: Progress) -> None:
        """Leading eigenvectors of a pair of matrices."""
        rows = self.featurise(graph, "words", progress, one_idf=True, max_terms=self.max_vocabulary)
        pairs_with_features(graph.clicks, *rows)  # says so if there are none
        found = oriented_pca(
            *rows, self.edge_weights(graph), self.dim, ridge=self.ridge, seed=self.seed, progress=progress
        )
        self.clipped(len(found.values))
        self.stats_["eigenvalues"] = found.values.tolist()
        both = DenseMap.of([found.vectors])
        self.build_embeddings(both, both, progress)

    def edge_weights(self, graph: ClickGraph) -> Csr:
        """As the parameter says."""
        return weigh(graph.clicks, self.weight)
