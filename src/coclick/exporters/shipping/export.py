"""Write a shipped model to the folder of an export, beside the documents."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

from coclick.errors import UserError
from coclick.exporters.base import Exporter
from coclick.exporters.model_vectors import SHIPPED, choose_form
from coclick.exporters.sample_queries import most_clicked_queries
from coclick.exporters.shipping.answer import normalise
from coclick.exporters.shipping.form import ShippedModel
from coclick.exporters.shipping.measure import measure_loss
from coclick.exporters.shipping.readme import readme
from coclick.exporters.shipping.simulation import InMemory
from coclick.models.base import Model
from coclick.progress import Progress, quiet
from coclick.storage.directories import write_file, write_json

_N_SAMPLES = 10


def ship(model: Model, engine: str, progress: Progress = quiet) -> ShippedModel | None:
    """Return the shipped form of a model if the engine takes that; None if it takes the model's vectors."""
    exporter: type[Exporter] = importlib.import_module(f"coclick.exporters.{engine}").EXPORTER
    form = choose_form(model, exporter.accepts)
    if form == SHIPPED:
        return ShippedModel.from_model(model, progress)
    if form is None:
        raise UserError(
            f"{model.name} cannot be exported to {exporter.title}: its trees read features of other models",
            hint="--to ltr-opensearch, ltr-es-plugin, ltr-elasticsearch or ltr-solr exports trees over "
            "features that the engine has; --to rerank shows how to ask `coclick serve` for the order",
        )
    return None


def write_shipped(
    exporter: Exporter,
    shipped: ShippedModel,
    folder: Path,
    queries: int | None,
    measure: bool,
    progress: Progress = quiet,
) -> dict[str, Any]:
    """Write the folder `search` and the README; return what to add to the statistics."""
    engine = importlib.import_module(f"coclick.exporters.shipping.{exporter.name}")
    with progress("rankings"):
        engine.write_search(exporter, shipped, folder, queries)
        samples = _samples(shipped, queries)
        write_json(folder / "search" / "expected.json", samples)
        if hasattr(engine, "write_check"):  # in the language of the engine, instead of a program that asks
            engine.write_check(exporter, folder / "search", samples)
    stats: dict[str, Any] = {
        "form": SHIPPED,
        "signals": f"{shipped.neighbours} + {shipped.words}",
        "queries": len(shipped.known_rows(queries)),
        "tokens": len(shipped.vocabulary.tokens),
    }
    if measure:
        stats["loss"] = measure_loss(shipped.model, progress)
    (folder / "README.md").rename(folder / "vectors.md")
    write_file(folder / "README.md", readme(exporter, engine.commands(exporter), stats, samples))
    return stats


def _samples(shipped: ShippedModel, queries: int | None) -> list[dict[str, Any]]:
    """The most clicked queries, and as many that the log does not have, with the results to expect."""
    engine = InMemory(shipped, queries)
    known = most_clicked_queries(shipped.doc_vectors, _N_SAMPLES)
    words = [
        " ".join(pair.split()[-1:] + query.split()[:1]) for query, pair in zip(known, known[1:], strict=False)
    ]
    others = [text for text in dict.fromkeys(words) if not engine.ranking(normalise(text))]
    return [
        {
            "query": text,
            "known": bool(engine.ranking(normalise(text))),
            "results": [{"doc": doc, "score": score} for doc, score in engine.rank(text)],
        }
        for text in [*known, *others]
    ]
