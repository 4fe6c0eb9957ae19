"""Which pairs of query and document to rate first: those whose grade says most about the models.

With several models, a pair's uncertainty is the difference between the largest and the smallest discount
1 / log₂(1 + rank) that models give the document, zero where it is not among the first ten. That is what a
grade of one changes in the difference of their DCG@10. With one model, it is the discount, times how near the
score is to that of the next document above or below, from 0 to 1 of the highest score.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from coclick.models.base import Model

DEPTH = 10


class Pair(NamedTuple):
    """A query and a document, with the document's rank in each model (None below the first ten)."""

    query: str
    doc: str
    ranks: tuple[int | None, ...]
    uncertainty: float


def uncertain_pairs(models: Sequence[Model], queries: Sequence[str]) -> list[Pair]:
    """Return all pairs of queries and documents among the first ten of a model, most uncertain first."""
    runs = [model.search(list(queries), DEPTH) for model in models]
    pairs = []
    for i, query in enumerate(queries):
        found = [run.hits(i) for run in runs]
        pairs += _alone(query, found[0]) if len(models) == 1 else _compared(query, found)
    return sorted(pairs, key=lambda pair: -pair.uncertainty)  # stable: else the order of queries


def _compared(query: str, found: Sequence[Sequence[tuple[str, float]]]) -> list[Pair]:
    ranks = [{doc: place for place, (doc, _) in enumerate(ranking, 1)} for ranking in found]
    pairs = []
    for doc in {doc: None for ranking in ranks for doc in ranking}:
        of_doc = tuple(ranking.get(doc) for ranking in ranks)
        discounts = [_discount(rank) for rank in of_doc]
        pairs.append(Pair(query, doc, of_doc, max(discounts) - min(discounts)))
    return pairs


def _alone(query: str, ranking: Sequence[tuple[str, float]]) -> list[Pair]:
    scores = [score for _, score in ranking]
    pairs = []
    for place, (doc, score) in enumerate(ranking):
        beside = scores[max(place - 1, 0) : place] + scores[place + 1 : place + 2]
        gap = min((abs(score - other) for other in beside), default=scores[0])
        nearness = 1 - gap / scores[0] if scores[0] > 0 else 0.0
        pairs.append(Pair(query, doc, (place + 1,), _discount(place + 1) * max(nearness, 0.0)))
    return pairs


def _discount(rank: int | None) -> float:
    return 0.0 if rank is None else 1 / math.log2(1 + rank)
