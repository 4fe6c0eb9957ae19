"""`vpcg` on Spark: the rounds of `coclick.models.propagation.rounds`, each half-step a step between parts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from coclick.errors import UserError
from coclick.models.propagation.rounds import initial_vectors
from coclick.models.propagation.vpcg import VPCG
from coclick.spark.graph import SparkGraph
from coclick.spark.learned import Learned, csr_entry
from coclick.spark.links import cut
from coclick.spark.parts import Nodes
from coclick.spark.step import Step, TopK, with_plan
from coclick.spark.storage import Output
from coclick.spark.units import Units, UnitTrainingData, write_units
from coclick.spark.vectors import rows_of
from coclick.spark.words import (
    BLOCK,
    Rows,
    Vocabulary,
    count_words,
    in_parts,
    inverse_frequency,
    joined_fields,
    token_blocks,
)
from coclick.text.analyzer import Analyzer
from coclick.text.term_matrix import choose_fields, count_terms, short_field


def fit(model: VPCG, graph: SparkGraph, out: Output, parts: int, heavy: int) -> Learned:
    """Propagate, learn units, generate what is missing; write terms, vectors and units."""
    _check(model)
    work, spark = out.work, graph.spark
    queries, docs = Nodes(graph.size("queries"), parts), Nodes(graph.size("docs"), parts)
    from_queries = model.start == "query"
    texts, others = (queries, docs) if from_queries else (docs, queries)
    clicked = [graph.table("edges").select(F.col(side).alias("id")).distinct() for side in ("q", "d")]
    analyzer = Analyzer(model.language, model.stem, model.remove_stop_words)
    placed = in_parts(_told_clicked(start_texts(model, graph), clicked[0 if from_queries else 1]), texts)
    counted = count_words(placed, analyzer, work)
    words = Vocabulary.of(counted, work)
    width = words.size
    tokens = work.saved("tokens", token_blocks(placed, words.known(counted), analyzer, parts))

    edges = weighted_edges(model, graph)
    to_others = cut(_directed(edges, "other", "text"), others, texts, work, "to-others", heavy)
    to_texts = cut(_directed(edges, "text", "other"), texts, others, work, "to-texts", heavy)
    start = tokens.mapInArrow(Rows(texts, lambda some: initial_vectors(count_terms(some, width))), BLOCK)
    read = work.saved("start", with_plan(start, to_others))
    rounds = int(model.iterations)
    with (
        Step.of(spark, to_others, to_texts, width).repeated(rounds) as there,
        Step.of(spark, to_texts, to_others, width).repeated(rounds) as back,
    ):
        for number in range(1, rounds + 1):
            before = read
            other_state = there.run(before, TopK(model.max_terms), work, f"others-{number}")
            read = back.run(other_state, TopK(model.max_terms), work, f"texts-{number}")

    lesson = UnitTrainingData(spark, model, analyzer, words, work, heavy)
    short = short_texts(graph)
    learned = None
    if model.units == "words" and (from_queries or short is not None):
        if not from_queries and short is not None:
            tokens = lesson.tokens(_told_clicked(short, clicked[1]), docs, "unit")
        learned = lesson.fit(tokens, edges, (texts, others), (read, other_state))
    sides = [read, other_state] if from_queries else [other_state, read]
    if learned is not None:
        those = tokens if from_queries else None, None if from_queries else tokens
        for side, (nodes, named) in enumerate(((queries, graph.table("queries")), (docs, short))):
            if named is not None:
                missing = _Missing(named, nodes, clicked[side], those[side])
                sides[side] = missing.filled(sides[side], lesson, learned, ("queries", "docs")[side])

    idf = inverse_frequency(texts.count, "texts").alias("idf")
    out.table("terms", words.terms.select("id", "text", "surface", idf))
    out.table("query_vectors", rows_of(sides[0], queries))
    out.table("doc_vectors", rows_of(sides[1], docs))
    out.table("read_vectors", rows_of(before, texts))
    state: dict[str, Any] = {
        "terms_": {"type": "vocab", "table": "terms", "column": "text"},
        "display_terms_": {"type": "strings", "table": "terms", "column": "surface"},
        "idf_": {"type": "array", "table": "terms", "column": "idf", "dtype": "<f4"},
        "previous_vectors_": csr_entry("read_vectors", texts.count, width),
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
    if model.units not in ("words", "none") or model.own_weight:
        raise UserError("on Spark, units are of words, and own=0", hint="units=words or units=none")


@dataclass(frozen=True)
class _Missing:
    """The texts of a side that have no clicks."""

    texts: DataFrame  # id, text: those with clicks, too
    nodes: Nodes
    clicked: DataFrame  # id
    tokens: DataFrame | None  # of all texts, if they are there

    def filled(self, state: DataFrame, lesson: UnitTrainingData, learned: Units, name: str) -> DataFrame:
        """The vectors of the side, with generated ones for these texts."""
        if self.clicked.count() == self.nodes.count:
            return state
        tokens = self.tokens
        if tokens is None:
            missing = self.texts.join(self.clicked, "id", "left_anti")
            tokens = lesson.tokens(missing.withColumn("clicked", F.lit(False)), self.nodes, name)
        return lesson.fill(state, self.nodes, tokens, learned, name)


def _told_clicked(texts: DataFrame, clicked: DataFrame) -> DataFrame:
    """Texts (id, text, clicked): whether each has clicks."""
    told = texts.join(clicked.withColumn("clicked", F.lit(True)), "id", "left")
    return told.withColumn("clicked", F.coalesce("clicked", F.lit(False)))


def start_texts(model: VPCG, graph: SparkGraph) -> DataFrame:
    """The texts that propagation starts from: (id, text)."""
    if model.start == "query":
        return graph.table("queries").select("id", "text")
    fields = choose_fields(dict.fromkeys(graph.texts), model.fields)
    return graph.table("docs").select("id", joined_fields(fields))


def short_texts(graph: SparkGraph) -> DataFrame | None:
    """What stands for a document in few words (id, text)."""
    name = short_field(graph.texts)
    if name not in graph.texts:
        return None
    return graph.table("docs").select("id", F.col(f"text_{name}").alias("text"))


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
    return {"type": "VectorIndex", "built_from": csr_entry(table, rows, width)}
