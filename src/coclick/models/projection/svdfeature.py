"""`svdfeature`: feature-based matrix factorisation (Chen et al. 2012; Wu, Lu & Li 2013 §6.1.1).

    ŷ(q, d) = μ + b_q·x + b_d·z + (Pᵀx)·(Rᵀz)

with x, z the features of `pls`. With `loss=squared` it is fitted to the weights of clicked pairs, divided by
their mean if `scale_targets`, and to 0 for sampled documents that were not clicked for the query; μ is the
mean of all targets. With `n_negatives=0`, documents that were not clicked are missing values, as in ratings.
With `loss=logistic`, ln(1 + exp(−(ŷ(q, d⁺) − ŷ(q, d⁻)))), it ranks clicked documents above sampled ones; μ
and b_q, which cancel out, are 0. Training is stochastic gradient descent with weight decay, one pair at a
time, on one thread; each iteration draws new samples. Held-out pairs decide when to stop. The view `clicks`
contains their clicks: with it, training stops too late rather than too early.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray

from coclick.arrays.csr import Csr
from coclick.errors import UserError
from coclick.graph.click_graph import ClickGraph
from coclick.graph.split import clicks_of
from coclick.models.presets import Preset
from coclick.models.projection._biased import BiasedProjection
from coclick.models.projection.click_evidence import Weight, weight_clicks
from coclick.models.projection.paper_data import WU2013_DATA
from coclick.models.registry import register
from coclick.models.spec import Range
from coclick.progress import Progress
from coclick.solvers.early_stopping import train_epochs
from coclick.solvers.pairwise import csr_arrays, logistic_epoch, squared_epoch
from coclick.solvers.sampling import (
    Ints,
    Preferences,
    Sampler,
    nonempty_rows,
    pairs_with_features,
)

Mask = NDArray[np.bool_]

_START = 0.1  # standard deviation of the initial maps


@register
@dataclass
class SVDFeature(BiasedProjection):
    """Predict clicks by biases and a dot product of embeddings."""

    name = "svdfeature"
    summary = "feature-based matrix factorisation: predicts clicks from words and clicks"
    relative_cost = 15.0
    max_docs = 500_000
    presets = {
        "wu2013": Preset(
            "Wu, Lu & Li 2013",
            dim=(1000, "§6.2: performance improves with it, up to 1000"),
            loss=("squared", "§6.5.2: fits click numbers directly"),
            scale_targets=(True, "§6.2: a matter of learning rate and l2, which are tuned but not given"),
            **WU2013_DATA | {"weight": ("clicks", "§6.5.2: absolute click numbers")},
        )
    }

    dim: int = 100
    views: str = "words+clicks"
    fields: str = "title"  # the cost of a step grows with the words of the document
    weight: Weight = "log1p"
    loss: Literal["squared", "logistic"] = "squared"
    scale_targets: bool = True  # to mean 1: learning rate and l2 then fit any kind of weight
    n_negatives: Annotated[int, Range(0)] = 4  # sampled documents per clicked pair
    learning_rate: Annotated[float, Range(1e-6, 1)] = 0.05
    l2: Annotated[float, Range(0, 1)] = 0.002
    iterations: Annotated[int, Range(1)] = 20
    patience: Annotated[int, Range(1)] = 3
    held_out: Annotated[float, Range(0, 0.5)] = 0.05

    def __post_init__(self) -> None:
        self._configure_views(self.views)

    def _fit(self, graph: ClickGraph, progress: Progress) -> None:
        """Run stochastic gradient descent."""
        if self.loss == "logistic" and not self.n_negatives:
            raise UserError(
                "loss=logistic ranks clicked documents above others, and n_negatives=0 leaves none",
                hint="n_negatives=4, or loss=squared",
            )
        rows = self._build_features(graph, self.views, progress)
        asked, clicked = pairs_with_features(graph.clicks, *rows)
        targets = self._targets(graph, asked, clicked)
        sampler = Sampler(self.seed)
        held = sampler.hold_out(len(asked), self.held_out)
        if not held.any():
            self._add_note("too few pairs to hold any out: the last iteration is used")
        candidates, sides = nonempty_rows(rows.docs), (csr_arrays(rows.queries), csr_arrays(rows.docs))
        left, right = (_START * sampler.normal(side.columns, self.dim) for side in rows)
        query_bias, doc_bias = (np.zeros(side.columns, np.float32) for side in rows)
        mean = 0.0
        if self.loss == "squared":
            mean = float(targets.mean(dtype=np.float64)) / (1 + self.n_negatives)

        def draw(chosen: Mask) -> Preferences:
            pairs = asked[chosen], clicked[chosen]
            return sampler.prefer(graph.clicks, *pairs, self.n_negatives, candidates)

        def descend(chosen: Mask, drawn: Preferences, rate: float) -> float:
            """Run one iteration over the chosen pairs in random order; a rate of 0 only computes the loss."""
            if self.loss == "logistic":
                order = sampler.order(len(drawn.queries))
                return logistic_epoch(*sides, drawn, order, left, right, doc_bias, rate, self.l2)
            others = drawn.worse != drawn.better  # equal if every document was clicked for the query
            pairs = (
                np.append(asked[chosen], drawn.queries[others]),
                np.append(clicked[chosen], drawn.worse[others]),
            )
            wanted = np.append(targets[chosen], np.zeros(others.sum(), np.float32))
            return squared_epoch(
                *sides, pairs, wanted, sampler.order(len(wanted)), left, right, query_bias, doc_bias,
                mean, rate, self.l2,
            )  # fmt: skip

        unseen = draw(held)
        with progress("iterations", self.iterations) as done:
            stop = train_epochs(
                lambda: descend(~held, draw(~held), self.learning_rate),
                lambda: descend(held, unseen, 0.0) if held.any() else np.nan,
                (left, right, query_bias, doc_bias),
                self.iterations,
                self.patience,
                done,
            )
        self.stats_ |= stop.stats() | {"pairs": int((~held).sum()), "held_out_pairs": int(held.sum())}
        left, right, query_bias, doc_bias = stop.best
        self._build_biased_embeddings((left, right), (query_bias, doc_bias), mean, progress)

    def _edge_weights(self, graph: ClickGraph) -> Csr:
        """Return the edge weights chosen by `weight`."""
        return weight_clicks(graph.clicks, self.weight)

    def _targets(self, graph: ClickGraph, asked: Ints, clicked: Ints) -> NDArray[np.float32]:
        """The weights of pairs, scaled to mean 1 if `scale_targets`."""
        weights = self._edge_weights(graph)
        pattern = Csr.from_triples(asked, clicked, np.ones(len(asked)), (weights.rows, weights.columns))
        targets = clicks_of(weights, pattern)
        scale = max(float(targets.mean(dtype=np.float64)), 1e-30) if self.scale_targets else 1.0
        return targets / np.float32(scale)
