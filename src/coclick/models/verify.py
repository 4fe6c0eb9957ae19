"""Verify an artefact: the digest of every file and the bounds of every index, for `coclick verify`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from coclick.errors import ArtefactError, CoclickError
from coclick.graph.click_graph import ClickGraph
from coclick.models.integrity import out_of_bounds
from coclick.models.persistence import open_model
from coclick.storage.artefact import Artefact
from coclick.suggestions import suggestions


def verify(path: str | Path) -> list[tuple[str, str]]:
    """Return (file or part, defect) for everything that is wrong; raise if `path` is not an artefact."""
    try:
        source = Artefact(path, check_sizes=False)
    except ArtefactError as error:
        return [("manifest.json", error.what)]
    return list(source.damage()) or list(_problems(source, path))


def _problems(source: Artefact, path: str | Path) -> Iterator[tuple[str, str]]:
    try:
        if source.kind == "graph":
            yield from out_of_bounds("graph", ClickGraph.read(source))
        elif source.kind == suggestions.KIND:
            yield from suggestions.Suggestions.read(source).content_defects()
        else:
            for name, value in vars(open_model(path)).items():
                yield from out_of_bounds(name, value)
    except CoclickError as error:
        yield "manifest.json", error.what
