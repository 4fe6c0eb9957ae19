"""`mpls`: multi-view partial least squares (Wu, Li & Xu 2013 §4).

Each view of queries and documents (words, clicks, …) has its own space and maps, which are found as in `pls`:
singular vectors of M_i = Σ w_uv · y_v x_uᵀ over the features of view i. The score is a sum over views, with
weights that are part of the optimum (Eq. 5):

    f(q, d) = Σ_i α_i · x_iᵀ L_Q,i L_D,iᵀ y_i        α_i = Λ_i / √Σ Λ²        Λ_i = sum of its singular values

(`combine=weighted`; M-PLS_Com in the paper). `combine=concat` concatenates the features of all views, which
is `pls` (M-PLS_Conca). With one view both are `pls` on that view (M-PLS_Word, M-PLS_Bipar).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from coclick.arrays.csr import Csr
from coclick.graph.click_graph import ClickGraph
from coclick.models.presets import Preset
from coclick.models.projection._base import ProjectionModel
from coclick.models.projection.bounds import bound, orthonormal
from coclick.models.projection.click_evidence import Weight, effective_rank, weight_clicks
from coclick.models.projection.linear_map import DenseMap, columns_between
from coclick.models.projection.paper_data import DIM_WU2013B, WU2013B_DATA
from coclick.models.registry import register
from coclick.progress import Progress
from coclick.solvers.svd import truncated_svd


@register
@dataclass
class MPLS(ProjectionModel):
    """One latent space per view; scores are their weighted sum."""

    name = "mpls"
    summary = "multi-view partial least squares: one latent space for words, one for clicks"
    relative_cost = 2.0
    presets = {
        "paper": Preset(
            "Wu, Li & Xu 2013",
            dim=DIM_WU2013B,
            combine=("weighted", "Eq. 5; M-PLS_Com of §5.2"),
            **WU2013B_DATA,
        )
    }

    dim: int = 300  # per view
    views: str = "words+chars+clicks"
    combine: Literal["weighted", "concat"] = "weighted"
    weight: Weight = "log1p"

    def __post_init__(self) -> None:
        self._configure_views(self.views)

    def _fit(self, graph: ClickGraph, progress: Progress) -> None:
        """Compute the singular vectors of each M_i, scaled by √α_i on both sides."""
        concat = self.combine == "concat"
        queries, docs = self._build_features(graph, self.views, progress, joined=concat)
        names = [self.views] if concat else [view.name for view in self.features_.views]
        query_ends = [queries.columns] if concat else self.features_.query_ends
        doc_ends = [docs.columns] if concat else self.features_.doc_ends
        edges, found = self._edge_weights(graph).transpose(), []
        for i, name in enumerate(names):
            x = columns_between(queries, ([0, *query_ends])[i], query_ends[i])
            y = columns_between(docs, ([0, *doc_ends])[i], doc_ends[i])
            found.append(
                truncated_svd((y.transpose(), edges, x), self.dim, seed=self.seed, progress=progress)
            )
            self._note_missing_dims(len(found[-1].values), f" of {name}")
        sums = np.array([singular.values.sum() for singular in found])
        alpha = sums / np.sqrt((sums**2).sum())
        self.stats_["views"] = {
            name: {
                "alpha": float(share),
                "sum": float(total),
                "dim": len(singular.values),
                "effective_rank": effective_rank(singular.values),
                "singular_values": singular.values.tolist(),
            }
            for name, share, total, singular in zip(names, alpha, sums, found, strict=True)
        }
        scaled = list(zip(np.sqrt(alpha).astype(np.float32), found, strict=True))
        query_map = DenseMap.from_blocks([root * singular.right for root, singular in scaled])
        doc_map = DenseMap.from_blocks([root * singular.left for root, singular in scaled])
        self._build_embeddings(query_map, doc_map, progress)
        embeddings = self.query_index_.vectors, self.doc_index_.vectors
        space = orthonormal(*(len(singular.values) for singular in found))
        self.stats_["bound"] = bound(graph.clicks, self.weight, embeddings, space)

    def _edge_weights(self, graph: ClickGraph) -> Csr:
        """Return the edge weights chosen by `weight`."""
        return weight_clicks(graph.clicks, self.weight)
