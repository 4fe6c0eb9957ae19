"""`tune`: choose the parameters of a model, or the weights of a combination, by judgments.

One half of the judged queries selects the best variant; the other half tests it, because the best of many
trials looks too good on the queries that selected it. With cross-validation each half tests what the other
selected, so that all queries test. The search is a hill climb: start with the given parameters, change one or
two parameters of the best variant so far, keep what is better.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args, get_origin

import numpy as np

from coclick.errors import UserError, check_whole, counted
from coclick.evaluation.cross_validation import halve
from coclick.evaluation.inputs import Graph, Qrels, Queries, list_models, load_data
from coclick.evaluation.judgments import Judgments
from coclick.evaluation.leaderboard import Trainer
from coclick.evaluation.measures import MAIN_MEASURE
from coclick.evaluation.protocol import Protocol, evaluate_model
from coclick.evaluation.significance import Values, t_test
from coclick.models.base import Model
from coclick.models.combination._base import Combination
from coclick.models.registry import create
from coclick.models.spec import choices, format_sum, parameter_types, parameters_of, ranges
from coclick.progress import Progress, quiet

_NOT_TUNED = ("seed", "index")  # and no parameter that is a text
_FACTORS = (0.25, 0.5, 0.8, 1.25, 2.0, 4.0)
MAX_TRIALS = 10_000
_MAX_ATTEMPTS = 50  # to find a variant that was not tried yet


@dataclass(frozen=True)
class TuningResult:
    """The best variant, all trials, and the test on queries that did not select it."""

    given: str
    best: str  # with cross-validation, the better one of those that were chosen
    trials: list[tuple[str, float]]  # specification and main measure on the selection queries, best first
    n_selection_queries: int
    n_test_queries: int
    given_value: float  # main measure of the given model on the test queries
    best_value: float  # main measure of the chosen variants on the test queries
    p_t: float  # paired t-test of the two
    chosen: tuple[str, ...]  # the best variant of each half that selected: one, or two with cross-validation

    def __repr__(self) -> str:
        values = f"{MAIN_MEASURE} {self.given_value:.3f} → {self.best_value:.3f}, p {self.p_t:.2g}"
        return f"TuningResult({counted(len(self.trials), 'trial')}, best: {self.best}, {values})"

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, as `coclick tune --json` writes them."""
        trials = [{"model": spec, MAIN_MEASURE: value} for spec, value in self.trials]
        check = {
            "queries": self.n_test_queries,
            "given": self.given_value,
            "best": self.best_value,
            "p_t": self.p_t,
        }
        return {
            "given": self.given,
            "best": self.best,
            "chosen": list(self.chosen),
            "measure": MAIN_MEASURE,
            "queries": self.n_selection_queries,
            "trials": trials,
            "check": check,
        }


def tune(
    graph: Graph,
    model: str | Model,
    *,
    qrels: Qrels | None = None,
    queries: Queries | None = None,
    holdout: str | None = None,
    trials: int = 30,
    cross_validate: bool = False,
    gain: Literal["linear", "exponential"] = "linear",
    seed: int = 0,
    progress: Progress = quiet,
) -> TuningResult:
    """Search better parameters of a model, or better weights of a combination.

    Parameters:
        graph: the click graph to train on, or its directory.
        model: the specification to start from.
        qrels, queries, holdout, gain, progress: as in `evaluate`.
        trials: how many variants to try on each half that selects.
        cross_validate: also select on the other half and test on the first, so that all queries test.
        seed: random seed of the variants and of the split of the queries.

    Returns a `TuningResult`: `best` is the best specification, `trials` all that were tried, `given_value`
    and `best_value` the main measure before and after on queries that did not select, `p_t` its p-value.
    """
    [spec] = list_models([model])
    given = create(str(spec))
    check_whole(trials, "trials", 1, MAX_TRIALS)
    check_whole(seed, "seed", 0)
    graph, judgments, source = load_data(graph, qrels, queries, holdout)
    protocol = Protocol(gain=gain, source=source)
    protocol.check(graph, judgments)
    halves = [judgments.only(set(half)) for half in halve(judgments.queries, seed)]
    given.check_requirements(graph)
    climb = _HillClimb(given, Trainer(graph), protocol, trials, random.Random(seed))
    found, tests = [], []
    with progress(f"tuning {given.name}", trials * (1 + cross_validate)) as done:
        for selection, test in [halves, halves[::-1]][: 1 + cross_validate]:
            best, values = climb.run(selection, done)
            found.append((best, values))
            tests.append((climb.measure(given, test), climb.measure(best, test)))
    before, after = (np.concatenate(values) for values in zip(*tests, strict=True))
    chosen = [best for best, _ in found]
    final = (
        max(chosen, key=lambda best: climb.measure(best, judgments).mean()) if cross_validate else chosen[0]
    )
    return TuningResult(
        str(given),
        str(final),
        sorted((trial for _, values in found for trial in values.items()), key=lambda item: -item[1]),
        len(halves[0].queries),
        len(before),
        float(before.mean()),
        float(after.mean()),
        t_test(after - before),
        tuple(map(str, chosen)),
    )


