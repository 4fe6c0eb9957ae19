"""`train` on Spark: which models run there, and the directory that they leave."""

from __future__ import annotations

import importlib
import time

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from coclick.errors import UserError
from coclick.models.base import Model, create
from coclick.models.spec import check, parameters_of
from coclick.spark.engine import default_heavy, default_parts
from coclick.spark.graph import SparkGraph
from coclick.spark.storage import Output, output
from coclick.text.term_matrix import short_field

# Model → the module whose `learn` runs it. The operator of `pls` and the rounds of `bltm` are products with
# the same matrices, so they will be steps, too: `docs/how-to/spark.md` says how.
MODELS = {"vpcg": "coclick.spark.vpcg", "rw": "coclick.spark.rw", "rmls": "coclick.spark.rmls"}


def train(
    spark: SparkSession,
    spec: str | Model,
    graph: str | SparkGraph,
    out: str,
    *,
    parts: int | None = None,
    heavy: int | None = None,
    force: bool = False,
) -> str:
    """Train a model on a graph that was built on Spark and write it to the directory `out`; returns the path.

    `parts` is the number of blocks that queries and documents are cut into. A query or document with more
    than `heavy` edges is itself cut; by default, one with more than a quarter of a part's share of the edges.
    """
    started = time.monotonic()
    model = create(spec) if isinstance(spec, str) else spec
    check(model)
    if model.name not in MODELS:
        raise UserError(
            f"{model.name} does not run on Spark",
            hint=f"models that do: {', '.join(MODELS)}; --engine local runs all of them",
        )
    source = SparkGraph.open(spark, graph) if isinstance(graph, str) else graph
    learn = importlib.import_module(MODELS[model.name]).fit
    with output(source.spark, out, "model", force) as target:
        edges = source.size("edges")
        parts = parts or default_parts(spark, edges)
        learned = learn(model, source, target, parts, heavy or default_heavy(edges, parts))
        texts = _carry(source, target)
        figures = {"engine": "spark", **learned.figures, "seconds": round(time.monotonic() - started, 2)}
        target.commit(
            "model",
            spec=str(model),
            graph=source.digest,
            model=model.name,
            parameters={field.name: getattr(model, field.name) for field in parameters_of(type(model))},
            figures=figures,
            build=source.figures,
            state=learned.state,
            texts=texts,
            sizes=source.manifest["sizes"],
        )
        return target.place.path


def _carry(graph: SparkGraph, out: Output) -> list[str]:
    """What a model needs of its graph, so that its directory can be moved: returns the fields of texts."""
    short = short_field(graph.texts)
    fields = [name for name in graph.texts if name == short]
    out.table("queries", graph.table("queries"))
    out.table("docs", graph.table("docs").select("id", "name", *(F.col(f"text_{name}") for name in fields)))
    out.table("edges", graph.table("edges"))
    return fields
