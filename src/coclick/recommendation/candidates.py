"""Which models `compare` tries: those that the graph, the task and the machine support."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from coclick.errors import CoclickError
from coclick.evaluation.tasks import SEARCH, Task
from coclick.graph.click_graph import ClickGraph
from coclick.models.base import Model
from coclick.models.capabilities import CAPABILITIES
from coclick.models.combination._base import Combination
from coclick.models.registry import create, model_names

VARIANTS = ("vpcg(start=doc)", "pls(views=words)")
COMBINATIONS = (
    "0.8*rw + 0.2*bm25",
    "backoff(neighbours + vpcg + bm25)",
    "backoff(vpcg(start=doc) + vsm)",
    "backoff(pls(views=words) + vsm)",
)
ROBUST = ("backoff", "ltr")  # they rely on other signals where one is missing
_NEED_PARTS = ("mix", "backoff")  # models that need parts
_MAX_PARTS = 3  # of a combination of the best models


class Candidates(NamedTuple):
    """Specifications of the models to evaluate, and the others with the reason."""

    specs: list[str]
    left_out: dict[str, str]


def select_models(
    graph: ClickGraph, task: Task = SEARCH, only: Sequence[str] = (), skip: Sequence[str] = ()
) -> Candidates:
    """Return the models to evaluate on this graph.

    `only` and `skip` are names (`vpcg`: all its variants) or specifications. A specification in `only` need
    not be among the defaults. `skip` also concerns combinations of what is skipped.
    """
    defaults = _defaults(task)
    wanted = _named(defaults, only) if only else defaults
    check_names(skip)
    chosen, left_out = [], {}
    for spec in wanted:
        try:
            model = create(spec)
            model.check_requirements(graph)
        except CoclickError as error:
            if spec in only:
                raise
            left_out[spec] = error.reason
            continue
        if _matches(model, skip):
            continue
        if task.capability is not None and task.capability not in model.capabilities:
            left_out[spec] = f"it cannot {CAPABILITIES[task.capability]}"
        elif len(graph.docs) > model.max_docs and not only:
            limit = f"too slow for more than {model.max_docs:,} documents"
            left_out[spec] = f"{limit}; include it with --models {quoted(spec)}"
        else:
            chosen.append(str(model))
    return Candidates(list(dict.fromkeys(chosen)), left_out)


def check_names(names: Sequence[str]) -> None:
    """Raise if one of the names or specifications is no model."""
    for name in names:
        if name not in _NEED_PARTS:
            create(name)


def combine_best(ordered: Sequence[str], skip: Collection[str] = ()) -> list[str]:
    """Return models that back off between the best single models of different families, given best first."""
    best: dict[str, str] = {}
    for name in ordered:
        if is_single(name):
            best.setdefault(family_of(name), name)
    parts = list(best.values())[:_MAX_PARTS]
    if "backoff" in skip:
        return []
    return [str(create(f"backoff({' + '.join(parts[:size])})")) for size in range(2, len(parts) + 1)]


def is_single(name: str) -> bool:
    """Return whether a result is of a single model: no combination, no `ltr`, no run of another system."""
    return name.split("(")[0] in model_names() and not name.startswith(ROBUST)


def family_of(spec: str) -> str:
    """Return the family of a model, the folder that its class is in; empty for a saved model."""
    try:
        return type(create(spec)).__module__.rpartition(".")[0]
    except CoclickError:
        return ""


def _defaults(task: Task) -> list[str]:
    known = [name for name in model_names() if name not in _NEED_PARTS]
    return [*known, *VARIANTS, *task.variants, *COMBINATIONS]


def _named(specs: Sequence[str], only: Sequence[str]) -> list[str]:
    """The default models of these names, and the given specifications, in the given order."""
    found = []
    for name in only:
        matching = [spec for spec in specs if create(spec).name == name]
        found += matching or [name]
    check_names([name for name in found if name not in specs])
    return found


def _matches(model: Model, names: Sequence[str]) -> bool:
    """Whether the model, or a part of a combination, has one of these names or specifications."""
    if not names:
        return False
    specs = {name if name in _NEED_PARTS else str(create(name)) for name in names}
    parts = model.part_specs if isinstance(model, Combination) else []
    return any(one.name in names or str(one) in specs for one in (model, *map(create, parts)))


def quoted(spec: str) -> str:
    """Return a specification as an argument of the command line."""
    return spec if spec.replace("_", "").isalnum() else f'"{spec}"'
