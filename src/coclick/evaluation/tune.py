"""Parameters and mixing weights chosen by judgments, and checked by judgments that had no say in it.

Half of the judged queries choose, the other half say what the choice is worth: the best of many trials looks
good on what it was chosen by, whatever it is. The search is a plain one: begin with the parameters as given,
change one or two of the best ones so far, keep what is better.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args, get_origin

from coclick.errors import UserError
from coclick.evaluation.judgments import Judgments
from coclick.evaluation.leaderboard import Trainer
from coclick.evaluation.measures import MAIN
from coclick.evaluation.protocol import Protocol, Trial, try_model
from coclick.evaluation.significance import t_test
from coclick.graph.click_graph import ClickGraph
from coclick.models.base import Model, create
from coclick.models.combination._base import Combination
from coclick.models.spec import choices, format_sum, parameter_types, parameters_of, ranges
from coclick.progress import Progress, quiet

_NOT_TUNED = ("seed", "language", "fields", "of", "index")
_FACTORS = (0.25, 0.5, 0.8, 1.25, 2.0, 4.0)
_PATIENCE = 50  # changes that lead to nothing new, after which there is nothing new


@dataclass(frozen=True)
class Tuned:
    """The best specification, what every trial was worth, and what the best is worth elsewhere."""

    given: str
    best: str
    trials: list[tuple[str, float]]
    chosen_by: int  # queries
    checked_by: int
    default: float  # the main measure on the queries that had no say: as given, and tuned
    tuned: float
    p_t: float

    def to_dict(self) -> dict[str, Any]:
        """Plain values, as `coclick tune --json` writes them."""
        trials = [{"model": spec, MAIN: value} for spec, value in self.trials]
        check = {"queries": self.checked_by, "given": self.default, "best": self.tuned, "p_t": self.p_t}
        return {
            "given": self.given,
            "best": self.best,
            "measure": MAIN,
            "queries": self.chosen_by,
            "trials": trials,
            "check": check,
        }


def tune(
    spec: str,
    graph: ClickGraph,
    judgments: Judgments,
    trials: int = 30,
    *,
    protocol: Protocol | None = None,
    seed: int = 0,
    progress: Progress = quiet,
) -> Tuned:
    """Try variants of a model; combinations are tuned in their weights, other models in their parameters."""
    protocol = protocol or Protocol()
    protocol.check(graph, judgments)
    chance = random.Random(seed)
    ids = sorted(judgments.queries)
    if len(ids) < 4:
        raise UserError(f"{len(ids)} judged queries are too few to tune by and to check")
    chance.shuffle(ids)
    choosing, checking = (judgments.only(set(half)) for half in (ids[::2], ids[1::2]))
    trainer = Trainer(graph)
    given = create(spec)
    given.check_requirements(graph)

    def worth(model: Model, by: Judgments) -> Trial:
        return try_model(trainer.get(str(model))[0], by, protocol)

    values: dict[str, float] = {}
    best = given
    with progress(f"tuning {given.name}", trials) as done:
        while len(values) < trials:
            model = given if not values else _variant(best, values, chance)
            if model is None:
                break
            values[str(model)] = float(worth(model, choosing).values().mean())
            if values[str(model)] > values[str(best)]:
                best = model
            if not isinstance(model, Combination) and model is not best:
                trainer.forget(str(model))
            done(1)
    before, after = worth(given, checking).values(), worth(best, checking).values()
    return Tuned(
        str(given),
        str(best),
        sorted(values.items(), key=lambda item: -item[1]),
        len(choosing.queries),
        len(checking.queries),
        float(before.mean()),
        float(after.mean()),
        t_test(after - before),
    )


def _variant(model: Model, tried: dict[str, float], chance: random.Random) -> Model | None:
    """A changed model that was not tried yet, None if none is found."""
    for _ in range(_PATIENCE):
        changed = model
        for _ in range(chance.choice((1, 1, 2))):
            change = _reweighted if isinstance(changed, Combination) else _changed
            changed = change(changed, chance)
        if str(changed) not in tried:
            return changed
    return None


def _reweighted(model: Model, chance: random.Random) -> Model:
    assert isinstance(model, Combination)
    weights = list(model.weights)
    i = chance.randrange(len(weights))
    weights[i] *= chance.choice(_FACTORS)
    total = sum(weights)
    shares = [max(round(weight / total, 3), 0.001) for weight in weights]
    return replace(model, parts=format_sum(list(zip(shares, model.part_specs, strict=True))))


def _changed(model: Model, chance: random.Random) -> Model:
    kind: Any = type(model)
    names = [field.name for field in parameters_of(kind) if field.name not in _NOT_TUNED]
    if not names:
        raise UserError(f"{model.name} has no parameters to tune")
    name = chance.choice(names)
    value = _another(getattr(model, name), parameter_types(kind)[name], chance)
    allowed = ranges(kind).get(name)
    if allowed is not None and not isinstance(value, str) and value not in allowed:
        return model
    return replace(model, **{name: value})  # type: ignore[type-var]


def _another(value: Any, hint: Any, chance: random.Random) -> Any:
    """Another value of a parameter's type, near the one it has."""
    words = [word for choice in choices(hint) if get_origin(choice) is Literal for word in get_args(choice)]
    numbers = [choice for choice in choices(hint) if choice in (int, float)]
    if bool in choices(hint):
        return not value
    if words and (not numbers or chance.random() < 0.5):
        return chance.choice([word for word in words if word != value] or words)
    if isinstance(value, str):
        return chance.choice((1, 2, 3))
    scaled = value * chance.choice(_FACTORS) if value else chance.choice((0.1, 0.3, 1.0))
    return max(round(scaled), 1) if int in numbers else float(f"{scaled:.3g}")
