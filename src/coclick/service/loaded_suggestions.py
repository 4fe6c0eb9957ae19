"""The suggestions that are served: one directory, opened again when it changes on disk.

As with models, a request keeps what it started with, and if the new directory cannot be opened, the old
suggestions stay and the problem is reported.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path

from coclick.errors import CoclickError, NotFoundError
from coclick.service.loaded_models import version_of
from coclick.suggestions.suggestions import Suggestions


@dataclass(frozen=True)
class LoadedSuggestions:
    """Opened suggestions; the executor calls them like a model."""

    name: str
    path: Path
    model: Suggestions
    version: tuple[int, ...]  # of the manifest on disk
    problem: str | None = None  # why a newer version on disk could not be loaded
    seconds: dict[str, float] = field(default_factory=dict)  # average CPU time by function


class ServedSuggestions:
    """The suggestions of a directory, or none."""

    def __init__(self, path: str | None) -> None:
        self._loaded = None if path is None else _load(Path(path))

    def get(self) -> LoadedSuggestions:
        """Return the suggestions; raise if none are served."""
        if self._loaded is None:
            raise NotFoundError("no suggestions are served", hint="coclick serve MODEL --suggestions DIR")
        return self._loaded

    def refresh(self) -> list[LoadedSuggestions]:
        """Reload suggestions that have changed on disk; return them if new, or with a new problem."""
        old = self._loaded
        if old is None or version_of(old.path) == old.version:
            return []
        try:
            changed = _load(old.path)
        except (CoclickError, OSError) as error:
            if str(error) == old.problem:
                return []
            changed = replace(old, problem=str(error))
        self._loaded = changed
        return [changed]


def _load(path: Path) -> LoadedSuggestions:
    """Open suggestions with all files mapped, and use them once, so that their code is compiled."""
    version = version_of(path)
    opened = Suggestions.open(path)
    best = opened.complete("", 1)
    for one in best:
        opened.complete(one.query + "xx", 1)
        opened.propose(one.query + "xx")
    return LoadedSuggestions(path.name, path, opened, version)