@dataclass
class _HillClimb:
    """Changes one or two parameters of the best variant so far, and keeps what is better."""

    given: Model
    trainer: Trainer
    protocol: Protocol
    trials: int
    rng: random.Random

    def run(self, selection: Judgments, done: Callable[[int], None]) -> tuple[Model, dict[str, float]]:
        """Return the best variant on these queries, and the main measure of every variant that was tried."""
        values: dict[str, float] = {}
        best = self.given
        while len(values) < self.trials:
            variant = self.given if not values else _variant(best, values, self.rng)
            if variant is None:
                break
            values[str(variant)] = float(self.measure(variant, selection).mean())
            if values[str(variant)] > values[str(best)]:
                best = variant
            if not isinstance(variant, Combination) and variant is not best:
                self.trainer.forget(str(variant))
            done(1)
        return best, values

    def measure(self, variant: Model, by: Judgments) -> Values:
        """Return the main measure of each query."""
        return evaluate_model(self.trainer.get(str(variant))[0], by, self.protocol).values()


def _variant(model: Model, tried: dict[str, float], rng: random.Random) -> Model | None:
    """A variant that was not tried yet, or None."""
    for _ in range(_MAX_ATTEMPTS):
        changed = model
        for _ in range(rng.choice((1, 1, 2))):
            change = _change_weight if isinstance(changed, Combination) else _change_parameter
            changed = change(changed, rng)
        if str(changed) not in tried:
            return changed
    return None


def _change_weight(model: Model, rng: random.Random) -> Model:
    assert isinstance(model, Combination)
    weights = list(model.weights)
    i = rng.randrange(len(weights))
    weights[i] *= rng.choice(_FACTORS)
    total = sum(weights)
    shares = [max(round(weight / total, 3), 0.001) for weight in weights]
    return replace(model, parts=format_sum(list(zip(shares, model.part_specs, strict=True))))


def _change_parameter(model: Model, rng: random.Random) -> Model:
    kind: Any = type(model)
    hints = parameter_types(kind)
    names = [
        field.name
        for field in parameters_of(kind)
        if field.name not in _NOT_TUNED and str not in choices(hints[field.name])
    ]
    if not names:
        raise UserError(f"{model.name} has no parameters to tune")
    name = rng.choice(names)
    value = _new_value(getattr(model, name), hints[name], rng)
    allowed = ranges(kind).get(name)
    if allowed is not None and not isinstance(value, str) and value not in allowed:
        return model
    return replace(model, **{name: value})  # type: ignore[type-var]


def _new_value(value: Any, hint: Any, rng: random.Random) -> Any:
    """Another value of a parameter's type, near the current one."""
    words = [word for choice in choices(hint) if get_origin(choice) is Literal for word in get_args(choice)]
    numbers = [choice for choice in choices(hint) if choice in (int, float)]
    if bool in choices(hint):
        return not value
    if words and (not numbers or rng.random() < 0.5):
        return rng.choice([word for word in words if word != value] or words)
    if isinstance(value, str):
        return rng.choice((1, 2, 3))
    scaled = value * rng.choice(_FACTORS) if value else rng.choice((0.1, 0.3, 1.0))
    return max(round(scaled), 1) if int in numbers else float(f"{scaled:.3g}")
