"""`recommend`: choose a model by quality and cost, and say why.

1. Only models that can be used at the target count.
2. Models that are as good as the best by the splits that decide stay: not significantly worse (paired t-test
   with Holm's correction, the stars of the table), and not significantly worse than the best single model
   even without the correction.
3. Of these, models stay that are not significantly worse than the best of these by each other split, where
   they were judged by it; in thin logs the other splits do not count.
4. The best of these by the splits that decide is the reference. Among models within one standard error of it
   (the rule of Breiman et al. 1984 for choosing the simpler of several trees), one that relies on other
   signals where one is missing (`backoff`, `ltr`) comes before the others.
5. If another of them is at most `EQUAL` below and answers `FASTER` times as fast, it is recommended instead,
   unless the first takes less than a millisecond anyway.

So the recommended model is never significantly worse than the best single model that can be used.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from coclick.evaluation.measures import MAIN_MEASURE
from coclick.recommendation.budget import format_duration
from coclick.recommendation.candidates import ROBUST, is_single
from coclick.recommendation.entries import (
    SIGNIFICANCE_LEVEL,
    Entry,
    as_good_as_best,
    p_value,
    p_values_against_best,
)

ONE_STANDARD_ERROR = 0.3173  # two-sided p-value of a difference of one standard error
EQUAL = 0.002  # nDCG that a fast answer is worth
FASTER = 5.0
_SLOW = 1.0  # milliseconds from which speed matters
_FAST, _QUICK = 0.5, 2.0  # milliseconds of a search, seconds of training, below which all are equally cheap
_STEP = 0.005  # nDCG that a more expensive model must gain to be listed
_BASE = 0.75  # of the recommended quality: what the cheapest listed model must have
_MAX_STEPS = 4


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

    `splits` are the names of all splits.
    """
    usable = [one for one in entries if target is None or target in one.properties.targets]
    if not usable:
        return None
    best = usable[0]
    others = [split for split in splits if split not in best.weights]
    # In thin logs the documents split has unseen queries too, without favouring clicked documents.
    chosen = _choose(contenders(usable, others if len(best.weights) == 1 else ()))
    p = p_values_against_best(usable)[usable.index(chosen)]
    reasons = [_why(chosen, best, p, others)]
    if entries[0] is not best:
        lost = entries[0].quality - chosen.quality
        reasons.append(f"{entries[0].name} ranks {lost:.3f} better, but cannot be used with {target}")
    base, steps = price_steps(usable, chosen)
    return Recommendation(chosen.name, "; ".join(reasons), target, base, steps)


def contenders(entries: Sequence[Entry], others: Sequence[str] = ()) -> list[Entry]:
    """Return the models among which cost and robustness decide, best first: steps 2 to 4 above."""
    single = next((one for one in entries if is_single(one.name)), entries[0])
    good = [one for one in as_good_as_best(entries) if not _worse(one, single)]
    for split in others:
        judged = [one._replace(weights={split: 1.0}) for one in good if split in one.results]
        if judged:
            leader = max(judged, key=lambda one: one.quality)
            worse = {one.name for one in judged if _worse(one, leader)}
            good = [one for one in good if one.name not in worse]
    return [one for one in good if not _worse(one, good[0], ONE_STANDARD_ERROR)]


def price_steps(entries: Sequence[Entry], chosen: Entry) -> tuple[str, tuple[Step, ...]]:
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
            after.seconds - before.seconds,
            after.properties.milliseconds - before.properties.milliseconds,
        )
        for before, after in zip(ladder, climbed, strict=True)
    ]
    return (ladder[0].name if ladder else chosen.name), tuple(steps)


def _cost(entry: Entry) -> tuple[float, float]:
    """Milliseconds of a search, then seconds of training; small differences do not count."""
    return max(entry.properties.milliseconds, _FAST), max(entry.seconds, _QUICK)


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


def _worse(one: Entry, other: Entry, level: float = SIGNIFICANCE_LEVEL) -> bool:
    """Whether a model is worse than another one by a paired test."""
    return one.quality < other.quality and p_value(one, other) < level


def _why(chosen: Entry, best: Entry, p: float, others: Sequence[str]) -> str:
    figure = f"{MAIN_MEASURE} {chosen.quality:.3f}"
    if len(chosen.weights) > 1:
        parts = [f"{chosen.mean(name):.3f} by {name} ({share:.0%})" for name, share in chosen.weights.items()]
        figure += f": {', '.join(parts)}"
    if chosen is best:
        reason = f"it ranks best ({figure})"
    else:
        gap = f"{best.name} {best.quality:.3f}, corrected p = {p:.2g}"
        reason = f"it is not significantly worse than the best ({figure}; {gap})"
        if chosen.name.startswith(ROBUST):
            reason += ", and it falls back on other signals where one is missing"
        else:
            times = best.properties.milliseconds / max(chosen.properties.milliseconds, 1e-6)
            reason += f", and it answers {times:.0f} times as fast" if times >= FASTER else ""
    better = [name for name in others if name in chosen.results and name in best.results]
    if better and chosen is not best and all(chosen.mean(name) > best.mean(name) for name in better):
        reason += f", and it is better by {' and '.join(better)}"
    for split in others:
        if split in chosen.results:
            reason += f"; {chosen.mean(split):.3f} by {split}"
        else:
            reason += f"; not judged by {split}: there was no time"
    return reason
