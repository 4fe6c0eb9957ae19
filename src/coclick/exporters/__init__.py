"""Exports of trained models to search engines.

`export(model, "pgvector", "folder")` writes a folder with schema, documents, query vectors, a sample query
with its expected results, and a README with the commands that load it. Each engine is a module of this
package. `coclick.exporters.ltr_json` exports the trees of `ltr` to the engines' learning-to-rank plugins.
"""

from __future__ import annotations

import importlib
import re
from pathlib import Path
from typing import Any

from coclick.errors import UserError, check_path, check_whole
from coclick.exporters.base import Exporter
from coclick.exporters.model_vectors import ModelVectors
from coclick.exporters.output_folder import check_folder, content_version, create_folder, write_manifest
from coclick.exporters.readme import readme
from coclick.exporters.sample_queries import measure_score_error, most_clicked_queries, pick_sample_query
from coclick.models.base import Model
from coclick.models.persistence import open_model
from coclick.progress import Progress, quiet
from coclick.storage.directories import write_file, write_json

ENGINES = ("elasticsearch", "opensearch", "parquet", "pgvector", "qdrant", "solr", "tantivy", "vespa")
_NAME = re.compile(r"[a-z][a-z0-9_]{0,47}")


def export(
    model: Model | str | Path,
    engine: str,
    path: str | Path,
    *,
    name: str = "coclick",
    queries: int = 10_000,
    max_weights: int | None = None,
    force: bool = False,
    progress: Progress = quiet,
) -> dict[str, Any]:
    """Export the vectors of a trained model to a search engine.

    Parameters:
        model: a trained model whose scores are dot products of vectors, or its directory.
        engine: one of `ENGINES`.
        path: the folder to write. It appears only when it is complete.
        name: the name of the index, collection or table.
        queries: how many queries of the log to export with their vectors, most clicked first.
        max_weights: keep only this many words of a document, those with the largest weights.
        force: replace the folder if it is an earlier export.
        progress: called for each step of the work.

    Returns the statistics that `manifest.json` also holds: the number of documents, queries and weights, what
    was left out and why, and the error of the engine's scores.
    """
    if isinstance(model, str | Path):
        model = open_model(model)
    if not isinstance(model, Model):
        raise UserError(f"model must be a trained model or its directory, not {model!r:.50}")
    if engine not in ENGINES:
        raise UserError(f"unknown engine {engine!r}", hint=f"engines: {', '.join(ENGINES)}")
    if not _NAME.fullmatch(name):
        raise UserError(
            f"{name!r} cannot be the name of an index",
            hint="use at most 48 of a–z, 0–9 and _, with a letter first: every engine accepts those",
        )
    path = check_path(path, "path")
    check_folder(path, force=force)
    check_whole(queries, "queries", 0)
    source = ModelVectors.from_model(model)
    module = importlib.import_module(f"coclick.exporters.{engine}")
    exporter: Exporter = module.EXPORTER(source, name, max_weights)
    with create_folder(path, force=force) as folder:
        with progress("queries"):
            sample = pick_sample_query(exporter)
            blocks = exporter.query_blocks(most_clicked_queries(source, queries))
            exported = [text for texts, _ in blocks for text in texts]  # those that have a vector
            exporter.write_queries(folder, exported)
            error = measure_score_error(exporter)
        with progress("documents", len(source.graph.docs)) as done:
            exporter.write_documents(folder, exporter.filter.doc_blocks(done))
        exporter.version = content_version(folder)
        exporter.write_schema(folder)
        exporter.write_sample(folder, sample)
        write_json(folder / "expected.json", sample.to_dict())
        stats = _stats(exporter) | {"queries": len(exported), "score_error": error}
        write_file(folder / "README.md", readme(exporter, sample, stats))
        write_manifest(folder, stats)
    return stats


def _stats(exporter: Exporter) -> dict[str, Any]:
    source, kept = exporter.source, exporter.filter
    size = {"dimensions": source.dim} if source.dense else {"words": len(source.tokens)}
    names = {"engine": exporter.name, "index": exporter.index, "model": str(source.model)}
    return names | {
        "graph": source.model.graph_digest,
        "version": exporter.version,
        "documents": kept.n_docs,
        **size,
        "weights": kept.n_weights,
        "left_out": {reason: count for reason, count in kept.left_out.items() if count},
        "score_unit": exporter.score_unit,
    }
