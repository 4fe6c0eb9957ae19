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
from coclick.spark.vectors import rows_of, with_plan
from coclick.spark.words import count_words, in_parts, rows_of_words
from coclick.text import Analyzer
from coclick.views import choose_fields, unit_rows


def learn(model: VPCG, graph: SparkGraph, out: Output, parts: int, heavy: int) -> Learned:
    """Propagate; write terms and vectors."""
    if not isinstance(model.iterations, int):
        raise UserError(
            f"iterations={model.iterations} runs on one machine only", hint="give a number: iterations=1"
        )
    work, spark = out.work, graph.spark
    queries, docs = Nodes(graph.size("queries"), parts), Nodes(graph.size("docs"), parts)
    from_queries = model.start == "query"
    texts, others = (queries, docs) if from_queries else (docs, queries)
    analyzer = Analyzer(model.language, model.stem, model.stop_words)
    placed = in_parts(start_texts(model, graph), texts)
    words = count_words(placed, analyzer, work)

    edges = weighted(model, graph)
    to_others = cut(edges(others_first=True), others, texts, work, "to-others", heavy)
    to_texts = cut(edges(others_first=False), texts, others, work, "to-texts", heavy)
    start = rows_of_words(placed, words, analyzer, texts, unit_rows)
    read = with_plan(start, to_others, work, "start")
    to_others_step = Step.of(spark, to_others, to_texts, words.size)
    to_texts_step = Step.of(spark, to_texts, to_others, words.size)
    kernel = TopK(model.k)
    for number in range(1, model.iterations + 1):
        before = read
        other_state = to_others_step.run(before, kernel, work, f"others-{number}")
        read = to_texts_step.run(other_state, kernel, work, f"texts-{number}")
    to_others_step.done()
    to_texts_step.done()

    idf = F.log1p(F.lit(float(texts.count)) / F.greatest("texts", F.lit(1))).cast("float").alias("idf")
    out.table("terms", words.terms.select("id", "text", "surface", "hash", idf))
    sides = (read, other_state) if from_queries else (other_state, read)
    out.table("query_vectors", rows_of(sides[0], queries))
    out.table("doc_vectors", rows_of(sides[1], docs))
    out.table("read_vectors", rows_of(before, texts))
    width = words.size
    state: dict[str, Any] = {
        "terms_": {"type": "vocab", "table": "terms", "column": "text"},
        "surfaces_": {"type": "strings", "table": "terms", "column": "surface"},
        "idf_": {"type": "array", "table": "terms", "column": "idf", "dtype": "<f4"},
        "term_hash_": {"type": "array", "table": "terms", "column": "hash", "dtype": "<u4"},
        "read_": csr_entry("read_vectors", texts.count, width),
        "units_": {"type": "json", "value": None},
        "query_index_": _index("query_vectors", queries.count, width),
        "doc_index_": _index("doc_vectors", docs.count, width),
    }
    return Learned(state, {"terms": width})


def start_texts(model: VPCG, graph: SparkGraph) -> DataFrame:
    """The texts that propagation starts from: (id, text)."""
    if model.start == "query":
        return graph.table("queries").select("id", "text")
    fields = choose_fields(dict.fromkeys(graph.texts), model.fields)
    return graph.table("docs").select(
        "id", F.concat_ws(" ", *(F.col(f"text_{name}") for name in fields)).alias("text")
    )


def weighted(model: VPCG, graph: SparkGraph) -> Any:
    """The edges between texts and others, in either direction, with the weights that the model wants."""
    texts, others = ("q", "d") if model.start == "query" else ("d", "q")
    clicks = F.col("clicks") if model.weight == "clicks" else F.log1p("clicks").cast("float")

    def edges(others_first: bool) -> DataFrame:
        target, source = (others, texts) if others_first else (texts, others)
        return graph.table("edges").select(
            F.col(target).alias("target"), F.col(source).alias("source"), clicks.alias("weight")
        )

    return edges


def _index(table: str, rows: int, width: int) -> dict[str, Any]:
    return {"type": "VectorIndex", "built_from": csr_entry(table, rows, width), "with": {"max_norm": 1.0}}
