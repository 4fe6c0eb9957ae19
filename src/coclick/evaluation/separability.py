"""Does a model's score tell good documents from bad ones? (paper 003, §4.4 and Figure 4)

For each grade the scores of all documents that were judged so, over all queries, sorted and divided by the
model's highest score. Where the curves of two grades lie apart, the score separates them.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coclick.evaluation.measures import Grades

POINTS = 41  # of a curve
Scores = NDArray[np.float64]


class Separability(NamedTuple):
    """Curves by grade, highest scores first, and the share of pairs that the scores put in order."""

    curves: dict[int, list[float]]
    in_order: float


def separability(grades: Grades, scores: Mapping[str, NDArray[np.float32]]) -> Separability:
    """From the scores of the judged documents, in the order in which each query's grades stand."""
    pooled: dict[int, list[float]] = {}
    for query, found in grades.items():
        for grade, score in zip(found.values(), scores[query].tolist(), strict=True):
            pooled.setdefault(grade, []).append(score)
    by_grade = {grade: np.sort(pooled[grade]) for grade in sorted(pooled)}
    highest = max(values[-1] for values in by_grade.values()) or 1.0
    shares = np.linspace(1, 0, POINTS)
    curves = {grade: (np.quantile(values, shares) / highest).tolist() for grade, values in by_grade.items()}
    return Separability(curves, _in_order(list(by_grade.values())))


def _in_order(ascending: list[Scores]) -> float:
    """Of all pairs of documents with different grades, how many have the higher score with the higher grade?

    A tie counts half, so that chance is 0.5. Each grade's scores are sorted.
    """
    right = pairs = 0.0
    for low, high in combinations(ascending, 2):
        below, not_above = np.searchsorted(low, high, "left"), np.searchsorted(low, high, "right")
        right += (below.sum() + not_above.sum()) / 2
        pairs += len(low) * len(high)
    return float(right / pairs) if pairs else 0.5
