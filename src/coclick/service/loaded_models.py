"""The models that are served. A model that changes on disk is opened and then replaces the old one.

A request keeps the model it started with, so none is dropped or mixed; the old model is freed when its last
request is done. If the new model cannot be opened, for whatever reason, the old one stays, the problem is
reported, and opening is tried again when the model changes, and after growing pauses.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from coclick.answers import search
from coclick.errors import CoclickError, NotFoundError, UserError
from coclick.models.base import Model
from coclick.models.persistence import check_content, open_model
from coclick.service.reloading import Retries, reload_changed, version_of

_MAX_ATTEMPTS = 5  # to open a model that is being replaced


@dataclass(frozen=True)
class LoadedModel:
    """A model with its name and directory."""

    name: str
    path: Path
    model: Model
    version: tuple[int, ...]  # of its manifest on disk
    loaded_at: float  # seconds since 1970
    problem: str | None = None  # why a newer version on disk could not be loaded
    seconds: dict[str, float] = field(default_factory=dict)  # average CPU time by function


class LoadedModels:
    """Models by name, the default first."""

    def __init__(self, models: Iterable[tuple[str, str]]) -> None:
        self._models: dict[str, LoadedModel] = {}
        for name, path in models:
            if name in self._models:
                raise UserError(f"two models are called {name!r}", hint=f"name them: first={path} second=…")
            self._models[name] = _load(name, Path(path))
        if not self._models:
            raise UserError("no model to serve")
        self._retries = {name: Retries() for name in self._models}
        self._refreshing = threading.Lock()

    def names(self) -> list[str]:
        """Return all names, the default first."""
        return list(self._models)

    def all(self) -> list[LoadedModel]:
        """Return all models, the default first."""
        return list(self._models.values())

    def get(self, name: str | None = None) -> LoadedModel:
        """Return the model of that name, or the default."""
        if name is None:
            return next(iter(self._models.values()))
        if name not in self._models:
            raise NotFoundError(
                f"no model is called {name!r}", hint=f"served models: {', '.join(self._models)}"
            )
        return self._models[name]

    def refresh(self) -> list[LoadedModel]:
        """Reload models that have changed on disk; return those reloaded or with a new problem."""
        changed = []
        with self._refreshing:
            for loaded in self.all():
                load = partial(_load, loaded.name, loaded.path)
                if new := reload_changed(loaded, self._retries[loaded.name], load):
                    self._models[loaded.name] = new
                    changed.append(new)
        return changed

    def problems(self) -> list[tuple[str, str]]:
        """Return (name, problem) of each model whose newer version on disk could not be loaded."""
        return [(loaded.name, loaded.problem) for loaded in self.all() if loaded.problem]


def named_paths(paths: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """Read `NAME=DIR` or a directory, which is served under its own name."""
    models = []
    for given in paths:
        name, equals, path = given.partition("=")
        if not equals or Path(given).exists():
            name, path = Path(given).resolve().name, given
        if not name or "/" in name:
            raise UserError(f"cannot read the model {given!r}", hint="write MODEL or NAME=MODEL")
        models.append((name, str(Path(path).resolve())))
    return tuple(models)


def _load(name: str, path: Path) -> LoadedModel:
    """Open a model and search once, so that first-use compilation and mapping happen before it is served."""
    for attempt in range(1, _MAX_ATTEMPTS + 1):
        version = version_of(path)
        try:
            model = _open_mapped(path)
        except (CoclickError, OSError):
            if attempt < _MAX_ATTEMPTS and version_of(path) != version:
                continue  # replaced while it was opened
            raise
        search(model, [model.graph_.queries[0]])
        return LoadedModel(name, path, model, version, time.time())
    raise UserError("the model is replaced faster than it can be opened", where=str(path))


def _open_mapped(path: Path) -> Model:
    """Open a model with all files checked, and mapped: they stay readable when it is replaced on disk."""
    model = open_model(path)
    assert model.artefact_ is not None
    for name, entry in model.artefact_.files.items():
        if "dtype" in entry:
            model.artefact_.array(name)
    check_content(model)  # not in the first request
    return model
