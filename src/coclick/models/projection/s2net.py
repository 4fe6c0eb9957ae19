"""`s2net`: one projection for queries and titles, trained to rank (Gao et al. 2011 §4.2, App. B).

    sim(q, d) = cos(Aᵀq, Aᵀd)        L = mean of ln(1 + exp(−γ (sim(q, d⁺) − sim(q, d⁻))))

over clicked pairs (q, d⁺), each compared with sampled documents d⁻ that were not clicked for the query. A,
words × dimensions, starts from latent semantic analysis (the right singular vectors of the TF-IDF rows of
queries and titles) and is optimised by L-BFGS, as in the paper, or by AdaGrad over batches. A share of the
pairs is held out: training stops when their loss has not improved for `patience` iterations, and the best one
is kept.

Eq. 31 has a wrong sign: the factor is −γ / (1 + exp(+γΔ)). `coclick.solvers.siamese` has the gradient.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np

from coclick.arrays.csr import Csr, vstack
from coclick.graph.click_graph import ClickGraph
from coclick.models.projection._base import TitleProjection
from coclick.models.projection.linear_map import DenseMap
from coclick.models.registry import register
from coclick.models.spec import Range
from coclick.progress import Progress
from coclick.solvers.sampling import draw_unclicked, nonempty_rows, pairs_with_features, validation_mask
from coclick.solvers.siamese import FloatArray, Ints, RankingExamples, fit_adagrad, fit_lbfgs, mean_loss
from coclick.solvers.svd import truncated_svd


@register
@dataclass
class S2Net(TitleProjection):
    """Project texts so that clicked titles are nearer to the query than others."""

    name = "s2net"
    summary = "projection of words, trained to rank clicked titles above others"
    max_docs = 500_000

    n_negatives: Annotated[int, Range(1)] = 4  # sampled documents per clicked pair
    gamma: Annotated[float, Range(0.01)] = 10.0
    optimiser: Literal["lbfgs", "adagrad"] = "lbfgs"
    learning_rate: Annotated[float, Range(1e-6, 1)] = 0.02  # of AdaGrad
    iterations: Annotated[int, Range(1)] = 40
    patience: Annotated[int, Range(1)] = 5
    held_out: Annotated[float, Range(0, 0.5)] = 0.005

    def _fit(self, graph: ClickGraph, progress: Progress) -> None:
        """Start from latent semantic analysis and minimise the loss."""
        rows = self._build_features(graph, "words", progress, one_idf=True, max_terms=self.max_vocabulary)
        asked, clicked = pairs_with_features(graph.clicks, *rows)
        start = truncated_svd([vstack(*rows)], self.dim, seed=self.seed, progress=progress).right
        self._note_missing_dims(start.shape[1])
        random = np.random.default_rng(self.seed)
        held = validation_mask(len(asked), self.held_out, random)
        if not held.any():
            self._add_note("too few pairs to hold any out: the last iteration is used")
        candidates = nonempty_rows(rows.docs)

        def compare(queries: Ints, docs: Ints) -> Ints:
            others = draw_unclicked(graph.clicks, queries, docs, self.n_negatives, candidates, random)
            return np.concatenate([docs[:, None], others], axis=1)

        unseen = RankingExamples(*rows, asked[held], compare(asked[held], clicked[held]))
        asked, clicked = asked[~held], clicked[~held]

        def validate(projection: FloatArray) -> float:
            return mean_loss(projection, unseen, self.gamma)

        with progress("iterations", self.iterations) as done:
            if self.optimiser == "lbfgs":
                examples = RankingExamples(*rows, asked, compare(asked, clicked))
                stop = fit_lbfgs(start, examples, self.gamma, validate, self.iterations, self.patience, done)
            else:
                stop = fit_adagrad(
                    start, *rows, asked, lambda: compare(asked, clicked), self.gamma, validate,
                    self.iterations, self.patience, self.learning_rate, random, done,
                )  # fmt: skip
        self.stats_ |= stop.stats() | {"pairs": len(asked), "held_out_pairs": int(held.sum())}
        both = DenseMap.from_blocks([stop.best[0]])
        self._build_embeddings(both, both, progress)

    def _edge_weights(self, graph: ClickGraph) -> Csr:
        """Return 1 for every clicked pair: the number of clicks is not used."""
        return graph.clicks.with_data(np.ones(graph.clicks.nnz, np.float32))
