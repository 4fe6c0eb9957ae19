"""`s2net`: one projection for queries and titles, trained to rank (Gao et al. 2011 §4.2, App. B).

    sim(q, d) = cos(Aᵀq, Aᵀd)        L = mean of ln(1 + exp(−γ (sim(q, d⁺) − sim(q, d⁻))))

over clicked pairs (q, d⁺), each compared with sampled documents d⁻ that were not clicked for the query. A,
words × dimensions, starts from latent semantic analysis (`lsa`, with the same `corpus` and `centre`) and is
optimised by L-BFGS, as in the paper, or by AdaGrad over batches. A share of the pairs is held out: training
stops when their loss has not improved for `patience` iterations, and the best one is kept. `l2_to_start` adds
β/2 ‖A − A₀‖² to the loss, with A₀ the start.

Eq. 31 has a wrong sign: the factor is −γ / (1 + exp(+γΔ)). `coclick.solvers.siamese` has the gradient.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np

from coclick.arrays.csr import Csr
from coclick.graph.click_graph import ClickGraph
from coclick.models.presets import Preset
from coclick.models.projection._principal import Corpus, principal_directions
from coclick.models.projection._titles import TitleProjection
from coclick.models.projection.linear_map import DenseMap
from coclick.models.projection.paper_data import GAO2011_DATA, PCA, TEXTS_OF_PAIRS
from coclick.models.registry import register
from coclick.models.spec import Range
from coclick.progress import Progress
from coclick.solvers.sampling import MIN_HELD_OUT, Sampler, nonempty_rows, pairs_with_features
from coclick.solvers.siamese import (
    FloatArray,
    Ints,
    LossOptions,
    RankingExamples,
    fit_adagrad,
    fit_lbfgs,
    mean_loss,
)


@register
@dataclass
class S2Net(TitleProjection):
    """Project texts so that clicked titles are nearer to the query than others."""

    name = "s2net"
    summary = "projection of words, trained to rank clicked titles above others"
    relative_cost = 6.0
    max_docs = 500_000
    presets = {
        "paper": Preset(
            "Gao et al. 2011",
            corpus=TEXTS_OF_PAIRS,
            centre=PCA,
            n_negatives=(4, "§5.3: four other titles"),
            negative_docs=("clicked", "§5.3: titles from the data"),
            gamma=(10.0, "§4.2: γ = 10"),
            epsilon=(0.0, "Eq. 20: plain cosines"),
            l2_to_start=(0.0, "§4.2: early stopping instead"),
            optimiser=("lbfgs", "§4.2"),
            iterations=(40, "§5.3: converges in approximately 40 iterations"),
            held_out=(0.005, "§5.3: 99.5 % for training, 0.5 % for validation"),
            min_held_out=(0, "§5.3: exactly the share"),
            **GAO2011_DATA,
        )
    }

    corpus: Corpus = "distinct"
    centre: bool = False
    n_negatives: Annotated[int, Range(1)] = 4  # sampled documents per clicked pair
    negative_docs: Literal["all", "clicked"] = "all"
    gamma: Annotated[float, Range(0.01)] = 10.0
    epsilon: Annotated[float, Range(0, 1)] = 0.1  # lengths are √(v·v + ε²)
    l2_to_start: Annotated[float, Range(0)] = 0.0  # β
    optimiser: Literal["lbfgs", "adagrad"] = "lbfgs"
    learning_rate: Annotated[float, Range(1e-6, 1)] = 0.02  # of AdaGrad
    iterations: Annotated[int, Range(1)] = 40
    patience: Annotated[int, Range(1)] = 5
    held_out: Annotated[float, Range(0, 0.5)] = 0.005
    min_held_out: Annotated[int, Range(0)] = MIN_HELD_OUT  # pairs, but at most a tenth

    def _fit(self, graph: ClickGraph, progress: Progress) -> None:
        """Start from latent semantic analysis and minimise the loss."""
        rows = self._build_features(graph, "words", progress, one_idf=True, max_terms=self.max_vocabulary)
        asked, clicked = pairs_with_features(graph.clicks, *rows)
        start = principal_directions(
            rows, graph.clicks, self.dim, self.corpus, centre=self.centre, seed=self.seed, progress=progress
        ).right
        self._note_missing_dims(start.shape[1])
        sampler = Sampler(self.seed)
        held = sampler.hold_out(len(asked), self.held_out, self.min_held_out)
        if not held.any():
            self._add_note("too few pairs to hold any out: the last iteration is used")
        candidates = nonempty_rows(rows.docs) if self.negative_docs == "all" else np.unique(clicked)
        options = LossOptions(self.gamma, self.epsilon, self.l2_to_start)

        def compare(queries: Ints, docs: Ints) -> Ints:
            others = sampler.draw_unclicked(graph.clicks, queries, docs, self.n_negatives, candidates)
            return np.concatenate([docs[:, None], others], axis=1)

        unseen = RankingExamples(*rows, asked[held], compare(asked[held], clicked[held]))
        asked, clicked = asked[~held], clicked[~held]

        def validate(projection: FloatArray) -> float:
            return mean_loss(projection, unseen, options)

        with progress("iterations", self.iterations) as done:
            if self.optimiser == "lbfgs":
                examples = RankingExamples(*rows, asked, compare(asked, clicked))
                stop = fit_lbfgs(start, examples, options, validate, self.iterations, self.patience, done)
            else:
                stop = fit_adagrad(
                    start, *rows, asked, lambda: compare(asked, clicked), options, validate,
                    self.iterations, self.patience, self.learning_rate, sampler.order, done,
                )  # fmt: skip
        self.stats_ |= stop.stats() | {"pairs": len(asked), "held_out_pairs": int(held.sum())}
        both = DenseMap.from_blocks([stop.best[0]])
        self._build_embeddings(both, both, progress)

    def _edge_weights(self, graph: ClickGraph) -> Csr:
        """Return 1 for every clicked pair: the number of clicks is not used."""
        return graph.clicks.with_data(np.ones(graph.clicks.nnz, np.float32))
