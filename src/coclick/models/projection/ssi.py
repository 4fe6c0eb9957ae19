"""`ssi`: supervised semantic indexing (Bai et al. 2009; Wu, Lu & Li 2013 §6.1.1).

    f(q, d) = qᵀ (UᵀV + I) d        loss = max(0, 1 − f(q, d⁺) + f(q, d⁻))

over one vocabulary of queries and documents: the learned part is added to the plain cosine. A preference of
d⁺ over d⁻ that violates the margin of 1 updates both maps from their old values,

    U ← U + η V (d⁺ − d⁻) qᵀ        V ← V + η U q (d⁺ − d⁻)ᵀ

one preference at a time, on one thread. Preferences are those of Joachims (2002), a clicked document over one
that was shown above it and skipped (`pairs=skips`, as in Wu, Lu & Li 2013), or a clicked document over
sampled ones that were not clicked for the query (`pairs=sampled`), or both: skipped documents are all from
the top of the ranking, so alone they teach nothing about other documents. Maps start from N(0, 1/dim), and
from 0 for words that occur in no preference.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray

from coclick.arrays.csr import Csr
from coclick.errors import UserError
from coclick.graph.click_graph import ClickGraph
from coclick.models.presets import Preset
from coclick.models.projection._overlap import OverlapProjection
from coclick.models.projection.linear_map import DenseMap
from coclick.models.projection.paper_data import WORDS, WU2013_DATA
from coclick.models.registry import register
from coclick.models.spec import Range
from coclick.progress import Progress
from coclick.solvers.early_stopping import train_epochs
from coclick.solvers.pairwise import csr_arrays, hinge_epoch
from coclick.solvers.sampling import (
    Preferences,
    Sampler,
    concatenate_preferences,
    nonempty_rows,
    pairs_with_features,
    restrict_to_pairs,
    skip_preferences,
)


@register
@dataclass
class SSI(OverlapProjection):
    """Score by the plain cosine plus word products that are learned with a margin."""

    name = "ssi"
    summary = "supervised semantic indexing: weights of word pairs, learned from clicks and skips"
    relative_cost = 6.0
    max_docs = 200_000
    requires = ("texts",)
    presets = {
        "wu2013": Preset(
            "Wu, Lu & Li 2013",
            pairs=("skips", "§6.1.1: preferences by the rules of Joachims 2002"),
            max_vocabulary=(271_561, "§6.1: all words of the larger log"),
            **{name: WU2013_DATA[name] for name in ("fields", *WORDS)},
        )
    }

    dim: int = 100
    fields: str = "title"
    max_vocabulary: Annotated[int, Range(1)] = 40_000  # most frequent words
    pairs: Literal["both", "skips", "sampled"] = "both"
    n_negatives: Annotated[int, Range(1)] = 4  # sampled documents per clicked pair
    learning_rate: Annotated[float, Range(1e-6, 1)] = 0.02
    iterations: Annotated[int, Range(1)] = 20
    patience: Annotated[int, Range(1)] = 3
    held_out: Annotated[float, Range(0, 0.5)] = 0.05

    def _fit(self, graph: ClickGraph, progress: Progress) -> None:
        """Run stochastic gradient descent on preferences; each iteration draws new samples."""
        if self.index != "exact":
            raise UserError("ssi scores every document", hint="leave out index=")
        rows = self._build_features(graph, "words", progress, one_idf=True, max_terms=self.max_vocabulary)
        asked, clicked = pairs_with_features(graph.clicks, *rows)
        sampler = Sampler(self.seed)
        held = sampler.hold_out(len(asked), self.held_out)
        if not held.any():
            self._add_note("too few pairs to hold any out: the last iteration is used")
        skips = restrict_to_pairs(self._skips(graph), asked, clicked)
        if self.pairs == "skips" and not len(skips.queries):
            self._add_note("the graph has no skipped documents: clicked ones are preferred to sampled ones")
        drawn = 0 if self.pairs == "skips" and len(skips.queries) else self.n_negatives
        candidates = nonempty_rows(rows.docs)

        def preferences(chosen: NDArray[np.bool_]) -> Preferences:
            queries, docs = asked[chosen], clicked[chosen]
            return concatenate_preferences(
                restrict_to_pairs(skips, queries, docs),
                sampler.prefer(graph.clicks, queries, docs, drawn, candidates),
            )

        unseen = preferences(held)
        left = _random_map(rows.queries, asked, self.dim, sampler)
        right = _random_map(rows.docs, candidates, self.dim, sampler)
        arrays = csr_arrays(rows.queries), csr_arrays(rows.docs)

        def step() -> float:
            learned = preferences(~held)
            order = sampler.order(len(learned.queries))
            return hinge_epoch(*arrays, learned, order, left, right, self.learning_rate)

        def validate() -> float:
            count = len(unseen.queries)
            return hinge_epoch(*arrays, unseen, np.arange(count), left, right, 0.0) if count else np.nan

        with progress("iterations", self.iterations) as done:
            stop = train_epochs(step, validate, (left, right), self.iterations, self.patience, done)
        self.stats_ |= stop.stats() | {"pairs": int((~held).sum()), "held_out_pairs": int(held.sum())}
        self.stats_["skips"] = len(skips.queries)
        self._build_embeddings(
            DenseMap.from_blocks([stop.best[0]]), DenseMap.from_blocks([stop.best[1]]), progress
        )

    def _skips(self, graph: ClickGraph) -> Preferences:
        none = np.empty(0, np.int32)
        if self.pairs == "sampled" or graph.skips is None:
            return Preferences(none, none, none)
        return skip_preferences(graph.skips)

    def _edge_weights(self, graph: ClickGraph) -> Csr:
        """Return 1 for every clicked pair: the number of clicks is not used."""
        return graph.clicks.with_data(np.ones(graph.clicks.nnz, np.float32))


def _random_map(rows: Csr, used: NDArray[np.int32], dim: int, sampler: Sampler) -> NDArray[np.float32]:
    """N(0, 1/dim) for the words of the used rows, zeros for others."""
    start = sampler.normal(rows.columns, dim) / np.float32(np.sqrt(dim))
    unused = np.ones(rows.columns, np.bool_)
    unused[rows.take(used).indices] = False
    start[unused] = 0
    return start
