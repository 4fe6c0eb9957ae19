"""Save models to disk and open them: one self-contained directory per model.

The learned state of a model (its attributes that end in `_`) is stored under `model.<attribute>`. The parts
of a combination are in the same directory under `model.parts.0` …: they share the graph, which is stored
once, and one manifest commits everything.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, get_type_hints

from coclick.errors import ArtefactError, UserError, check_path
from coclick.graph.click_graph import ClickGraph
from coclick.models import spec as specs
from coclick.models.base import NOT_STATE, Model
from coclick.models.registry import model_class
from coclick.storage.artefact import Artefact, ArtefactWriter, writing
from coclick.storage.gate import Gate
from coclick.storage.manifest import MANIFEST, with_article
from coclick.storage.reading import read_current
from coclick.storage.state import read_value, write_value
from coclick.text.term_matrix import short_field

_GRAPH_SIZES = ("queries", "docs")
_DECLARED: dict[Any, dict[str, Any]] = {}  # by class: reading annotations takes longer than opening


def save(model: Model, path: str | Path, *, force: bool = False, replaces: Model | None = None) -> None:
    """Write a trained model; files that the graph already has on disk are linked."""
    path = check_path(path, "path")
    graph = model.trained_on
    short = short_field(graph.texts)  # explanations need it
    texts = {name: texts for name, texts in graph.texts.items() if name == short}
    carried = ClickGraph(graph.queries, graph.docs, graph.clicks, texts, artefact=graph.artefact)
    carried.__dict__["clicks_by_doc"] = graph.clicks_by_doc  # linked if it is in a file
    origins = [origin for origin in (graph.artefact, model.artefact_) if origin]
    with writing(path, force=force or replaces is not None, origins=origins) as out:
        if replaces is not None:
            _check_unchanged(replaces, path)
        carried.write(out)
        learned = _write(out, "model", model)
        built = dict(graph.stats)  # so that `info` on a model also describes its log
        out.commit("model", spec=str(model), graph=model.graph_digest, build=built, **learned)


def open_model(path: str | Path, graph: ClickGraph | None = None) -> Model:
    """Open a saved model; with `graph`, raise unless it was trained on that graph."""
    path = check_path(path, "path")
    model = read_current(path, lambda: _open(path))
    if graph is not None:
        model.check_graph(graph)
    return model


def _open(path: Path) -> Model:
    source = Artefact(path)
    if source.kind != "model":
        raise UserError(
            f"this is {with_article(source.kind)}, not a model",
            where=str(path),
            hint="train one: coclick train vpcg GRAPH -o MODEL",
        )
    return _read(Gate(source), "model", source.manifest, ClickGraph.read(source))


def check_content(model: Model, report: Callable[[ArtefactError], None] | None = None) -> None:
    """Read and check everything that a model has on disk now, not when it is first used.

    Raises the first defect, or reports each to `report`. A service calls this before it serves a model.
    """

    def fail(error: ArtefactError) -> None:
        raise error

    for owner in (model.graph_, model):
        owner._check_content(report or fail)
    for part in getattr(model, "parts_", []):
        check_content(part, report)


def _check_unchanged(opened: Model, path: str | Path) -> None:
    """Raise if the model at `path` is no longer the one that was opened: its changes would be lost."""
    if opened.artefact_ is None or Artefact(path).digest != opened.artefact_.digest:
        raise UserError(
            "the model was replaced meanwhile", where=str(path), hint="open it again and repeat the change"
        )


def _write(out: ArtefactWriter, prefix: str, model: Model) -> dict[str, Any]:
    """Store a model's state and return its entry in the manifest."""
    state = {}
    for key in model._state_names():
        value = getattr(model, key)
        name = f"{prefix}.{key.rstrip('_')}"
        if key == "parts_":
            parts = [_write(out, f"{name}.{i}", part) for i, part in enumerate(value)]
            state[key] = {"type": "models", "models": parts}
        else:
            state[key] = write_value(out, name, value)
    parameters = {field.name: getattr(model, field.name) for field in specs.parameters_of(type(model))}
    return {"model": model.name, "parameters": parameters, "stats": model.stats_, "state": state}


def _read(gate: Gate, prefix: str, entry: Any, graph: ClickGraph) -> Model:
    source = gate.source
    try:
        cls = model_class(str(entry["model"]))
        model = with_saved_parameters(cls, entry["parameters"])
        specs.check(model)
        state, stats = entry["state"].items(), entry["stats"]
        scope, declared = graph._scope.inside(_GRAPH_SIZES, _GRAPH_SIZES), declared_state(cls)
        scope.share(model._dimensions)
        for key, value in state:
            if not key.endswith("_") or key in NOT_STATE:
                raise ArtefactError(f"{key!r} cannot be a model's state", where=str(source.path / MANIFEST))
            name = f"{prefix}.{key.rstrip('_')}"
            if key == "parts_":
                parts = [_read(gate, f"{name}.{i}", part, graph) for i, part in enumerate(value["models"])]
                setattr(model, key, parts)
            else:
                read = read_value(source, name, value)
                model._admit(gate, key, declared.get(key, Any), read, name, scope)
    except (
        LookupError,
        TypeError,
        AttributeError,
        ValueError,
        ArithmeticError,
        RecursionError,
        UserError,
    ) as error:
        what = f"the manifest does not describe a model: {error}"
        raise ArtefactError(what, where=str(source.path / MANIFEST)) from None
    lacking = [name for name in _state_of(cls) if name not in model._state_names() and not hasattr(cls, name)]
    defect = f"it has no {lacking[0]}" if lacking else None
    model.graph_ = graph
    if defect or not isinstance(stats, dict) or (defect := model._find_defect()):
        what = f"the manifest does not describe a model: {defect or 'it has no stats'}"
        raise ArtefactError(what, where=str(source.path / MANIFEST))
    model.stats_, model.artefact_ = stats, source
    model._update_capabilities()
    return model


def with_saved_parameters(cls: type[Model], saved: dict[str, Any]) -> Model:
    """Create a model with the parameters of a manifest, which may be older than some parameters."""
    known = {field.name for field in specs.parameters_of(cls)}
    legacy = {name: value for name, value in cls.legacy_parameters.items() if name in known}
    return cls(**legacy | saved)


def _state_of(cls: type[Model]) -> list[str]:
    """The names of the state that a model class declares."""
    declared = (name for base in cls.__mro__ for name in inspect.get_annotations(base))
    return [name for name in declared if name.endswith("_") and name not in NOT_STATE]


def declared_state(cls: Any) -> dict[str, Any]:
    """Return the declared types of a model's state; without those that cannot be read."""
    if cls in _DECLARED:
        return _DECLARED[cls]
    declared: dict[str, Any] = {}
    for base in reversed(cls.__mro__):
        annotations = vars(base).get("_state_annotations", {})
        names = vars(sys.modules[base.__module__])
        for name, annotation in annotations.items():
            one = SimpleNamespace(__annotations__={name: annotation})
            try:
                declared |= get_type_hints(one, names, include_extras=True)
            except (NameError, TypeError, AttributeError):  # of a model in another package
                declared.pop(name, None)
    return _DECLARED.setdefault(cls, declared)
