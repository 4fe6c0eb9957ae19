"""Files for engines that a program asks: the recipe with its tables, and the programs themselves."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coclick.exporters.base import Exporter
from coclick.exporters.shipping.form import KnownQueries, ShippedModel
from coclick.storage.directories import write_file, write_json

_PACKAGE, _PROGRAMS = "coclick.exporters.shipping", "coclick.exporters.programs"


def write_client(
    exporter: Exporter, shipped: ShippedModel, folder: Path, program: str, settings: dict[str, Any]
) -> Path:
    """Write the recipe, its tables and the program `ask.py` to a new folder `search`; return the folder."""
    search = folder / "search"
    search.mkdir()
    write_json(search / "recipe.json", shipped.settings())
    write_json(search / "ask.json", settings)
    _write_lines(search / "tokens.ndjson", shipped.vocabulary.tokens.items())
    _write_lines(search / "units.ndjson", _units(exporter, shipped))
    _write_lines(search / "clicked.ndjson", shipped.clicked_docs())
    for name, copy in (("answer", "answer"), (program, "ask")):
        text = files(_PACKAGE).joinpath(f"{name}.py").read_text(encoding="utf-8")
        for module, local in ((f"{_PACKAGE}.answer", "answer"), (_PROGRAMS, "programs")):
            text = text.replace(f"from {module}", f"from {local}")
        write_file(search / f"{copy}.py", text)
    return search


def query_payloads(
    exporter: Exporter, shipped: ShippedModel, block: KnownQueries
) -> Iterator[dict[str, Any]]:
    """Yield what an engine stores with each query: its ranking, and its clicked documents with weights."""
    docs = shipped.graph.docs
    for i, text in enumerate(block.texts):
        ranked, scores = _accepted(exporter, docs, block.docs[i], block.scores[i])
        clicked, weights = _accepted(exporter, docs, *block.clicks.row(i))
        yield {"query": text, "docs": ranked, "scores": scores, "clicked": clicked, "weights": weights}


def _accepted(
    exporter: Exporter, docs: Any, rows: NDArray[np.int32], values: NDArray[np.float32]
) -> tuple[list[str], list[float]]:
    """The documents that the engine has, with their values."""
    names = docs.take(rows[rows >= 0]).to_list()
    good = exporter.filter.accepts_ids(names).tolist()
    pairs = zip(names, values[rows >= 0].tolist(), good, strict=True)
    kept = [(name, float(f"{value:.9g}")) for name, value, accepted in pairs if accepted]
    return [name for name, _ in kept], [value for _, value in kept]


def _units(exporter: Exporter, shipped: ShippedModel) -> Iterator[tuple[str, float | None, str | None]]:
    """Units with their idf, and their name in documents if they are words there."""
    known = shipped.vocabulary
    for unit, idf in known.idf.items():
        row = known.doc_terms.get(unit)
        yield unit, float(f"{idf:.9g}"), None if row is None else exporter.tokens[row]
    for term, row in known.doc_terms.items():
        if term not in known.columns:
            yield term, None, exporter.tokens[row]


def _write_lines(path: Path, rows: Iterable[Any]) -> None:
    write_file(path, (json.dumps(row, ensure_ascii=False) + "\n" for row in rows))
