"""Unit vectors on Spark, and vectors of texts without clicks generated from them (Jiang et al. 2016 §3).

The local counterpart is `coclick.models.propagation.units`.

A unit is a node: its edges are the summed edges of the texts that contain it, and its vector is one product
away from the other side. A text without clicks is a node whose edges lead to its units.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from coclick.arrays.csr import fill_rows
from coclick.models.propagation.vpcg import VPCG
from coclick.spark.matrix_product import MatrixProduct, TopKProduct
from coclick.spark.model_state import csr_entry
from coclick.spark.ngrams import GRAM_COLUMNS, count_ngrams, select_units, unit_incidence
from coclick.spark.partitioned_matrix import as_edges, partition
from coclick.spark.partitioning import NodeSet, apply_to_parts, by_part
from coclick.spark.regression import unit_weights
from coclick.spark.serialization import buffers, pack_csr, part_row, unpack, unpack_csr
from coclick.spark.storage import TableWriter, WorkDir
from coclick.spark.vector_tables import value_rows, vector_rows
from coclick.spark.vocabulary import BLOCK_SCHEMA, Vocabulary, assign_parts, count_words, token_blocks
from coclick.text.analyzer import Analyzer


@dataclass(frozen=True)
class Units:
    """The units of texts with clicks."""

    nodes: NodeSet
    table: DataFrame  # id, g1, g2, g3, texts
    incidence: DataFrame  # text, unit, whole
    vectors: DataFrame  # part, vectors
    weights: DataFrame  # part, values
    stats: dict[str, float]


@dataclass(frozen=True)
class UnitTrainer:
    """Learn unit vectors and generate the vectors of texts without clicks."""

    spark: SparkSession
    model: VPCG
    analyzer: Analyzer
    words: Vocabulary
    work: WorkDir
    max_degree: int

    def tokens(self, texts: DataFrame, nodes: NodeSet, name: str) -> DataFrame:
        """Tokenize texts (id, text, clicked) into blocks of term sequences."""
        placed = assign_parts(texts, nodes)
        known = self.words.ids_by_part(count_words(placed, self.analyzer, self.work, f"{name}-words"))
        blocks = token_blocks(placed, known, self.analyzer, nodes.n_parts)
        return self.work.checkpoint(f"{name}-tokens", blocks)

    def fit(
        self,
        tokens: DataFrame,
        edges: DataFrame,
        ends: tuple[NodeSet, NodeSet],
        states: tuple[DataFrame, DataFrame],
    ) -> Units | None:
        """Learn the units of the texts that have edges (text, other, weight); None if there are none.

        `ends` are the nodes of texts and others, and `states` their vectors after the last iteration.
        """
        work, (text_nodes, other_nodes) = self.work, ends
        grams = work.checkpoint("grams", count_ngrams(tokens, clicked=True))
        table, count = select_units(grams, self.model.min_texts, work)
        if not count:
            return None
        nodes = NodeSet(count, text_nodes.n_parts)
        incidence = unit_incidence(tokens, grams, table, nodes.n_parts, clicked=True)
        incidence = work.checkpoint("incidence", incidence)
        joined = incidence.join(edges, "text").groupBy("unit", "other").agg(F.sum("weight").alias("weight"))
        to_units = partition(
            as_edges(joined, "unit", "other"), nodes, other_nodes, work, "to-units", self.max_degree
        )
        step = MatrixProduct.build(self.spark, to_units, None, self.words.size)
        state = step.run_from_blocks(states[1], TopKProduct(self.model.max_terms), work, "unit-vectors")
        vectors = state.select("part", "vectors")
        weights, stats = unit_weights(self, nodes, table, incidence, vectors, text_nodes, states[0])
        return Units(nodes, table, incidence, vectors, weights, {"units": count} | stats)

    def fill_unclicked(
        self, state: DataFrame, nodes: NodeSet, tokens: DataFrame, units: Units, name: str
    ) -> DataFrame:
        """Return the vectors of a state with generated ones for texts without clicks."""
        work = self.work
        grams = count_ngrams(tokens, clicked=False)
        incidence = unit_incidence(tokens, grams, units.table, nodes.n_parts, clicked=False)
        edges = as_edges(incidence, "text", "unit", F.lit(1.0))
        to_texts = partition(edges, nodes, units.nodes, work, f"{name}-from-units")
        step = MatrixProduct.build(self.spark, to_texts, None, self.words.size)
        weighted, kernel = _weighted_vectors(units), TopKProduct(self.model.max_terms)
        generated = step.run_from_blocks(weighted, kernel, work, f"{name}-generated")
        return work.checkpoint(f"{name}-filled", _filled(state, generated, nodes.n_parts))


def write_units(units: Units | None, width: int, out: TableWriter) -> dict[str, Any]:
    """Write the tables of units and return their manifest entry."""
    if units is None:
        return {"type": "json", "value": None}
    count = units.nodes.n_nodes
    out.write_table("units", units.table.select("id", *GRAM_COLUMNS))
    out.write_table("unit_vectors", vector_rows(units.vectors, units.nodes))
    out.write_table("unit_weights", value_rows(units.weights, units.nodes))
    out.write_table("unit_texts", units.incidence.select("unit", "text").sort("unit", "text"))
    fields = {
        "words": {"type": "WordUnits", "built_from": {"type": "grams", "table": "units"}},
        "chars": {"type": "json", "value": None},
        "vectors": csr_entry("unit_vectors", count, width),
        "weights": {"type": "array", "table": "unit_weights", "column": "value", "dtype": "<f4"},
        "text_indptr": {"type": "pointers", "table": "unit_texts", "column": "unit", "rows": count},
        "text_rows": {"type": "array", "table": "unit_texts", "column": "text", "dtype": "<i4"},
    }
    return {"type": "UnitVectors", "fields": fields}


def _weighted_vectors(units: Units) -> DataFrame:
    """Unit vectors times their weights; a weight of 0 empties the vector."""

    def weigh(part: int, vectors: pa.Table, weights: pa.Table) -> pa.Table:
        rows = unpack_csr(buffers(vectors, "vectors")[0])
        if not rows.rows:
            return vectors
        factor = unpack(buffers(weights, "values")[0])[0].astype(np.float32)
        scaled = rows.with_data(rows.data * np.repeat(factor, rows.row_nnz())).positive()
        return part_row(part, vectors=pack_csr(scaled))

    vectors, weights = (by_part(frame, units.nodes.n_parts) for frame in (units.vectors, units.weights))
    return apply_to_parts(weigh, BLOCK_SCHEMA, vectors, weights)


def _filled(state: DataFrame, generated: DataFrame, n_parts: int) -> DataFrame:
    def fill(part: int, own: pa.Table, found: pa.Table) -> pa.Table:
        vectors, new = (unpack_csr(buffers(table, "vectors")[0]) for table in (own, found))
        missing = np.flatnonzero(new.row_nnz() > 0)
        kept = np.ones(vectors.rows, bool)
        kept[missing] = False
        return part_row(part, vectors=pack_csr(fill_rows(kept, vectors, new.take(missing))))

    left, right = (by_part(frame.select("part", "vectors"), n_parts) for frame in (state, generated))
    return apply_to_parts(fill, BLOCK_SCHEMA, left, right)
