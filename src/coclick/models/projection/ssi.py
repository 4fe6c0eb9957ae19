"""`ssi`: supervised semantic indexing (Bai et al. 2009; paper 002 §6.1.1).

    f(q, d) = qᵀ (UᵀV + I) d        loss = max(0, 1 − f(q, d⁺) + f(q, d⁻))

over words that queries and documents share: what the model learns is added to the plain cosine. A preference
d⁺ over d⁻ that is not kept by a margin of 1 moves both maps, from their old values,

    U ← U + η V (d⁺ − d⁻) qᵀ        V ← V + η U q (d⁺ − d⁻)ᵀ

one preference after the other, on one thread. Preferences are those of Joachims (2002), a clicked document
over one that was shown above it and skipped (`pairs=skips`, as in paper 002), or a clicked document over some
that the query has not clicked (`pairs=sampled`), or both: skipped documents were found by the engine, and
alone do not tell what to think of all the others. Maps start from N(0, 1/dim), those of words that no
preference holds from 0: there is nothing to learn about them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray

from coclick.arrays.csr import Csr
from coclick.errors import UserError
from coclick.graph.click_graph import ClickGraph
from coclick.models.projection._overlap import OverlapProjection
from coclick.models.projection.linear_map import DenseMap
from coclick.models.registry import register
from coclick.models.spec import Range
from coclick.progress import Progress
from coclick.solvers.early_stopping import train_epochs
from coclick.solvers.pairwise import csr_arrays, hinge_epoch
from coclick.solvers.sampling import (
    Preferences,
    concatenate_preferences,
    nonempty_rows,
    pairs_with_features,
    restrict_to_pairs,
    sampled_preferences,
    skip_preferences,
    validation_mask,
)


@register
@dataclass
class SSI(OverlapProjection):
    """Word products learned by a margin, beside the plain cosine."""

    name = "ssi"
    summary = "which query words go with which document words, learned from what was clicked and skipped"
    max_docs = 200_000
    requires = ("texts",)

    dim: int = 100
    fields: str = "title"
    max_vocabulary: Annotated[int, Range(1)] = 40_000  # of the commonest words
    pairs: Literal["both", "skips", "sampled"] = "both"
    n_negatives: Annotated[int, Range(1)] = 4  # sampled documents for each clicked pair
    learning_rate: Annotated[float, Range(1e-6, 1)] = 0.02
    iterations: Annotated[int, Range(1)] = 20
    patience: Annotated[int, Range(1)] = 3
    held_out: Annotated[float, Range(0, 0.5)] = 0.05

    def _fit(self, graph: ClickGraph, progress: Progress) -> None:
        """Stochastic gradient descent on preferences; sampled documents are drawn afresh in every round."""
        if self.index != "exact":
            raise UserError("ssi scores every document", hint="leave out index=")
        rows = self.featurise(graph, "words", progress, one_idf=True, max_terms=self.max_vocabulary)
        asked, clicked = pairs_with_features(graph.clicks, *rows)
        random = np.random.default_rng(self.seed)
        held = validation_mask(len(asked), self.held_out, random)
        if not held.any():
            self.note("too few pairs to hold any out: the last round is taken")
        skips = restrict_to_pairs(self._skips(graph), asked, clicked)
        if self.pairs == "skips" and not len(skips.queries):
            self.note("the graph has no skipped documents: clicked ones are preferred to sampled ones")
        drawn = 0 if self.pairs == "skips" and len(skips.queries) else self.n_negatives
        candidates = nonempty_rows(rows.docs)

        def preferences(chosen: NDArray[np.bool_]) -> Preferences:
            queries, docs = asked[chosen], clicked[chosen]
            return concatenate_preferences(
                restrict_to_pairs(skips, queries, docs),
                sampled_preferences(graph.clicks, queries, docs, drawn, candidates, random),
            )

        unseen = preferences(held)
        left = _random_map(rows.queries, asked, self.dim, random)
        right = _random_map(rows.docs, candidates, self.dim, random)
        arrays = csr_arrays(rows.queries), csr_arrays(rows.docs)

        def step() -> float:
            learned = preferences(~held)
            order = random.permutation(len(learned.queries))
            return hinge_epoch(*arrays, learned, order, left, right, self.learning_rate)

        def validate() -> float:
            count = len(unseen.queries)
            return hinge_epoch(*arrays, unseen, np.arange(count), left, right, 0.0) if count else np.nan

        with progress("rounds", self.iterations) as done:
            stop = train_epochs(step, validate, (left, right), self.iterations, self.patience, done)
        self.stats_ |= stop.stats() | {"pairs": int((~held).sum()), "held_out_pairs": int(held.sum())}
        self.stats_["skips"] = len(skips.queries)
        self.build_embeddings(DenseMap.of([stop.best[0]]), DenseMap.of([stop.best[1]]), progress)

    def _skips(self, graph: ClickGraph) -> Preferences:
        none = np.empty(0, np.int32)
        if self.pairs == "sampled" or graph.skips is None:
            return Preferences(none, none, none)
        return skip_preferences(graph.skips)

    def edge_weights(self, graph: ClickGraph) -> Csr:
        """Every clicked pair counts the same, however often it was clicked."""
        return graph.clicks.with_data(np.ones(graph.clicks.nnz, np.float32))


def _random_map(
    rows: Csr, used: NDArray[np.int32], dim: int, random: np.random.Generator
) -> NDArray[np.float32]:
    """N(0, 1/dim) for the words of the rows that are used, zeros for others."""
    start = random.standard_normal((rows.columns, dim), dtype=np.float32) / np.float32(np.sqrt(dim))
    unused = np.ones(rows.columns, np.bool_)
    unused[rows.take(used).indices] = False
    start[unused] = 0
    return start
