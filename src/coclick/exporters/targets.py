"""Where a trained model can be used: by coclick itself, or in a search engine that it can be exported to.

Each exporter declares the forms of models that its engine takes (`Exporter.accepts`).
"""

from __future__ import annotations

import importlib

from coclick.errors import CoclickError, UserError
from coclick.exporters import ENGINES
from coclick.exporters.base import Exporter
from coclick.exporters.model_vectors import DENSE, ModelVectors, choose_form
from coclick.models.base import Model
from coclick.models.registry import create

ANYWHERE = ("serve", "rerank")  # coclick runs the model: any will do
ALIASES = {"postgres": "pgvector"}
TARGETS = (*ANYWHERE, *ENGINES)


def find_target(name: str) -> str:
    """Return the name of a target as in `TARGETS`; raise if there is none."""
    target = ALIASES.get(name, name)
    if target not in TARGETS:
        raise UserError(f"unknown target {name!r}", hint=f"targets: {', '.join([*TARGETS, *ALIASES])}")
    return target


def targets_of(model: Model) -> list[str]:
    """Return where a model can be used, of `TARGETS`."""
    return [*ANYWHERE, *(engine for engine in ENGINES if _takes(exporter_class(engine), model))]


def may_suit(spec: str, target: str | None) -> bool:
    """Return whether a model that is not trained yet will probably be usable at a target."""
    if target is None or target in ANYWHERE:
        return True
    try:
        return choose_form(create(spec), exporter_class(target).accepts) is not None
    except CoclickError:  # the directory of a saved model
        return True


def _takes(exporter: type[Exporter], model: Model) -> bool:
    form, limit = choose_form(model, exporter.accepts), exporter.limits.max_dim
    if form is None:
        return False
    return form != DENSE or limit is None or ModelVectors.from_model(model).dim <= limit


def exporter_class(engine: str) -> type[Exporter]:
    """Return the exporter of an engine; only its own module is imported."""
    found: type[Exporter] = importlib.import_module(f"coclick.exporters.{engine}").EXPORTER
    return found
