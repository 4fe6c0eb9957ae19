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

from coclick.arrays.strings import Strings
from coclick.errors import UserError, check_number, check_path, check_whole
from coclick.exporters.base import Exporter
from coclick.exporters.changes import BaseExport, ContentTracker, content_version, write_contents
from coclick.exporters.existing_index import ExistingIndex
from coclick.exporters.model_vectors import ModelVectors
from coclick.exporters.output_folder import check_folder, create_folder, write_manifest
from coclick.exporters.readme import readme
from coclick.exporters.sample_queries import measure_score_error, most_clicked_queries
from coclick.exporters.shipping.export import ship, write_shipped
from coclick.exporters.tolerance import Tolerance
from coclick.models.base import Model
from coclick.models.persistence import open_model
from coclick.progress import Progress, quiet
from coclick.storage.directories import write_file, write_json
from coclick.text.analyzer import remembered_tokens

ENGINES = ("elasticsearch", "opensearch", "parquet", "pgvector", "qdrant", "solr", "tantivy", "vespa")
LTR_ENGINES = ("ltr-elasticsearch", "ltr-es-plugin", "ltr-opensearch", "ltr-solr")
_QUERIES = 10_000  # exported with their vectors
_NAME = re.compile(r"[a-z][a-z0-9_]{0,47}")


def export(
    model: Model | str | Path,
    engine: str,
    path: str | Path,
    *,
    name: str = "coclick",
    queries: int | None = None,
    max_weights: int | None = None,
    into: str | None = None,
    id_field: str | None = None,
    hybrid: str | None = None,
    changes_from: str | Path | None = None,
    changes_above: float | None = None,
    previous_model: Model | str | Path | None = None,
    measure: bool = True,
    force: bool = False,
    progress: Progress = quiet,
) -> dict[str, Any]:
    """Export a trained model to a search engine.

    A model whose scores are dot products is exported as vectors, any other as rankings of the log's queries
    and signals for other queries (`coclick.exporters.shipping.form`).

    Parameters:
        model: a trained model, or its directory.
        engine: one of `ENGINES`; one of `LTR_ENGINES` for the trees of `ltr`; `rerank` for a program that
            lets `coclick serve` rank what an engine has found.
        path: the folder to write. It appears only when it is complete.
        name: the name of the index, collection or table.
        queries: how many queries of the log to export, most clicked first; by default 10,000 with vectors,
            and all with rankings.
        max_weights: keep only this many words of a document, those with the largest weights.
        into: add the vectors to this index or table, which exists, instead of making one; `name` then names
            the added fields. For all engines but tantivy and parquet.
        id_field: the field or column of `into` that has the document ids. pgvector needs
            it; the others take the engine's own id.
        hybrid: text fields of `into` with weights, such as `title^3,body`, for a query that adds BM25.
        changes_from: the folder of the export that is loaded; write only what changed since: documents and
            queries that are new, changed or deleted.
        changes_above: leave out documents of which only the vector changed, and moved by at most this share
            of its length since the one that is loaded. The results of sample queries are always written.
        previous_model: with `changes_above`, the model that `changes_from` was exported from.
        measure: whether to measure what is lost where rankings and signals are exported: it trains the model
            again, without held-out clicks.
        force: replace the folder if it is an earlier export.
        progress: called for each step of the work.

    Returns the statistics that `manifest.json` also holds: the number of documents, queries and weights, what
    was left out and why, and the error of the engine's scores.
    """
    if isinstance(model, str | Path):
        model = open_model(model)
    if not isinstance(model, Model):
        raise UserError(f"model must be a trained model or its directory, not {model!r:.50}")
    if engine not in (*ENGINES, *LTR_ENGINES, "rerank"):
        known = ", ".join([*ENGINES, *LTR_ENGINES, "rerank"])
        raise UserError(f"unknown engine {engine!r}", hint=f"engines: {known}")
    if not _NAME.fullmatch(name):
        raise UserError(
            f"{name!r} cannot be the name of an index",
            hint="use at most 48 of a–z, 0–9 and _, with a letter first: every engine accepts those",
        )
    path = check_path(path, "path")
    check_folder(path, force=force)
    if engine not in ENGINES:
        return _export_ranker(model, engine, path, name, into, measure, force, progress)
    if queries is not None:
        check_whole(queries, "queries", 0)
    existing = _existing_index(engine, into, id_field, hybrid)
    shipped = ship(model, engine, progress)
    source = ModelVectors.from_model(model) if shipped is None else shipped.doc_vectors
    exporter = _create_exporter(engine, source, name, max_weights, existing)
    exporter.model_name = str(model)
    base = None if changes_from is None else _open_base(exporter, check_path(changes_from, "changes_from"))
    columns = exporter.column_hashes()
    tolerance = _tolerance(exporter, base, changes_above, previous_model, max_weights, progress)
    docs = ContentTracker(columns, base.docs if base else None, tolerance)
    tracked = ContentTracker(columns, base.queries if base else None)
    with create_folder(path, force=force) as folder, remembered_tokens():
        with progress("queries"):
            sample = exporter.samples[0]  # the most clicked query with ten results
            limit = _QUERIES if queries is None else queries
            differing = _differing_queries(exporter, 0 if shipped else limit, tracked)
            exporter.write_queries(folder, differing)
            error = measure_score_error(exporter)
        with progress("documents", len(source.graph.docs)) as done:
            blocks = docs.differing(exporter.filter.doc_blocks(done), titles=exporter.stores_titles)
            exporter.write_documents(folder, blocks)
        held = docs.contents(), tracked.contents()
        exporter.version = content_version(*held, _identity(exporter))
        exporter.n_documents = len(held[0].digests)
        if base:
            exporter.write_deletions(folder, docs.deleted(), tracked.deleted())
        exporter.write_schema(folder)
        exporter.write_sample(folder, sample)
        write_json(folder / "expected.json", sample.to_dict())
        stats = _stats(exporter) | {"queries": len(held[1].digests), "score_error": error}
        stats |= {"changes": _changes(docs, tracked)} if base else {}
        if tolerance is not None:
            stats["not_written"] = {
                "documents": docs.unwritten,
                "limit": tolerance.limit,
                "largest_movement": docs.largest_movement,
            }
        write_file(folder / "README.md", readme(exporter, sample, stats))
        write_contents(folder, *held)
        if shipped:
            stats |= write_shipped(exporter, shipped, folder, queries, measure, progress)
        write_manifest(folder, stats)
    return stats


