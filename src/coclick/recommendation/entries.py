"""`Entry`: a model in a comparison, with its quality over all splits that decide; `p_value` tests two."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from coclick.evaluation.protocol import ModelResult
from coclick.evaluation.significance import holm, t_test
from coclick.recommendation.properties import Properties

SIGNIFICANCE_LEVEL = 0.05
_TIE = 1e-9


class Entry(NamedTuple):
    """A model with its results by split, and the weights of the splits that decide."""

    results: Mapping[str, ModelResult]
    weights: Mapping[str, float]
    properties: Properties

    @property
    def name(self) -> str:
        """The specification of the model."""
        return self._first.name

    @property
    def seconds(self) -> float:
        """The time of training."""
        return self._first.seconds

    @property
    def quality(self) -> float:
        """The main measure: the weighted mean of the splits that decide."""
        return sum(weight * self.mean(split) for split, weight in self.weights.items())

    def mean(self, split: str) -> float:
        """Return the main measure by one split."""
        return float(self.results[split].values().mean())

    @property
    def _first(self) -> ModelResult:
        return next(iter(self.results.values()))


def p_value(one: Entry, other: Entry) -> float:
    """Return the p-value of the difference in quality: the paired t-test, or a z-test of several splits.

    The queries of two splits are different samples, so the variances of the weighted means add up.
    """
    pairs = {split: (one.results[split], other.results[split]) for split in one.weights}
    differences = {split: a.values() - b.values() for split, (a, b) in pairs.items()}
    if len(differences) == 1:
        return t_test(*differences.values())
    mean = variance = 0.0
    for split, weight in one.weights.items():
        found = differences[split]
        mean += weight * float(found.mean())
        variance += weight**2 * float(found.var(ddof=1)) / len(found) if len(found) > 1 else 0.0
    if variance <= _TIE**2:
        return 1.0 if abs(mean) < _TIE else 0.0
    return math.erfc(abs(mean) / math.sqrt(2 * variance))


def p_values_against_best(entries: Sequence[Entry]) -> list[float]:
    """Return the p-value of each difference to the best model, given first, with Holm's correction."""
    return [1.0, *holm([p_value(entries[0], one) for one in entries[1:]])] if entries else []


def as_good_as_best(entries: Sequence[Entry]) -> list[Entry]:
    """Return the models that are not significantly worse than the best, given first; corrected as above."""
    pairs = zip(entries, p_values_against_best(entries), strict=True)
    return [one for one, p in pairs if p >= SIGNIFICANCE_LEVEL]
