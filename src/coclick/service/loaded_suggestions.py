"""The suggestions that are served: one directory, opened again when it changes on disk.

As with models, a request keeps what it started with, and if the new directory cannot be opened, the old
suggestions stay and the problem is reported.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from coclick.errors import NotFoundError
from coclick.service.reloading import Retries, reload_changed, version_of
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
        self._retries = Retries()

    def get(self) -> LoadedSuggestions:
        """Return the suggestions; raise if none are served."""
        if self._loaded is None:
            raise NotFoundError("no suggestions are served", hint="coclick serve MODEL --suggestions DIR")
        return self._loaded

    def problems(self) -> list[tuple[str, str]]:
        """Return (name, problem) if a newer version on disk could not be loaded."""
        loaded = self._loaded
        return [(loaded.name, loaded.problem)] if loaded and loaded.problem else []

    def refresh(self) -> list[LoadedSuggestions]:
        """Reload suggestions that have changed on disk; return them if new, or with a new problem."""
        old = self._loaded
        if old is None:
            return []
        changed = reload_changed(old, self._retries, lambda: _load(old.path))
        if changed is None:
            return []
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
