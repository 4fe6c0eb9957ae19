"""How well scores separate documents of different grades (Jiang et al. 2016, §4.4 and Figure 4).

For each grade, the curve of the scores of all documents with that grade, over all queries, sorted and divided
by the model's highest score. The further two curves are apart, the better the scores separate the grades.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coclick.evaluation.measures import Grades

POINTS = 41  # per curve
Scores = NDArray[np.float64]


class Separability(NamedTuple):
    """Curves by grade, highest score first, and the share of document pairs in the right order."""

    curves: dict[int, list[float]]
    in_order: float


def separability(grades: Grades, scores: Mapping[str, NDArray[np.float32]]) -> Separability:
    """Compute the curves of the queries with scores, which are in the order of their grades."""
    pooled: dict[int, list[float]] = {}
    for query, found in scores.items():
        for grade, score in zip(grades[query].values(), found.tolist(), strict=True):
            pooled.setdefault(grade, []).append(score)
    by_grade = {grade: np.sort(pooled[grade]) for grade in sorted(pooled)}
    highest = max(values[-1] for values in by_grade.values()) or 1.0
    shares = np.linspace(1, 0, POINTS)
    curves = {grade: (np.quantile(values, shares) / highest).tolist() for grade, values in by_grade.items()}
    return Separability(curves, _in_order(list(by_grade.values())))


def _in_order(ascending: list[Scores]) -> float:
    """The share of all pairs with different grades in which the higher grade has the higher score.

    A tie counts half, so a random order has 0.5. The scores of each grade are sorted.
    """
    right = pairs = 0.0
    for low, high in combinations(ascending, 2):
        below, not_above = np.searchsorted(low, high, "left"), np.searchsorted(low, high, "right")
        right += (below.sum() + not_above.sum()) / 2
        pairs += len(low) * len(high)
    return float(right / pairs) if pairs else 0.5
