"""`lsi_qd`: latent semantic indexing of the click matrix (Wu, Li & Xu 2013 §5.2; Wu, Lu & Li 2013 §6.1.1).

    C ≈ V S Uᵀ        score(q, d) = V_q · U_d

for the weights C of clicked pairs, with unscaled singular vectors. It is `pls` in which every query and every
document has one feature, its id. It uses no texts, so it cannot rank for unseen queries.
"""

from __future__ import annotations

from dataclasses import dataclass

from coclick.arrays.csr import Csr
from coclick.graph.click_graph import ClickGraph
from coclick.models.presets import Preset
from coclick.models.projection._base import TEXT_CAPABILITIES, ProjectionModel
from coclick.models.projection.bounds import bound, orthonormal
from coclick.models.projection.click_evidence import Weight, weight_clicks
from coclick.models.projection.linear_map import DenseMap
from coclick.models.projection.paper_data import DIM_WU2013B
from coclick.models.registry import register
from coclick.progress import Progress
from coclick.solvers.svd import truncated_svd


@register
@dataclass
class LsiQD(ProjectionModel):
    """Embed queries and documents by the leading singular vectors of clicks."""

    name = "lsi_qd"
    summary = "latent semantic indexing of the click matrix, without texts"
    capabilities = ProjectionModel.capabilities - TEXT_CAPABILITIES
    presets = {
        "wu2013": Preset(
            "Wu, Lu & Li 2013",
            dim=(1000, "§6.2: 1000 was the best of 100 to 1000; Wu, Lu & Li 2012 §5.2"),
            weight=("clicks", "§6.1.1: each element is a click number"),
        ),
        "wu2013b": Preset(
            "Wu, Li & Xu 2013", dim=DIM_WU2013B, weight=("log", "§4.2: the matrix of Eq. 2 without features")
        ),
    }

    dim: int = 300
    weight: Weight = "log1p"

    def _fit(self, graph: ClickGraph, progress: Progress) -> None:
        """Compute the singular vectors of the clicks."""
        self._build_features(graph, "ids", progress)
        found = truncated_svd([self._edge_weights(graph)], self.dim, seed=self.seed, progress=progress)
        self._record_singular_values(found.values)
        self._build_embeddings(
            DenseMap.from_blocks([found.left]), DenseMap.from_blocks([found.right]), progress
        )
        embeddings = self.query_index_.vectors, self.doc_index_.vectors
        self.stats_["bound"] = bound(graph.clicks, self.weight, embeddings, orthonormal(len(found.values)))

    def _edge_weights(self, graph: ClickGraph) -> Csr:
        """Return the edge weights chosen by `weight`."""
        return weight_clicks(graph.clicks, self.weight)
