"""`opca`: oriented principal components (Gao et al. 2011 §5.3; Diamantaras & Kung 1996; Platt et al. 2010).

    S v = μ (N + ρI) v        S = Σ w (q qᵀ + d dᵀ) / 2Σw        N = Σ w (q − d)(q − d)ᵀ / Σw

The sums are over clicked pairs with words on both sides. The directions v maximise the variance of queries
and titles (S) relative to the difference of the two sides of a pair (N, Eq. 24): they have the `dim` largest
μ, with vᵀ(N + ρI)v = 1. ρ is `ridge` times the mean diagonal of N; smaller values favour rare words.
score(q, d) = cos(Aᵀq, Aᵀd) with the columns v as A. The solver is `coclick.solvers.opca`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from coclick.arrays.csr import Csr
from coclick.graph.click_graph import ClickGraph
from coclick.graph.split import clicks_of
from coclick.models.presets import Preset
from coclick.models.projection._titles import TitleProjection
from coclick.models.projection.click_evidence import Weight, weight_clicks
from coclick.models.projection.linear_map import DenseMap
from coclick.models.projection.paper_data import EACH_PAIR_ONCE, GAO2011_DATA
from coclick.models.registry import register
from coclick.models.spec import Range
from coclick.progress import Progress
from coclick.solvers.opca import oriented_pca
from coclick.solvers.sampling import pairs_with_features


@register
@dataclass
class OPCA(TitleProjection):
    """Project texts on directions in which texts vary but clicked pairs do not."""

    name = "opca"
    summary = "oriented principal components: a projection of words that brings clicked pairs together"
    relative_cost = 4.0
    max_docs = 200_000
    # Eq. 23 has no ridge, but N is singular without one.
    presets = {"paper": Preset("Gao et al. 2011", weight=EACH_PAIR_ONCE, **GAO2011_DATA)}

    weight: Weight = "log1p"
    ridge: Annotated[float, Range(1e-4)] = 0.2

    def _fit(self, graph: ClickGraph, progress: Progress) -> None:
        """Compute the leading generalised eigenvectors of S and N + ρI."""
        rows = self._build_features(graph, "words", progress, one_idf=True, max_terms=self.max_vocabulary)
        known = pairs_with_features(graph.clicks, *rows)
        pattern = Csr.from_triples(*known, np.ones(len(known[0])), (graph.clicks.rows, graph.clicks.columns))
        weights = pattern.with_data(clicks_of(self._edge_weights(graph), pattern)).positive()
        found = oriented_pca(*rows, weights, self.dim, ridge=self.ridge, seed=self.seed, progress=progress)
        self._note_missing_dims(len(found.values))
        self.stats_["eigenvalues"] = found.values.tolist()
        both = DenseMap.from_blocks([found.vectors])
        self._build_embeddings(both, both, progress)

    def _edge_weights(self, graph: ClickGraph) -> Csr:
        """Return the edge weights chosen by `weight`."""
        return weight_clicks(graph.clicks, self.weight)
