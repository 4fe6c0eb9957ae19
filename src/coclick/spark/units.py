"""Vectors of units on Spark, and of texts without clicks from them (paper 003 §3).

Locally: `coclick.models.propagation.units`.

A unit is one more kind of node: its edges are those of the texts that hold it, added up, and its vector is
one step from the other side. A text without clicks is one more, too: its edges lead to its units.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from coclick.arrays.csr import where
from coclick.models.propagation.vpcg import VPCG
from coclick.spark.matrix_product import Step, TopK
from coclick.spark.model_state import csr_entry
from coclick.spark.ngrams import GRAM, find_grams, held_units, units_of
from coclick.spark.partitioned_matrix import cut
from coclick.spark.partitioning import Nodes
from coclick.spark.regression import unit_weights
from coclick.spark.serialization import cells, pack_csr, part_row, unpack, unpack_csr
from coclick.spark.storage import Output, Work
from coclick.spark.vector_tables import rows_of, values_of
from coclick.spark.vocabulary import BLOCK, Vocabulary, count_words, in_parts, token_blocks
from coclick.text.analyzer import Analyzer


@dataclass(frozen=True)
class Units:
    """The units that texts with clicks hold."""

    nodes: Nodes
    table: DataFrame  # id, g1, g2, g3, texts
    held: DataFrame  # text, unit, whole
    vectors: DataFrame  # part, vectors
    weights: DataFrame  # part, values
    figures: dict[str, float]


@dataclass(frozen=True)
class UnitTrainingData:
    """What units are learned from."""

    spark: SparkSession
    model: VPCG
    analyzer: Analyzer
    words: Vocabulary
    work: Work
    heavy: int

    def tokens(self, texts: DataFrame, nodes: Nodes, name: str) -> DataFrame:
        """Blocks of texts (id, text, clicked) as sequences of terms."""
        placed = in_parts(texts, nodes)
        known = self.words.known(count_words(placed, self.analyzer, self.work, f"{name}-words"))
        return self.work.saved(f"{name}-tokens", token_blocks(placed, known, self.analyzer, nodes.parts))

    def fit(
        self,
        tokens: DataFrame,
        edges: DataFrame,
        ends: tuple[Nodes, Nodes],
        states: tuple[DataFrame, DataFrame],
    ) -> Units | None:
        """Units of the texts that have edges (text, other, weight); `ends` and `states` are those of texts
        and others, with their vectors after the last round."""
        work, (text_nodes, other_nodes) = self.work, ends
        grams = work.saved("grams", find_grams(tokens, clicked=True))
        table, count = units_of(grams, self.model.min_texts, work)
        if not count:
            return None
        nodes = Nodes(count, text_nodes.parts)
        held = work.saved("held", held_units(tokens, grams, table, nodes.parts, clicked=True))
        joined = held.join(edges, "text").groupBy("unit", "other").agg(F.sum("weight").alias("weight"))
        unit_edges = joined.select(
            F.col("unit").alias("target"), F.col("other").alias("source"), F.col("weight").cast("float")
        )
        to_units = cut(unit_edges, nodes, other_nodes, work, "to-units", self.heavy)
        step = Step.of(self.spark, to_units, None, self.words.size)
        state = step.run_from(states[1], TopK(self.model.max_terms), work, "unit-vectors")
        vectors = state.select("part", "vectors")
        weights, figures = unit_weights(self, nodes, table, held, vectors, text_nodes, states[0])
        return Units(nodes, table, held, vectors, weights, {"units": count} | figures)

    def fill(self, state: DataFrame, nodes: Nodes, tokens: DataFrame, units: Units, name: str) -> DataFrame:
        """The vectors of a state, with generated ones for the texts that have no clicks."""
        work = self.work
        grams = find_grams(tokens, clicked=False)
        held = held_units(tokens, grams, units.table, nodes.parts, clicked=False)
        edges = held.select(
            F.col("text").alias("target"),
            F.col("unit").alias("source"),
            F.lit(1.0).cast("float").alias("weight"),
        )
        to_texts = cut(edges, nodes, units.nodes, work, f"{name}-from-units")
        step = Step.of(self.spark, to_texts, None, self.words.size)
        generated = step.run_from(_weighed(units), TopK(self.model.max_terms), work, f"{name}-generated")
        return work.saved(f"{name}-filled", _filled(state, generated, nodes.parts))


def write_units(units: Units | None, width: int, out: Output) -> dict[str, Any]:
    """The tables of units, and what the manifest must remember to read them."""
    if units is None:
        return {"type": "json", "value": None}
    count = units.nodes.count
    out.table("units", units.table.select("id", *GRAM))
    out.table("unit_vectors", rows_of(units.vectors, units.nodes))
    out.table("unit_weights", values_of(units.weights, units.nodes))
    out.table("holders", units.held.select("unit", "text").sort("unit", "text"))
    fields = {
        "words": {"type": "WordUnits", "built_from": {"type": "grams", "table": "units"}},
        "chars": {"type": "json", "value": None},
        "vectors": csr_entry("unit_vectors", count, width),
        "weights": {"type": "array", "table": "unit_weights", "column": "value", "dtype": "<f4"},
        "holder_indptr": {"type": "pointers", "table": "holders", "column": "unit", "rows": count},
        "holder_rows": {"type": "array", "table": "holders", "column": "text", "dtype": "<i4"},
    }
    return {"type": "UnitVectors", "fields": fields}


def _weighed(units: Units) -> DataFrame:
    """Unit vectors times their weights; a weight of 0 leaves nothing."""

    def weigh(key: tuple[pa.Scalar, ...], vectors: pa.Table, weights: pa.Table) -> pa.Table:
        rows = unpack_csr(cells(vectors, "vectors")[0])
        if not rows.rows:
            return vectors
        factor = unpack(cells(weights, "values")[0])[0].astype(np.float32)
        scaled = rows.with_data(rows.data * np.repeat(factor, rows.row_nnz())).positive()
        return part_row(key[0].as_py(), vectors=pack_csr(scaled))

    parts = units.nodes.parts
    left = units.vectors.repartitionById(parts, "part").groupBy("part")
    return left.cogroup(units.weights.repartitionById(parts, "part").groupBy("part")).applyInArrow(
        weigh, BLOCK
    )


def _filled(state: DataFrame, generated: DataFrame, parts: int) -> DataFrame:
    def fill(key: tuple[pa.Scalar, ...], held: pa.Table, found: pa.Table) -> pa.Table:
        vectors, new = (unpack_csr(cells(table, "vectors")[0]) for table in (held, found))
        missing = np.flatnonzero(new.row_nnz() > 0)
        kept = np.ones(vectors.rows, bool)
        kept[missing] = False
        return part_row(key[0].as_py(), vectors=pack_csr(where(kept, vectors, new.take(missing))))

    columns = ["part", "vectors"]
    left, right = (
        f.select(*columns).repartitionById(parts, "part").groupBy("part") for f in (state, generated)
    )
    return left.cogroup(right).applyInArrow(fill, BLOCK)
