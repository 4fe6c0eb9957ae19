"""`vpcg` on Spark: the iterations of `coclick.models.propagation.iterations`, each two matrix products."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from coclick.errors import UserError
from coclick.models.propagation.iterations import initial_vectors
from coclick.models.propagation.vpcg import VPCG
from coclick.spark import vocabulary
from coclick.spark.graph import SparkGraph
from coclick.spark.matrix_product import MatrixProduct, TopKProduct, attach_plan
from coclick.spark.model_state import ModelState, csr_entry
from coclick.spark.partitioned_matrix import as_edges, partition
from coclick.spark.partitioning import NodeSet
from coclick.spark.storage import TableWriter
from coclick.spark.units import Units, UnitTrainer, write_units
from coclick.spark.vector_tables import vector_rows
from coclick.spark.vocabulary import Vocabulary
from coclick.text.term_matrix import choose_fields, count_terms, short_field


def fit(model: VPCG, graph: SparkGraph, out: TableWriter, n_parts: int, max_degree: int) -> ModelState:
    """Propagate vectors, learn units, generate the vectors of unclicked texts, and write all tables."""
    _check(model)
    work, spark = out.work, graph.spark
    queries, docs = (NodeSet(graph.size(side), n_parts) for side in ("queries", "docs"))
    from_queries = model.start == "query"
    texts, others = (queries, docs) if from_queries else (docs, queries)
    clicked = [graph.table("edges").select(F.col(side).alias("id")).distinct() for side in ("q", "d")]
    analyzer = model._analyzer
    placed = vocabulary.assign_parts(
        _mark_clicked(start_texts(model, graph), clicked[0 if from_queries else 1]), texts
    )
    counted = vocabulary.count_words(placed, analyzer, work)
    words = Vocabulary.from_counts(counted, work)
    width = words.size
    tokens = work.checkpoint(
        "tokens", vocabulary.token_blocks(placed, words.ids_by_part(counted), analyzer, n_parts)
    )

    edges = weighted_edges(model, graph)
    to_others = partition(as_edges(edges, "other", "text"), others, texts, work, "to-others", max_degree)
    to_texts = partition(as_edges(edges, "text", "other"), texts, others, work, "to-texts", max_degree)
    start = vocabulary.vector_blocks(tokens, texts, lambda some: initial_vectors(count_terms(some, width)))
    text_state = work.checkpoint("start", attach_plan(start, to_others))
    iterations = int(model.iterations)
    with (
        MatrixProduct.build(spark, to_others, to_texts, width).persisted(iterations) as there,
        MatrixProduct.build(spark, to_texts, to_others, width).persisted(iterations) as back,
    ):
        for number in range(1, iterations + 1):
            previous_state = text_state
            other_state = there.run(previous_state, TopKProduct(model.max_terms), work, f"others-{number}")
            text_state = back.run(other_state, TopKProduct(model.max_terms), work, f"texts-{number}")

    trainer = UnitTrainer(spark, model, analyzer, words, work, max_degree)
    short = short_texts(graph)
    units = None
    if model.units == "words" and (from_queries or short is not None):
        if not from_queries and short is not None:
            tokens = trainer.tokens(_mark_clicked(short, clicked[1]), docs, "unit")
        units = trainer.fit(tokens, edges, (texts, others), (text_state, other_state))
    sides = [text_state, other_state] if from_queries else [other_state, text_state]
    if units is not None:
        tokens_by_side = tokens if from_queries else None, None if from_queries else tokens
        for side, (nodes, named) in enumerate(((queries, graph.table("queries")), (docs, short))):
            if named is not None:
                missing = _UnclickedTexts(named, nodes, clicked[side], tokens_by_side[side])
                sides[side] = missing.fill_vectors(sides[side], trainer, units, ("queries", "docs")[side])

    idf = vocabulary.inverse_frequency(texts.n_nodes, "texts").alias("idf")
    out.write_table("terms", words.terms.select("id", "text", "surface", idf))
    out.write_table("query_vectors", vector_rows(sides[0], queries))
    out.write_table("doc_vectors", vector_rows(sides[1], docs))
    out.write_table("read_vectors", vector_rows(previous_state, texts))
    state: dict[str, Any] = {
        "terms_": {"type": "vocab", "table": "terms", "column": "text"},
        "display_terms_": {"type": "strings", "table": "terms", "column": "surface"},
        "idf_": {"type": "array", "table": "terms", "column": "idf", "dtype": "<f4"},
        "previous_vectors_": csr_entry("read_vectors", texts.n_nodes, width),
        "units_": write_units(units, width, out),
        "query_index_": _index("query_vectors", queries.n_nodes, width),
        "doc_index_": _index("doc_vectors", docs.n_nodes, width),
    }
    return ModelState(state, {"units": {"words": units.stats}} if units else {})


def _check(model: VPCG) -> None:
    """Raise for parameters that are supported on one machine only."""
    if not isinstance(model.iterations, int):
        raise UserError(
            f"iterations={model.iterations} is supported on one machine only",
            hint="set a number: iterations=1",
        )
    if model.units not in ("words", "none") or model.own_weight:
        raise UserError(
            "character units and own_weight are supported on one machine only",
            hint='on Spark train "vpcg(units=words,own_weight=0)"',
        )
    if model.unit_weights == "least_squares":
        raise UserError(
            "unit_weights=least_squares is supported on one machine only", hint="use unit_weights=regression"
        )


@dataclass(frozen=True)
class _UnclickedTexts:
    """The texts of one side that have no clicks."""

    texts: DataFrame  # id, text; including those with clicks
    nodes: NodeSet
    clicked: DataFrame  # id
    tokens: DataFrame | None  # of all texts, if already tokenized

    def fill_vectors(self, state: DataFrame, trainer: UnitTrainer, units: Units, name: str) -> DataFrame:
        """Return the vectors of the side with generated ones for these texts."""
        if self.clicked.count() == self.nodes.n_nodes:
            return state
        tokens = self.tokens
        if tokens is None:
            missing = self.texts.join(self.clicked, "id", "left_anti")
            tokens = trainer.tokens(missing.withColumn("clicked", F.lit(False)), self.nodes, name)
        return trainer.fill_unclicked(state, self.nodes, tokens, units, name)


def _mark_clicked(texts: DataFrame, clicked: DataFrame) -> DataFrame:
    """Add a column that is true for texts with clicks."""
    marked = texts.join(clicked.withColumn("clicked", F.lit(True)), "id", "left")
    return marked.withColumn("clicked", F.coalesce("clicked", F.lit(False)))


def start_texts(model: VPCG, graph: SparkGraph) -> DataFrame:
    """Return the texts that propagation starts from (id, text)."""
    if model.start == "query":
        return graph.table("queries").select("id", "text")
    fields = choose_fields(dict.fromkeys(graph.texts), model.fields)
    return graph.table("docs").select("id", vocabulary.join_fields(fields))


def short_texts(graph: SparkGraph) -> DataFrame | None:
    """Return the short text of each document, such as its title (id, text)."""
    name = short_field(graph.texts)
    if name not in graph.texts:
        return None
    return graph.table("docs").select("id", F.col(f"text_{name}").alias("text"))


def weighted_edges(model: VPCG, graph: SparkGraph) -> DataFrame:
    """Return the edges between texts and others with the weights of the model."""
    text, other = ("q", "d") if model.start == "query" else ("d", "q")
    clicks = F.col("clicks") if model.weight == "clicks" else F.log1p("clicks").cast("float")
    return graph.table("edges").select(
        F.col(text).alias("text"), F.col(other).alias("other"), clicks.alias("weight")
    )


def _index(table: str, rows: int, width: int) -> dict[str, Any]:
    return {"type": "VectorIndex", "built_from": csr_entry(table, rows, width)}
