"""The models that are served. A model that changes on disk is opened and then replaces the old one.

A request keeps the model it started with, so none is dropped or mixed; the old model is freed when its last
request is done. If the new model cannot be opened, the old one stays and the problem is reported.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path

from coclick.answers import search
from coclick.errors import CoclickError, NotFoundError, UserError
from coclick.models.base import Model
from coclick.models.persistence import check_content, open_model
from coclick.storage.manifest import MANIFEST

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
        with self._refreshing:
            return [changed for loaded in self.all() if (changed := self._reload(loaded))]

    def _reload(self, loaded: LoadedModel) -> LoadedModel | None:
        if version_of(loaded.path) == loaded.version:
            return None
        try:
            changed = _load(loaded.name, loaded.path)
        except (CoclickError, OSError) as error:
            if str(error) == loaded.problem:
                return None
            changed = replace(loaded, problem=str(error))
        self._models[loaded.name] = changed
        return changed


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
    """Open a model with all files mapped, so that they stay readable when it is replaced on disk, and checked."""
    model = open_model(path)
    assert model.artefact_ is not None
    for name, entry in model.artefact_.files.items():
        if "dtype" in entry:
            model.artefact_.array(name)
    check_content(model)  # not in the first request
    return model


def version_of(path: Path) -> tuple[int, ...]:
    """Return what tells a manifest on disk from another one; empty if there is none."""
    try:
        manifest = (path / MANIFEST).stat()
    except OSError:
        return ()
    return manifest.st_mtime_ns, manifest.st_ino, manifest.st_size
