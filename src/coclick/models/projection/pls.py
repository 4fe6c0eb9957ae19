"""`pls`: partial least squares on the click graph (paper 002 §3.2, paper 000 §4).

Maps L_Q and L_D with orthonormal columns are sought that bring queries near the documents that were clicked
for them: with x_u, y_v the features of queries and documents and w_uv the weight of a clicked pair,

    max Σ w_uv · x_uᵀ L_Q L_Dᵀ y_v = trace(L_Dᵀ M L_Q)        M = Σ w_uv · y_v x_uᵀ = Dᵀ Wᵀ Q

The maximum is the sum of the `dim` largest singular values of M, at its right and left singular vectors
(000, Theorem 4.1), which are taken unscaled. M is never formed: it is a product of three sparse matrices.
"""

from __future__ import annotations

from dataclasses import dataclass

from coclick.arrays.csr import Csr
from coclick.graph.click_graph import ClickGraph
from coclick.models.projection._base import ProjectionModel
from coclick.models.projection.bounds import bound, orthonormal
from coclick.models.projection.click_evidence import Weight, weigh
from coclick.models.projection.linear_map import DenseMap
from coclick.models.registry import register
from coclick.progress import Progress
from coclick.solvers.svd import truncated_svd


@register
@dataclass
class PLS(ProjectionModel):
    """The space in which queries and their clicked documents agree most."""

    name = "pls"
    summary = "words and clicks of queries and documents in one space, by partial least squares"

    dim: int = 300
    views: str = "words+clicks"
    weight: Weight = "log1p"

    def __post_init__(self) -> None:
        self.configure_views(self.views)

    def _fit(self, graph: ClickGraph, progress: Progress) -> None:
        """Singular vectors of M."""
        queries, docs = self.featurise(graph, self.views, progress)
        factors = docs.transpose(), self.edge_weights(graph).transpose(), queries
        found = truncated_svd(factors, self.dim, seed=self.seed, progress=progress)
        self.spectrum(found.values)
        self.build_embeddings(DenseMap.of([found.right]), DenseMap.of([found.left]), progress)
        images = self.query_index_.vectors, self.doc_index_.vectors
        self.stats_["bound"] = bound(graph.clicks, self.weight, images, orthonormal(len(found.values)))

    def edge_weights(self, graph: ClickGraph) -> Csr:
        """As the parameter says."""
        return weigh(graph.clicks, self.weight)
