"""`large_margin`: the bilinear model with hinge loss, starting from partial least squares.

Wu, Lu & Li 2013 maximise the total score of clicked pairs (§3.1) and suggest a large margin against the weak
ranking of rare queries (§6.5.2), which they leave to future work. Here the maps of `pls` are the start, and
stochastic gradient descent lowers

    Σ max(0, margin − f(q, d⁺) + f(q, d⁻))        f(q, d) = xᵀ L_Q L_Dᵀ y

over clicked documents d⁺ and sampled documents d⁻ that were not clicked for the query
(`coclick.solvers.large_margin`). Only pairs in the wrong order, or nearly so, change the maps: where
`pls` ranks well, it stays. The step size falls linearly to 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from coclick.arrays.csr import Csr
from coclick.graph.click_graph import ClickGraph
from coclick.models.projection._base import ProjectionModel
from coclick.models.projection.click_evidence import Weight, weight_clicks
from coclick.models.projection.linear_map import DenseMap
from coclick.models.registry import register
from coclick.models.spec import Range
from coclick.progress import Progress
from coclick.solvers.large_margin import large_margin_epoch
from coclick.solvers.sampling import Sampler, nonempty_rows, pairs_with_features
from coclick.solvers.svd import truncated_svd


@register
@dataclass
class LargeMargin(ProjectionModel):
    """The latent space of `pls`, corrected where it does not rank clicked documents first."""

    name = "large_margin"
    summary = "pls, corrected with hinge loss where clicked documents are not ranked first"
    relative_cost = 15.0
    max_docs = 500_000

    dim: int = 300
    views: str = "words"
    weight: Weight = "log1p"  # of a clicked pair, at the start
    margin: Annotated[float, Range(0)] = 0.3
    n_negatives: Annotated[int, Range(1)] = 4  # sampled documents per clicked pair
    learning_rate: Annotated[float, Range(1e-6, 1)] = 0.02
    iterations: Annotated[int, Range(1)] = 3

    def __post_init__(self) -> None:
        self._configure_views(self.views)

    def _fit(self, graph: ClickGraph, progress: Progress) -> None:
        """Compute the maps of partial least squares and train them on preferences."""
        queries, docs = rows = self._build_features(graph, self.views, progress)
        factors = docs.transpose(), self._edge_weights(graph).transpose(), queries
        start = truncated_svd(factors, self.dim, seed=self.seed, progress=progress)
        self._record_singular_values(start.values)
        maps = np.ascontiguousarray(start.right), np.ascontiguousarray(start.left)
        asked, clicked = pairs_with_features(graph.clicks, *rows)
        candidates, sampler, curve = nonempty_rows(docs), Sampler(self.seed), []
        with progress("iterations", self.iterations) as done:
            for i in range(self.iterations):
                drawn = sampler.prefer(graph.clicks, asked, clicked, self.n_negatives, candidates)
                order = sampler.order(len(drawn.queries))
                rate = self.learning_rate * (1 - i / self.iterations)
                loss = large_margin_epoch(queries, docs, drawn, order, maps, rate, self.margin)
                curve.append({"round": i + 1, "loss": round(loss, 6)})
                done(1)
        self.stats_["curve"] = curve
        self._build_embeddings(DenseMap.from_blocks([maps[0]]), DenseMap.from_blocks([maps[1]]), progress)

    def _edge_weights(self, graph: ClickGraph) -> Csr:
        """Return the edge weights of the start, chosen by `weight`."""
        return weight_clicks(graph.clicks, self.weight)
