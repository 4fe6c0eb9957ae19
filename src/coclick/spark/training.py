"""Train models on Spark and write them as artefacts."""

from __future__ import annotations

import importlib
import time
from typing import Any

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from coclick.errors import UserError
from coclick.models.base import Model
from coclick.models.registry import create
from coclick.models.spec import check, parameters_of
from coclick.models.text_model import TextModel
from coclick.spark.graph import SparkGraph
from coclick.spark.session import default_max_degree, default_n_parts
from coclick.spark.storage import TableWriter, open_output
from coclick.text.term_matrix import short_field

_RENAMED = {"parts": "n_parts", "heavy": "max_degree"}
_PARAMETERS = "n_parts, max_degree, force"
# Model → the module whose `fit` trains it. `docs/spark.md` shows how `pls` and `bltm` could be added.
MODELS = {"vpcg": "coclick.spark.vpcg", "rw": "coclick.spark.rw", "rmls": "coclick.spark.rmls"}


def train(
    spark: SparkSession,
    spec: str | Model,
    graph: str | SparkGraph,
    out: str,
    *,
    n_parts: int | None = None,
    max_degree: int | None = None,
    force: bool = False,
    **renamed: Any,
) -> str:
    """Train a model on a graph built on Spark, write it to the directory `out` and return its path.

    `n_parts` is the number of parts that queries and documents are divided into. The edges of a query or
    document with more than `max_degree` edges are divided too; the default is a quarter of a part's share of
    the edges.
    """
    for name in renamed:
        raise UserError(
            f"train has no parameter {name!r}", hint=f"parameters: {_RENAMED.get(name, _PARAMETERS)}"
        )
    started = time.monotonic()
    model = create(spec) if isinstance(spec, str) else spec
    check(model)
    if model.name not in MODELS:
        raise UserError(
            f"{model.name} does not run on Spark",
            hint=f"these do: {', '.join(MODELS)}; --engine local runs all models",
        )
    source = SparkGraph.open(spark, graph) if isinstance(graph, str) else graph
    language: dict[str, Any] = {}
    if isinstance(model, TextModel):
        model.resolve_language(source.stats)
        language = {"language_": {"type": "json", "value": model.language_}}
    fit = importlib.import_module(MODELS[model.name]).fit
    with open_output(source.spark, out, "model", force) as target:
        edges = source.size("edges")
        n_parts = n_parts or default_n_parts(spark, edges)
        trained = fit(model, source, target, n_parts, max_degree or default_max_degree(edges, n_parts))
        texts = _copy_graph_tables(source, target)
        stats = {"engine": "spark", **trained.stats, "seconds": round(time.monotonic() - started, 2)}
        target.commit(
            "model",
            spec=str(model),
            graph=source.digest,
            model=model.name,
            parameters={field.name: getattr(model, field.name) for field in parameters_of(type(model))},
            stats=stats,
            build=source.stats,
            state=trained.state | language,
            texts=texts,
            sizes=source.manifest["sizes"],
        )
        return target.directory.path


def _copy_graph_tables(graph: SparkGraph, out: TableWriter) -> list[str]:
    """Copy the graph tables that make a model self-contained; return their text fields."""
    short = short_field(graph.texts)
    fields = [name for name in graph.texts if name == short]
    out.write_table("queries", graph.table("queries"))
    out.write_table(
        "docs", graph.table("docs").select("id", "name", *(F.col(f"text_{name}") for name in fields))
    )
    out.write_table("edges", graph.table("edges"))
    return fields
