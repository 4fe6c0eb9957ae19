"""`pls`: partial least squares on the click graph (Wu, Lu & Li 2013 §3.2; Wu, Li & Xu 2013 §4).

Find maps L_Q and L_D with orthonormal columns that bring queries near their clicked documents: with x_u, y_v
the features of queries and documents and w_uv the weight of a clicked pair,

    max Σ w_uv · x_uᵀ L_Q L_Dᵀ y_v = trace(L_Dᵀ M L_Q)        M = Σ w_uv · y_v x_uᵀ = Dᵀ Wᵀ Q

The maximum is the sum of the `dim` largest singular values of M, at its right and left singular vectors (Wu,
Li & Xu 2013, Theorem 4.1), which are used unscaled. M is never formed: it stays a product of three sparse
matrices.
"""

from __future__ import annotations

from dataclasses import dataclass

from coclick.arrays.csr import Csr
from coclick.graph.click_graph import ClickGraph
from coclick.models.presets import Preset
from coclick.models.projection._base import ProjectionModel
from coclick.models.projection.bounds import bound, orthonormal
from coclick.models.projection.click_evidence import Weight, weight_clicks
from coclick.models.projection.linear_map import DenseMap
from coclick.models.projection.paper_data import DIM_WU2013B, WU2013_DATA, WU2013B_DATA
from coclick.models.registry import register
from coclick.progress import Progress
from coclick.solvers.svd import truncated_svd

WU2013 = Preset("Wu, Lu & Li 2013", dim=(1000, "§6.2: 1000 was chosen"), **WU2013_DATA)


@register
@dataclass
class PLS(ProjectionModel):
    """One latent space in which queries are near their clicked documents."""

    name = "pls"
    summary = "partial least squares: queries and documents in one latent space, by words and clicks"
    presets = {
        "paper": WU2013,
        "wu2013": WU2013,
        "wu2013b": Preset("Wu, Li & Xu 2013", dim=DIM_WU2013B, **WU2013B_DATA),  # M-PLS_Conca
    }

    dim: int = 600
    views: str = "words+chars"
    weight: Weight = "log1p"

    def __post_init__(self) -> None:
        self._configure_views(self.views)

    def _fit(self, graph: ClickGraph, progress: Progress) -> None:
        """Compute the singular vectors of M."""
        queries, docs = self._build_features(graph, self.views, progress)
        factors = docs.transpose(), self._edge_weights(graph).transpose(), queries
        found = truncated_svd(factors, self.dim, seed=self.seed, progress=progress)
        self._record_singular_values(found.values)
        self._build_embeddings(
            DenseMap.from_blocks([found.right]), DenseMap.from_blocks([found.left]), progress
        )
        embeddings = self.query_index_.vectors, self.doc_index_.vectors
        self.stats_["bound"] = bound(graph.clicks, self.weight, embeddings, orthonormal(len(found.values)))

    def _edge_weights(self, graph: ClickGraph) -> Csr:
        """Return the edge weights chosen by `weight`."""
        return weight_clicks(graph.clicks, self.weight)