def _export_ranker(
    model: Model,
    engine: str,
    path: Path,
    name: str,
    into: str | None,
    measure: bool,
    force: bool,
    progress: Progress,
) -> dict[str, Any]:
    """Export what ranks the documents that an engine has found."""
    if engine == "rerank":
        from coclick.exporters.rerank_export import export_rerank

        return export_rerank(model, path, force=force)
    from coclick.exporters.ltr_export import export_ltr

    return export_ltr(
        model, engine, path, name=name, index=into, measure=measure, force=force, progress=progress
    )


def _open_base(exporter: Exporter, path: Path) -> BaseExport:
    base = BaseExport.open(path, _identity(exporter))
    exporter.base_version = base.version
    exporter.keep_score_unit(base.score_unit)
    return base


def _tolerance(
    exporter: Exporter,
    base: BaseExport | None,
    limit: float | None,
    previous: Model | str | Path | None,
    max_weights: int | None,
    progress: Progress,
) -> Tolerance | None:
    """Return what `changes_above` and `previous_model` ask for."""
    if limit is None and previous is None:
        return None
    if limit is None or previous is None or base is None:
        raise UserError(
            "--changes-above, --previous-model and --changes-from belong together: give all of them"
        )
    if not 0 < check_number(limit, "changes_above") < 1:
        raise UserError(f"changes_above must be between 0 and 1, not {limit!r}")
    if not isinstance(previous, Model):
        previous = open_model(check_path(previous, "previous_model"))
    shipped = ship(previous, exporter.name, progress)
    source = ModelVectors.from_model(previous) if shipped is None else shipped.doc_vectors
    if str(previous) != exporter.model_name or source.model.graph_digest != base.graph or not base.graph:
        raise UserError(
            f"--previous-model: {previous} was trained on another graph than the model of --changes-from, "
            "or on one that was never saved",
            hint="give the model that that export was written from, or leave out --changes-above",
        )
    before = _create_exporter(exporter.name, source, exporter.index, max_weights, exporter.existing)
    before.score_unit = base.score_unit
    return Tolerance(limit, exporter, before)


def _differing_queries(exporter: Exporter, limit: int, tracker: ContentTracker) -> list[str]:
    """Record the queries that have a vector; return those that are not as in the base."""
    found = []
    for texts, vectors in exporter.query_blocks(most_clicked_queries(exporter.source, limit)):
        rows = tracker.record(Strings.from_list(texts), None, vectors)
        found += [texts[row] for row in rows.tolist()]
    return found


def _changes(docs: ContentTracker, queries: ContentTracker) -> dict[str, dict[str, int]]:
    return {
        name: {"added": found.added, "changed": found.changed, "deleted": len(found.deleted())}
        for name, found in (("documents", docs), ("queries", queries))
    }


def _existing_index(
    engine: str, into: str | None, id_field: str | None, hybrid: str | None
) -> ExistingIndex | None:
    if into is not None:
        return ExistingIndex.parse(engine, into, id_field, hybrid)
    if id_field is not None or hybrid is not None:
        raise UserError("--id and --hybrid are for an index that exists", hint="name it with --into INDEX")
    return None


def _create_exporter(
    engine: str, source: ModelVectors, name: str, max_weights: int | None, existing: ExistingIndex | None
) -> Exporter:
    """Return the exporter of an engine; only its own modules are imported."""
    if existing is None:
        own: Exporter = importlib.import_module(f"coclick.exporters.{engine}").EXPORTER(
            source, name, max_weights
        )
        return own
    module = importlib.import_module(f"coclick.exporters.{engine}_into")
    added: Exporter = module.EXPORTER(source, name, max_weights, existing)
    return added


def _identity(exporter: Exporter) -> dict[str, Any]:
    """Return what the exports of one index have in common, and the unit of scores."""
    source, existing = exporter.source, exporter.existing
    names: dict[str, Any] = {"engine": exporter.name, "index": exporter.index, "model": exporter.model_name}
    names |= {"dimensions": source.dim} if source.dense else {}
    names |= {} if existing is None else {"into": existing.name, "id_field": existing.id_field}
    return names | {"score_unit": exporter.score_unit}


def _stats(exporter: Exporter) -> dict[str, Any]:
    source, kept = exporter.source, exporter.filter
    base = {} if exporter.base_version is None else {"base_version": exporter.base_version}
    return _identity(exporter) | {
        "graph": source.model.graph_digest,
        "version": exporter.version,
        **base,
        "documents": kept.n_docs,
        **({} if source.dense else {"words": len(source.tokens)}),
        "weights": kept.n_weights,
        "left_out": {reason: count for reason, count in kept.left_out.items() if count},
    }
