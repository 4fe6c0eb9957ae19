"""`vpcg` on Spark: the rounds of `coclick.propagation`, each half-step a step between parts."""

from __future__ import annotations

from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from coclick.errors import UserError
from coclick.models.vpcg import VPCG
from coclick.spark.graph import SparkGraph
from coclick.spark.learned import Learned, csr_entry
from coclick.spark.links import cut
from coclick.spark.parts import Nodes
from coclick.spark.step import Step, TopK
from coclick.spark.storage import Output
from coclick.spark.units import Lesson, Units, write_units
from coclick.spark.vectors import rows_of, with_plan
from coclick.spark.words import Vocabulary, count_words, in_parts, rows_of_words
from coclick.text import Analyzer
from coclick.views import choose_fields, count_terms, unit_rows


def learn(model: VPCG, graph: SparkGraph, out: Output, parts: int, heavy: int) -> Learned:
    """Propagate, learn units, generate what is missing; write terms, vectors and units."""
    _check(model)
    work, spark = out.work, graph.spark
    queries, docs = Nodes(graph.size("queries"), parts), Nodes(graph.size("docs"), parts)
    from_queries = model.start == "query"
    texts, others = (queries, docs) if from_queries else (docs, queries)
    analyzer = Analyzer(model.language, model.stem, model.stop_words)
    placed = in_parts(start_texts(model, graph), texts)
    counted = count_words(placed, analyzer, work)
    words = Vocabulary.of(counted, work)
    width = words.size

    edges = weighted_edges(model, graph)
    to_others = cut(_directed(edges, "other", "text"), others, texts, work, "to-others", heavy)
    to_texts = cut(_directed(edges, "text", "other"), texts, others, work, "to-texts", heavy)
    start = rows_of_words(
        placed, words.known(counted), analyzer, texts, lambda tokens: unit_rows(count_terms(tokens, width))
    )
    read = with_plan(start, to_others, work, "start")
    steps = Step.of(spark, to_others, to_texts, width), Step.of(spark, to_texts, to_others, width)
    for number in range(1, int(model.iterations) + 1):
        before = read
        other_state = steps[0].run(before, TopK(model.k), work, f"others-{number}")
        read = steps[1].run(other_state, TopK(model.k), work, f"texts-{number}")
    for step in steps:
        step.done()

    lesson = Lesson(spark, model, analyzer, words, work, heavy)
    short = short_texts(graph)
    unit_texts = graph.table("queries") if from_queries else short
    learned = None
    if model.units == "words" and unit_texts is not None:
        learned = lesson.learn(unit_texts, edges, (texts, others), (read, other_state))
    sides = (read, other_state) if from_queries else (other_state, read)
    if learned is not None:
        clicked = graph.table("edges")
        sides = (
            _fill(lesson, learned, sides[0], queries, graph.table("queries"), clicked.select("q"), "queries"),
            _fill(lesson, learned, sides[1], docs, short, clicked.select("d"), "docs"),
        )

    idf = F.log1p(F.lit(float(texts.count)) / F.greatest("texts", F.lit(1))).cast("float").alias("idf")
    out.table("terms", words.terms.select("id", "text", "surface", idf))
    out.table("query_vectors", rows_of(sides[0], queries))
    out.table("doc_vectors", rows_of(sides[1], docs))
    out.table("read_vectors", rows_of(before, texts))
    state: dict[str, Any] = {
        "terms_": {"type": "vocab", "table": "terms", "column": "text"},
        "surfaces_": {"type": "strings", "table": "terms", "column": "surface"},
        "idf_": {"type": "array", "table": "terms", "column": "idf", "dtype": "<f4"},
        "read_": csr_entry("read_vectors", texts.count, width),
        "units_": write_units(learned, width, out),
        "query_index_": _index("query_vectors", queries.count, width),
        "doc_index_": _index("doc_vectors", docs.count, width),
    }
    return Learned(state, {"units": {"words": learned.figures}} if learned else {})


def _check(model: VPCG) -> None:
    """Raise for what runs on one machine only."""
    if not isinstance(model.iterations, int):
        raise UserError(
            f"iterations={model.iterations} runs on one machine only", hint="give a number: iterations=1"
        )
    if model.units not in ("words", "none") or model.own:
        raise UserError("on Spark, units are of words, and own=0", hint="units=words or units=none")


def _fill(
    lesson: Lesson,
    learned: Units,
    state: DataFrame,
    nodes: Nodes,
    texts: DataFrame | None,
    clicked: DataFrame,
    name: str,
) -> DataFrame:
    """The vectors of a side, with generated ones for what has no clicks."""
    if texts is None:
        return state
    missing = texts.join(clicked.toDF("id").distinct(), "id", "left_anti")
    if not missing.limit(1).count():
        return state
    return lesson.fill(state, nodes, missing, learned, name)


def start_texts(model: VPCG, graph: SparkGraph) -> DataFrame:
    """The texts that propagation starts from: (id, text)."""
    if model.start == "query":
        return graph.table("queries").select("id", "text")
    fields = choose_fields(dict.fromkeys(graph.texts), model.fields)
    return graph.table("docs").select(
        "id", F.concat_ws(" ", *(F.col(f"text_{name}") for name in fields)).alias("text")
    )


def short_texts(graph: SparkGraph) -> DataFrame | None:
    """What stands for a document in few words (id, text): its title, or its first field."""
    name = "title" if "title" in graph.texts else next(iter(graph.texts), None)
    return graph.table("docs").select("id", F.col(f"text_{name}").alias("text")) if name else None


def weighted_edges(model: VPCG, graph: SparkGraph) -> DataFrame:
    """The edges between texts and others, with the weights that the model wants."""
    text, other = ("q", "d") if model.start == "query" else ("d", "q")
    clicks = F.col("clicks") if model.weight == "clicks" else F.log1p("clicks").cast("float")
    return graph.table("edges").select(
        F.col(text).alias("text"), F.col(other).alias("other"), clicks.alias("weight")
    )


def _directed(edges: DataFrame, target: str, source: str) -> DataFrame:
    return edges.select(F.col(target).alias("target"), F.col(source).alias("source"), "weight")


def _index(table: str, rows: int, width: int) -> dict[str, Any]:
    return {"type": "VectorIndex", "built_from": csr_entry(table, rows, width), "with": {}}
