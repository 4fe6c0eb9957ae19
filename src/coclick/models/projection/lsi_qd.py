"""`lsi_qd`: latent semantic indexing of the query–document matrix of clicks (000 §5.2, 002 §6.1.1).

    C ≈ V S Uᵀ        score(q, d) = V_q · U_d

for the weights C of clicked pairs, with singular vectors unscaled: `pls` in which every query and every
document has one feature, itself. It knows nothing of texts, so it has nothing for unseen queries.
"""

from __future__ import annotations

from dataclasses import dataclass

from coclick.arrays.csr import Csr
from coclick.graph.click_graph import ClickGraph
from coclick.models.projection._base import OF_TEXTS, ProjectionModel
from coclick.models.projection.bounds import bound, orthonormal
from coclick.models.projection.click_evidence import Weight, weigh
from coclick.models.projection.linear_map import DenseMap
from coclick.models.registry import register
from coclick.progress import Progress
from coclick.solvers.svd import truncated_svd


@register
@dataclass
class LsiQD(ProjectionModel):
    """Queries and documents by the leading singular vectors of clicks."""

    name = "lsi_qd"
    summary = "queries and documents in one space by the clicks alone: LSI of the click matrix"
    capabilities = ProjectionModel.capabilities - OF_TEXTS

    dim: int = 300
    weight: Weight = "log1p"

    def _fit(self, graph: ClickGraph, progress: Progress) -> None:
        """Singular vectors of the clicks."""
        self.featurise(graph, "ids", progress)
        found = truncated_svd([self.edge_weights(graph)], self.dim, seed=self.seed, progress=progress)
        self.spectrum(found.values)
        self.build_embeddings(DenseMap.of([found.left]), DenseMap.of([found.right]), progress)
        images = self.query_index_.vectors, self.doc_index_.vectors
        self.stats_["bound"] = bound(graph.clicks, self.weight, images, orthonormal(len(found.values)))

    def edge_weights(self, graph: ClickGraph) -> Csr:
        """As the parameter says."""
        return weigh(graph.clicks, self.weight)
