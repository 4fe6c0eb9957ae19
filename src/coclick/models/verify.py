"""Verify an artefact: the digest of every file and the content of every value, for `coclick verify`."""

from __future__ import annotations

from pathlib import Path

from coclick.errors import ArtefactError, CoclickError
from coclick.graph.click_graph import ClickGraph
from coclick.models.persistence import check_content, open_model
from coclick.storage.artefact import Artefact
from coclick.storage.manifest import MANIFEST
from coclick.suggestions import suggestions


def verify(path: str | Path) -> list[tuple[str, str]]:
    """Return (file, defect) for everything that is wrong; raise if `path` is not an artefact."""
    try:
        source = Artefact(path, check_sizes=False)
    except ArtefactError as error:
        return [(MANIFEST, error.what)]
    return list(source.damage()) or _content_problems(source)


def _content_problems(source: Artefact) -> list[tuple[str, str]]:
    """What the gate finds: an artefact may have been written, or forged, with the right digests."""
    problems: list[tuple[str, str]] = []

    def report(error: CoclickError) -> None:
        problems.append((Path(error.where or MANIFEST).name, error.what))

    try:
        if source.kind == "graph":
            ClickGraph.read(source)._check_content(report)
        elif source.kind == suggestions.KIND:
            suggestions.Suggestions.read(source)._check_content(report)
        else:
            check_content(open_model(source.path), report)
    except CoclickError as error:
        report(error)
    return problems
