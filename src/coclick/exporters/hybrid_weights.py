"""The weight of vectors in hybrid queries, tuned on held-out clicks.

The model is trained without the held-out clicks. Its scores, and BM25 of the text fields, each times its
weight, are mixed in the two ways of the engines:

    normalised   (1 − w) · text + w · vectors, both scaled to 0…1 over the hits of the query (OpenSearch)
    added        text + boost · vectors (Elasticsearch, Solr, Vespa)

The text has the score of its best field (`multi_match`; edismax takes the best for each word, which is the
same for one field), in Vespa the sum of fields. One half of the queries chooses the weight, the other half
measures it, and reciprocal rank fusion, which has no weight.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coclick.errors import UserError
from coclick.models.base import Model
from coclick.models.combination.held_out import HeldOutClicks
from coclick.models.registry import create
from coclick.progress import Progress, quiet
from coclick.text.query import Query

Way = Literal["normalised", "added"]
Floats = NDArray[np.float64]
_DEPTH = 100  # hits of each part
_MIN_QUERIES = 10
_SHARES = tuple(step / 10 for step in range(1, 10))
_BOOSTS = tuple(2.0**power for power in range(-5, 6))  # times the ratio of usual best scores
_RRF_CONSTANT = 60
_SMALLEST = 0.001  # what min-max normalisation gives the lowest hit


class TextScores(NamedTuple):
    """How an engine scores texts: the factor of its BM25, and whether the scores of fields are added up."""

    factor: float
    adds_fields: bool


LUCENE = TextScores(1 / 2.2, False)  # its BM25 lacks the factor k₁ + 1
VESPA = TextScores(1.0, True)


class _Candidates(NamedTuple):
    """The hits of one query: scores (0 where a part does not find the document) and gains."""

    text: Floats
    vectors: Floats
    gains: Floats
    best_gains: Floats  # of all clicked documents, in descending order


@dataclass(frozen=True)
class HybridWeight:
    """A tuned weight, with nDCG@10 on the queries that did not choose it."""

    weight: float  # w, or the boost
    queries: int
    untuned: float  # of equal weights
    tuned: float
    text_only: float
    rrf: float  # of reciprocal rank fusion

    def sentence(self) -> str:
        """Return the figures for a README."""
        return (
            f"It was tuned on held-out clicks: nDCG@10 on {self.queries:,} other queries is "
            f"{self.tuned:.3f}, untuned {self.untuned:.3f}, with the text alone {self.text_only:.3f}."
        )

    def rrf_sentence(self) -> str:
        """Return the figure of reciprocal rank fusion for a README."""
        return f"On the same queries its nDCG@10 is {self.rrf:.3f}."


def tune_hybrid(
    model: Model,
    text_fields: Sequence[str],
    way: Way,
    text_scores: TextScores = LUCENE,
    progress: Progress = quiet,
) -> HybridWeight | str:
    """Return the weight of vectors beside text fields such as `title^3`, or why it cannot be tuned."""
    graph = model.trained_on
    weights = {name: float(boost or 1) for name, _, boost in (field.partition("^") for field in text_fields)}
    known = {name: boost for name, boost in weights.items() if name in graph.texts}
    if not known:
        return f"the graph has none of the fields {', '.join(weights)}"
    held_out = HeldOutClicks.split(graph)
    try:
        trained = create(str(model)).fit(held_out.train, progress)
        texts = [(boost, create(f"bm25(fields={name})").fit(held_out.train)) for name, boost in known.items()]
    except UserError as error:
        return error.reason
    found = [
        _candidates(trained, texts, text_scores, query, gains)
        for query, gains in zip(
            Query.list_of(list(held_out.gains), held_out.train.queries), held_out.gains.values(), strict=True
        )
    ]
    found = [one for one in found if one.gains.any()]
    if len(found) < _MIN_QUERIES:
        return f"only {len(found)} queries have held-out clicks on documents that are found"
    choosing, measuring = found[::2], found[1::2]
    mix, grid, equal = _ways(choosing, way)
    best = max(grid, key=lambda weight: _quality(choosing, mix, weight))  # the first of equals
    return HybridWeight(
        best,
        len(measuring),
        _quality(measuring, mix, equal),
        _quality(measuring, mix, best),
        _quality(measuring, mix, 0.0),
        _quality(measuring, lambda one, _: _fused(one), 0.0),
    )


def _ways(
    found: Sequence[_Candidates], way: Way
) -> tuple[Callable[[_Candidates, float], Floats], Sequence[float], float]:
    """The function that mixes, the weights to try, and the weight that means nothing was tuned."""
    if way == "normalised":
        return _normalised, _SHARES, 0.5
    ratios = [one.text.max() / one.vectors.max() for one in found if one.text.max() > 0 < one.vectors.max()]
    usual = float(np.median(ratios)) if ratios else 1.0
    boosts = [float(f"{usual * factor:.3g}") for factor in _BOOSTS]
    return (lambda one, boost: one.text + boost * one.vectors), boosts, 1.0


def _normalised(one: _Candidates, share: float) -> Floats:
    return (1 - share) * _min_max(one.text) + share * _min_max(one.vectors)


def _fused(one: _Candidates) -> Floats:
    """Reciprocal rank fusion: 1 / (60 + rank) from each part that finds the document."""
    return _reciprocal_ranks(one.text) + _reciprocal_ranks(one.vectors)


def _reciprocal_ranks(scores: Floats) -> Floats:
    ranks = np.empty(len(scores))
    ranks[np.argsort(-scores, kind="stable")] = np.arange(1, len(scores) + 1)
    return np.where(scores > 0, 1 / (_RRF_CONSTANT + ranks), 0.0)


def _min_max(scores: Floats) -> Floats:
    """Scores of hits scaled to 0…1; documents that are not found stay at 0."""
    hits = scores > 0
    if not hits.any():
        return scores
    low, high = scores[hits].min(), scores[hits].max()
    scaled = np.ones_like(scores) if high == low else (scores - low) / (high - low)
    return np.where(hits, np.maximum(scaled, _SMALLEST), 0.0)


def _candidates(
    model: Model,
    texts: Sequence[tuple[float, Model]],
    text_scores: TextScores,
    query: Query,
    gains: dict[int, float],
) -> _Candidates:
    """The best documents of both parts; a document that a part ranks lower is not among its hits."""
    depth = min(_DEPTH, len(model.graph_.docs))
    vectors = _hits([(1.0, model)], query, depth)
    weighted = [(boost * text_scores.factor, one) for boost, one in texts]
    text = _hits(weighted, query, depth, adds=text_scores.adds_fields)
    docs = sorted({*vectors, *text})
    return _Candidates(
        np.array([text.get(doc, 0.0) for doc in docs]),
        np.array([vectors.get(doc, 0.0) for doc in docs]),
        np.array([gains.get(doc, 0.0) for doc in docs]),
        np.sort(np.array(list(gains.values())))[::-1],
    )


def _hits(
    models: Sequence[tuple[float, Model]], query: Query, depth: int, *, adds: bool = False
) -> dict[int, float]:
    """The best documents by their best score in any of the models, or by the sum of scores."""
    best: dict[int, float] = {}
    for factor, model in models:
        rows, scores = (one[0] for one in model._search([query], depth, None))
        for row, score in zip(rows.tolist(), scores.tolist(), strict=True):
            if row >= 0 and score > 0:
                before = best.get(row, 0.0)
                best[row] = before + factor * score if adds else max(before, factor * score)
    return dict(sorted(best.items(), key=lambda pair: -pair[1])[:depth])


def _quality(
    found: Sequence[_Candidates], mix: Callable[[_Candidates, float], Floats], weight: float
) -> float:
    """Mean nDCG@10."""
    return float(np.mean([_ndcg(one, mix(one, weight)) for one in found]))


def _ndcg(one: _Candidates, scores: Floats) -> float:
    order = np.argsort(-scores, kind="stable")[:10]
    gains = one.gains[order] * (scores[order] > 0)
    discounts = 1 / np.log2(np.arange(2, 12))
    ideal = float((one.best_gains[:10] * discounts[: len(one.best_gains[:10])]).sum())
    return float((gains * discounts[: len(gains)]).sum()) / ideal
