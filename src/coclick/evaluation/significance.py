"""Paired significance tests between models on the same queries, and bootstrap confidence intervals.

The papers use the paired t-test and the sign test. The randomisation test counts how often a difference at
least as large arises when each query's two results are swapped at random. With many models, some pair differs
by chance; Holm's method corrects the p-values of the t-test over all pairs of a leaderboard.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coclick.errors import UserError

N_PERMUTATIONS = 10_000  # of the randomisation test
N_RESAMPLES = 2000  # for confidence intervals
_TIE = 1e-9
_BLOCK = 1000
Values = NDArray[np.float64]
Places = NDArray[np.int64]


class Interval(NamedTuple):
    """A 95 % bootstrap confidence interval of a mean."""

    low: float
    high: float


def paired_tests(
    values: Mapping[str, Values], measure: str, pairs: Sequence[tuple[str, str]] | None = None, seed: int = 0
) -> list[dict[str, Any]]:
    """Test every pair of models, or the given pairs.

    Returns for each pair the mean difference a − b, its interval, p-values, and queries won, tied and lost.
    """
    chosen = list(combinations(values, 2)) if pairs is None else list(pairs)
    if not chosen:
        return []
    names = {name: place for place, name in enumerate(values)}
    stacked = np.stack(list(values.values()))
    first, second = (np.array([names[pair[side]] for pair in chosen]) for side in (0, 1))
    differences = stacked[first] - stacked[second]
    random = _randomisation(stacked, first, second, seed)
    means = _resampled_means(stacked, seed)
    low, high = np.percentile(means[first] - means[second], [2.5, 97.5], axis=1)
    rows = []
    for i, (a, b) in enumerate(chosen):
        won, lost = int((differences[i] > _TIE).sum()), int((differences[i] < -_TIE).sum())
        rows.append(
            {
                "a": a,
                "b": b,
                "measure": measure,
                "difference": float(differences[i].mean()),
                "interval": [float(low[i]), float(high[i])],
                "p_t": t_test(differences[i]),
                "p_sign": sign_test(won, lost),
                "p_random": float(random[i]),
                "won": won,
                "tied": differences.shape[1] - won - lost,
                "lost": lost,
            }
        )
    for row, corrected in zip(rows, holm([row["p_t"] for row in rows]), strict=True):
        row["p_holm"] = corrected
    return rows


def t_test(differences: Values) -> float:
    """Return the two-sided p-value of the paired t-test; 1 if nothing differs or there is one query."""
    if len(differences) < 2 or np.abs(differences).max() <= _TIE:
        return 1.0
    spread = differences.std(ddof=1)
    if spread <= _TIE:
        return 0.0
    from scipy.special import stdtr

    t = differences.mean() / (spread / np.sqrt(len(differences)))
    return float(2 * stdtr(len(differences) - 1, -abs(t)))


def sign_test(won: int, lost: int) -> float:
    """Return the two-sided p-value of the sign test; ties do not count."""
    if won + lost == 0:
        return 1.0
    from scipy.special import bdtr

    return float(min(1.0, 2 * bdtr(min(won, lost), won + lost, 0.5)))


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p-values with Holm's step-down correction."""
    corrected = [0.0] * len(p_values)
    highest = 0.0
    for rank, i in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        highest = max(highest, min(1.0, (len(p_values) - rank) * p_values[i]))
        corrected[i] = highest
    return corrected


def bootstrap(values: Values, seed: int = 0) -> tuple[Values, Values]:
    """Return 95 % intervals of the mean of each row, by resampling columns."""
    low, high = np.percentile(_resampled_means(values, seed), [2.5, 97.5], axis=1)
    return low, high


def _resampled_means(values: Values, seed: int) -> Values:
    """The means of each row over each resample."""
    means: Values = values @ _resamples(values.shape[1], seed) / values.shape[1]
    return means


@lru_cache(maxsize=2)
def _resamples(count: int, seed: int) -> Values:
    """How often each resample contains each query; the same for all models and measures."""
    random = np.random.default_rng(seed)
    return random.multinomial(count, np.full(count, 1 / count), N_RESAMPLES).T.astype(np.float64)


def intervals(values: Mapping[str, Values], seed: int = 0) -> dict[str, Interval]:
    """Return the 95 % interval of each model's mean."""
    if not values:
        raise UserError("there are no models to compare")
    low, high = bootstrap(np.stack(list(values.values())), seed)
    return {name: Interval(float(a), float(b)) for name, a, b in zip(values, low, high, strict=True)}


def _randomisation(values: Values, first: Places, second: Places, seed: int) -> Values:
    """Two-sided p-values of the randomisation test for pairs of rows, counting the observed permutation.

    Signs are multiplied with each row once, not with the difference of each pair.
    """
    random = np.random.default_rng([seed, 1])
    totals = values.sum(axis=1)
    observed = np.abs(totals[first] - totals[second])
    as_large = np.ones(len(first))
    for _ in range(N_PERMUTATIONS // _BLOCK):
        sums = values @ (random.integers(0, 2, (values.shape[1], _BLOCK)) * 2.0 - 1.0)
        as_large += (np.abs(sums[first] - sums[second]) >= observed[:, None] - _TIE).sum(axis=1)
    return as_large / (N_PERMUTATIONS + 1)
