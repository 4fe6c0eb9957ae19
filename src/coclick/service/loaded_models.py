"""The models that are served. One that changes on disk is opened beside the old one, and takes its place.

Requests hold the model with which they began, so none is dropped or mixed; the old model goes when the last
of them is done. A model that cannot be opened changes nothing: the old one stays, and the problem is told.
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
from coclick.models.persistence import open_model
from coclick.storage.manifest import MANIFEST

_TRIES = 5  # to open a model that is replaced at the same moment


@dataclass(frozen=True)
class Served:
    """A model under its name."""

    name: str
    path: Path
    model: Model
    version: tuple[int, ...]  # of its manifest on disk
    loaded: float  # seconds since 1970
    problem: str | None = None  # why a newer one on disk could not be taken
    seconds: dict[str, float] = field(default_factory=dict)  # what questions usually cost


class Catalogue:
    """Models by name, the default first."""

    def __init__(self, models: Iterable[tuple[str, str]]) -> None:
        self._served: dict[str, Served] = {}
        for name, path in models:
            if name in self._served:
                raise UserError(f"two models are called {name!r}", hint=f"name them: first={path} second=…")
            self._served[name] = _load(name, Path(path))
        if not self._served:
            raise UserError("there is no model to serve")
        self._refreshing = threading.Lock()

    def names(self) -> list[str]:
        """All names, the default first."""
        return list(self._served)

    def all(self) -> list[Served]:
        """All models, the default first."""
        return list(self._served.values())

    def get(self, name: str | None = None) -> Served:
        """The model of that name, or the default."""
        if name is None:
            return next(iter(self._served.values()))
        if name not in self._served:
            raise NotFoundError(f"no model is called {name!r}", hint=f"there are {', '.join(self._served)}")
        return self._served[name]

    def refresh(self) -> list[Served]:
        """Take what has changed on disk; returns what was taken, and what could not be, with its problem."""
        with self._refreshing:
            return [changed for served in self.all() if (changed := self._look_at(served))]

    def _look_at(self, served: Served) -> Served | None:
        if _version(served.path) == served.version:
            return None
        try:
            found = _load(served.name, served.path)
        except (CoclickError, OSError) as error:
            if str(error) == served.problem:
                return None
            found = replace(served, problem=str(error))
        self._served[served.name] = found
        return found


def named_paths(paths: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """`NAME=DIR`, or a directory that is served under its own name."""
    found = []
    for given in paths:
        name, equals, path = given.partition("=")
        if not equals or Path(given).exists():
            name, path = Path(given).resolve().name, given
        if not name or "/" in name:
            raise UserError(f"cannot read the model {given!r}", hint="write MODEL or NAME=MODEL")
        found.append((name, str(Path(path).resolve())))
    return tuple(found)


def _load(name: str, path: Path) -> Served:
    """Open a model and ask it once: what is compiled or mapped on first use is so before it is served."""
    for tries in range(1, _TRIES + 1):
        version = _version(path)
        try:
            model = _mapped(path)
        except (CoclickError, OSError):
            if tries < _TRIES and _version(path) != version:
                continue  # it was replaced while it was opened
            raise
        search(model, [model.graph_.queries[0]])
        return Served(name, path, model, version, time.time())
    raise UserError("the model is replaced faster than it can be opened", where=str(path))


def _mapped(path: Path) -> Model:
    """A model with all its files mapped, so that they stay when another model replaces them."""
    model = open_model(path)
    assert model.artefact_ is not None
    for name, entry in model.artefact_.files.items():
        if "dtype" in entry:
            model.artefact_.array(name)
    return model


def _version(path: Path) -> tuple[int, ...]:
    try:
        found = (path / MANIFEST).stat()
    except OSError:
        return ()
    return found.st_mtime_ns, found.st_ino, found.st_size
