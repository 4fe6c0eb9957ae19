"""Learn the calibration of a combination from examples: maps and weights by conditional logistic regression.

For a query with the candidates D, the probability of a click on one of them is

    P(d | q) = exp(score(q, d)) / Σ_{d' ∈ D} exp(score(q, d'))

Its likelihood compares only documents of the same query, as a ranking does, and has one maximum:

1. the map of each part, as if it were the only one: a rising line with few knots;
2. given the maps, the weights of all parts, for queries and documents with and without clicks.

Weights are drawn to those of the best single part: 1 for it, 0 for the others. So a combination starts as its
best part, and leaves it only as far as held-out clicks say; a few of them change little. The weights for
documents with and without clicks are drawn to each other, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coclick.models.combination.calibration import Calibration

Floats = NDArray[np.float64]

MIN_QUERIES = 5  # to learn from
QUANTILES = (0.2, 0.4, 0.6, 0.8, 0.95)  # of a part's scores: the knots of its map
MIN_RATIO = 1.1  # of a knot to the one before
MIN_STEP = 0.01  # of a map between two knots: it keeps the order of the part
MIN_WEIGHT = 0.02  # so that every part breaks ties
# Penalties on the squares of the steps of maps, of the distance of weights from those of the best part, of
# the difference of weights for documents with and without clicks, and of the base.
MAP_PENALTY, WEIGHT_PENALTY, DIFFERENCE_PENALTY, BASE_PENALTY = 1.0, 15.0, 50.0, 100.0
DIGITS = 6  # kept of what is learned, so that rounding errors of another machine do not change it


class Example(NamedTuple):
    """The candidates of one query."""

    scores: Floats  # candidates × parts
    gains: Floats  # of the candidates, for held-out clicks; 0 for the others
    seen: bool  # whether the query has clicks to learn from
    clicked: NDArray[np.bool_]  # which candidates have


def learn(examples: Sequence[Example]) -> Calibration | None:
    """Learn maps and weights, or return None if there are too few examples."""
    examples = [one for one in examples if one.gains.any()]
    if len(examples) < MIN_QUERIES:
        return None
    parts = range(examples[0].scores.shape[1])
    maps = [_learn_map(examples, part) for part in parts]
    one_weight_each = Calibration(
        [knots for knots, _ in maps],
        [heights for _, heights in maps],
        [[[1.0 for _ in parts]] * 2] * 2,
        [[0.0] * 2] * 2,
    )
    weights, base = [], []
    for seen in (False, True):
        own = [one for one in examples if one.seen == seen]
        learned = _learn_weights(one_weight_each, own if len(own) >= MIN_QUERIES else examples)
        weights.append(learned[0])
        base.append(learned[1])
    return Calibration(one_weight_each.knots, one_weight_each.heights, weights, base)


def _learn_map(examples: Sequence[Example], part: int) -> tuple[list[float], list[float]]:
    """The knots and heights of the map of a part."""
    scores = np.concatenate([one.scores[:, part] for one in examples])
    positive = scores[scores > 0]
    knots = _spread(np.quantile(positive, QUANTILES) if len(positive) else np.ones(1))
    low = np.concatenate([[0.0], knots[:-1]])
    steps = np.clip((scores[:, None] - low) / (knots - low), 0, 1)  # 1 for each knot that is passed
    steps[:, -1] = np.maximum((scores - low[-1]) / (knots[-1] - low[-1]), 0)
    free = np.zeros(len(knots))
    heights = maximum_likelihood(steps, examples, free + MIN_STEP, free, MAP_PENALTY * np.eye(len(knots)))
    return knots.tolist(), [_rounded(height) for height in np.cumsum(np.maximum(heights, MIN_STEP))]


def _spread(quantiles: Floats) -> Floats:
    """The quantiles as knots. Some are left out where many scores are almost equal: no slope is too steep."""
    knots = [_rounded(float(quantiles[-1]))]
    for quantile in quantiles[::-1].tolist():
        if quantile <= knots[0] / MIN_RATIO:
            knots.insert(0, _rounded(quantile))
    return np.array(knots)


def _learn_weights(maps: Calibration, examples: Sequence[Example]) -> tuple[list[list[float]], list[float]]:
    """Weights by document and part, and the base by document."""
    n = maps.n_parts
    scores = np.concatenate([one.scores for one in examples])
    odds = np.stack([maps.log_odds(part, scores[:, part]) for part in range(n)], axis=1)
    best = int(np.argmin([loss(odds[:, part], examples) for part in range(n)]))
    prior = np.zeros(n)
    prior[best] = 1.0
    clicked = np.concatenate([one.clicked for one in examples]).astype(np.float64)[:, None]
    columns = np.concatenate([odds * (1 - clicked), odds * clicked, clicked], axis=1)
    lowest = np.append(np.full(2 * n, MIN_WEIGHT), -np.inf)
    penalty = np.diag([*[WEIGHT_PENALTY + DIFFERENCE_PENALTY] * (2 * n), BASE_PENALTY])
    penalty[range(2 * n), [*range(n, 2 * n), *range(n)]] = -DIFFERENCE_PENALTY
    learned = maximum_likelihood(columns, examples, lowest, np.concatenate([prior, prior, [0.0]]), penalty)
    *of_parts, advantage = (round(value, 3) for value in learned.tolist())
    return [of_parts[:n], of_parts[n:]], [max(-advantage, 0.0), max(advantage, 0.0)]


def maximum_likelihood(
    columns: Floats, examples: Sequence[Example], lowest: Floats, prior: Floats, penalty: Floats
) -> Floats:
    """Return the coefficients of the columns, at least `lowest`, that make the held-out clicks most probable.

    `penalty` is the matrix of a quadratic penalty on the distance from `prior`.
    """
    from scipy.optimize import minimize

    target, first, query = _grouped(examples)

    def objective(coefficients: Floats) -> tuple[float, Floats]:
        log_p = _log_softmax(columns @ coefficients, first, query)
        away = coefficients - prior
        value = float(away @ penalty @ away - target @ log_p)
        return value, 2 * penalty @ away - (target - np.exp(log_p)) @ columns

    bounds = [(low if np.isfinite(low) else None, None) for low in lowest.tolist()]
    start = np.maximum(prior, lowest)
    return np.asarray(minimize(objective, start, jac=True, method="L-BFGS-B", bounds=bounds).x)


def loss(scores: Floats, examples: Sequence[Example]) -> float:
    """Return the negative log-likelihood of the held-out clicks for scores of all candidates."""
    target, first, query = _grouped(examples)
    return float(-target @ _log_softmax(scores, first, query))


def _grouped(examples: Sequence[Example]) -> tuple[Floats, NDArray[np.intp], NDArray[np.intp]]:
    """The share of a query's gains of each candidate, the first candidate of each query, and its query."""
    sizes = [len(one.gains) for one in examples]
    first = np.cumsum([0, *sizes[:-1]])
    target = np.concatenate([one.gains / one.gains.sum() for one in examples])
    return target, first, np.repeat(np.arange(len(sizes)), sizes)


def _log_softmax(scores: Floats, first: NDArray[np.intp], query: NDArray[np.intp]) -> Floats:
    shifted = scores - np.maximum.reduceat(scores, first)[query]
    return np.asarray(shifted - np.log(np.add.reduceat(np.exp(shifted), first))[query])


def _rounded(value: float) -> float:
    return float(f"{value:.{DIGITS}g}")
