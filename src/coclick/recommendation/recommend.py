"""`recommend`: choose a model by quality and cost, and say why.

1. Only models that can be used at the target count.
2. The best of them by the first split is the reference. Models that are as good stay: not significantly
   worse (paired t-test, uncorrected, so that a doubt counts against a model) and at most `CLOSE` below, and
   not significantly worse than the best of these by the other split, where they were judged by it.
3. Among these, a model that relies on other signals where one is missing (`backoff`, `ltr`) comes before the
   others, then the better one before the worse.
4. If another of them is at most `EQUAL` below and answers `FASTER` times as fast, it is recommended instead,
   unless either takes less than a millisecond anyway.

So the recommended model is never significantly worse than the best one that can be used.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from coclick.evaluation.measures import MAIN_MEASURE
from coclick.evaluation.protocol import ModelResult
from coclick.evaluation.significance import t_test
from coclick.recommendation.budget import format_duration
from coclick.recommendation.candidates import ROBUST
from coclick.recommendation.properties import Properties

SIGNIFICANCE_LEVEL = 0.05
CLOSE = 0.005  # nDCG that relying on several signals is worth
EQUAL = 0.002  # nDCG that a fast answer is worth
FASTER = 5.0
_SLOW = 1.0  # milliseconds from which speed matters
_FAST, _QUICK = 0.5, 2.0  # milliseconds of a search, seconds of training, below which all are equally cheap
_STEP = 0.005  # nDCG that a more expensive model must gain to be listed
_BASE = 0.75  # of the recommended quality: what the cheapest listed model must have
_MAX_STEPS = 4


class Entry(NamedTuple):
    """A model with its results by the first and, if it was judged by it, by the second split."""

    first: ModelResult
    second: ModelResult | None
    properties: Properties

    @property
    def name(self) -> str:
        """The specification of the model."""
        return self.first.name

    @property
    def quality(self) -> float:
        """The main measure by the split that decides."""
        return float(self.first.values().mean())


@dataclass(frozen=True)
class Step:
    """What a more expensive model gains over the cheaper one before it, and what it costs in addition."""

    model: str
    gain: float
    seconds: float
    milliseconds: float

    def __str__(self) -> str:
        training, search = format_duration(max(self.seconds, 0)), f"{max(self.milliseconds, 0):.2g} ms"
        return f"{self.model} +{self.gain:.3f} for {training} of training and {search} a query"


@dataclass(frozen=True)
class Recommendation:
    """A model, why it is recommended, and the steps from a cheap model to it."""

    model: str
    reason: str
    target: str | None
    base: str  # the cheap model that the steps begin with
    steps: tuple[Step, ...]

    @property
    def prices(self) -> str:
        """The steps as a sentence; empty if there is no cheaper model."""
        return f"from {self.base}: " + "; then ".join(map(str, self.steps)) if self.steps else ""

    def to_dict(self) -> dict[str, Any]:
        """Return it as `coclick compare --json` writes it."""
        return asdict(self) | {"steps": [asdict(step) for step in self.steps], "prices": self.prices}


def recommend(
    entries: Sequence[Entry], splits: Sequence[str], target: str | None = None
) -> Recommendation | None:
    """Choose one of the models, given best first; None if there is none that can be used at the target.

    `splits` are the names of the splits.
    """
    usable = [one for one in entries if target is None or target in one.properties.targets]
    if not usable:
        return None
    best = usable[0]
    chosen = _choose(as_good_as_best(usable))
    reasons = [_why(chosen, best, splits)]
    if entries[0] is not best:
        lost = entries[0].quality - chosen.quality
        reasons.append(f"{entries[0].name} ranks {lost:.3f} better, but cannot be used with {target}")
    base, steps = prices(usable, chosen)
    return Recommendation(chosen.name, "; ".join(reasons), target, base, steps)


def as_good_as_best(entries: Sequence[Entry]) -> list[Entry]:
    """Return the models that are as good as the first, the best one, in both splits."""
    best = entries[0]
    close = [
        one for one in entries if best.quality - one.quality <= CLOSE and not _worse(one.first, best.first)
    ]
    judged = [one for one in close if one.second is not None]
    if not judged:
        return close
    leader = max((one.second for one in judged if one.second), key=lambda result: result.values().mean())
    return [one for one in close if one.second is None or not _worse(one.second, leader)]


def prices(entries: Sequence[Entry], chosen: Entry) -> tuple[str, tuple[Step, ...]]:
    """Return a cheap model, BM25 if it is among them, and the steps from it to the chosen one.

    Each step is the best model of its cost, with a gain of at least `_STEP` over the one before.
    """
    limit = _cost(chosen)
    cheaper = [one for one in entries if one is not chosen and _cost(one) <= limit]
    ladder = [one for one in cheaper if one.name == "bm25" and one.quality + _STEP <= chosen.quality]
    for one in sorted(cheaper, key=lambda one: (_cost(one), -one.quality)):
        reached = ladder[-1].quality + _STEP if ladder else _BASE * chosen.quality
        if reached <= one.quality <= chosen.quality - _STEP:
            ladder.append(one)
    ladder = [*ladder[:1], *ladder[1:][-_MAX_STEPS + 1 :]]
    climbed = [*ladder[1:], chosen] if ladder else []
    steps = [
        Step(
            after.name,
            after.quality - before.quality,
            after.first.seconds - before.first.seconds,
            after.properties.milliseconds - before.properties.milliseconds,
        )
        for before, after in zip(ladder, climbed, strict=True)
    ]
    return (ladder[0].name if ladder else chosen.name), tuple(steps)


def _cost(entry: Entry) -> tuple[float, float]:
    """Milliseconds of a search, then seconds of training; small differences do not count."""
    return max(entry.properties.milliseconds, _FAST), max(entry.first.seconds, _QUICK)


def _choose(equals: Sequence[Entry]) -> Entry:
    """The model to recommend among equally good ones, given best first."""
    chosen = next((one for one in equals if one.name.startswith(ROBUST)), equals[0])
    if chosen.properties.milliseconds < _SLOW:
        return chosen
    fast = [
        one
        for one in equals
        if chosen.quality - one.quality <= EQUAL
        and one.properties.milliseconds * FASTER <= chosen.properties.milliseconds
    ]
    return fast[0] if fast else chosen


def _worse(one: ModelResult, other: ModelResult) -> bool:
    """Whether a model is significantly worse than another one."""
    differences = other.values() - one.values()
    return bool(differences.mean() > 0) and t_test(differences) < SIGNIFICANCE_LEVEL


def _why(chosen: Entry, best: Entry, splits: Sequence[str]) -> str:
    figure = f"{MAIN_MEASURE} {chosen.quality:.3f}"
    if chosen is best:
        reason = f"it ranks best ({figure})"
    else:
        gap = f"{best.name} {best.quality:.3f}, p = {t_test(best.first.values() - chosen.first.values()):.2g}"
        reason = f"it is not significantly worse than the best ({figure}; {gap})"
        if chosen.name.startswith(ROBUST):
            reason += ", and it falls back on other signals where one is missing"
        else:
            times = best.properties.milliseconds / max(chosen.properties.milliseconds, 1e-6)
            reason += f", and it answers {times:.0f} times as fast" if times >= FASTER else ""
    if len(splits) > 1:
        first, second = splits[:2]
        if chosen.second is None:
            reason += f"; judged by {first} only: the budget did not suffice for {second}"
        else:
            reason += f"; {float(chosen.second.values().mean()):.3f} by {second}"
    return reason
