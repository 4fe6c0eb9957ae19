"""`rmls` on Spark: the half-iterations of `coclick.solvers.rmls`, each a chain of three matrix products.

The map of query features is Ω = Qᵀ W D L_y, thresholded row by row: the rows of L_y are multiplied by the
document features, then by the clicks, then by the transposed query features. The map of document features
uses the same chain in the other direction.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from coclick.arrays.csr import Csr
from coclick.errors import UserError
from coclick.kernels.thresholded import thresholded_product
from coclick.models.projection._base import MIN_NORM
from coclick.models.projection.rmls import RMLS
from coclick.solvers.rmls import THRESHOLDS, Penalty, random_rows_of
from coclick.spark.features import FeatureSide, FeatureTables, build_features
from coclick.spark.graph import SparkGraph
from coclick.spark.matrix_product import MatrixProduct, plain_product
from coclick.spark.model_state import ModelState, csr_entry
from coclick.spark.partitioned_matrix import PartitionedMatrix, as_edges, partition
from coclick.spark.partitioning import NodeSet, apply_to_parts, by_part
from coclick.spark.serialization import buffers, map_parts, pack, pack_csr, part_row, unpack, unpack_csr
from coclick.spark.storage import TableWriter, WorkDir
from coclick.spark.vector_tables import vector_rows
from coclick.spark.vocabulary import BLOCK_SCHEMA

_MAP_SCHEMA = "part int, vectors binary, thresholds binary, entries long"


def fit(model: RMLS, graph: SparkGraph, out: TableWriter, n_parts: int, max_degree: int) -> ModelState:
    """Run the half-iterations and write the embeddings of all queries and documents."""
    _check(model)
    analyzer = model._analyzer
    found = build_features(graph, model.views, analyzer, model.fields, out, n_parts)
    chain = _Chain(model, graph, found, out.work, max_degree)
    halves = round(2 * model.iterations)
    maps = chain.half_iterations(halves)
    state: dict[str, Any] = {"features_": found.entry, "approximate_": {"type": "json", "value": None}}
    for name, side, map_rows in (("query", found.queries, maps[0]), ("doc", found.docs, maps[1])):
        out.write_table(f"{name}_vectors", chain.embeddings(side, map_rows, name))
        out.write_table(f"{name}_map", vector_rows(map_rows, side.features))
        out.write_table(f"{name}_features", _feature_rows(side))
        shape = side.features.n_nodes, model.dim
        matrix = csr_entry(f"{name}_map", *shape)
        longest = {"type": "json", "value": model.query_length if name == "query" else model.doc_length}
        vectors = csr_entry(f"{name}_vectors", side.nodes.n_nodes, model.dim)
        state |= {
            f"{name}_map_": {"type": "SparseMap", "fields": {"matrix": matrix, "longest": longest}},
            f"{name}_features_": csr_entry(f"{name}_features", side.nodes.n_nodes, side.features.n_nodes),
            f"{name}_index_": {"type": "DenseIndex", "built_from": vectors | {"type": "dense"}},
        }
    return ModelState(state, {"chosen_rounds": halves / 2})


def _check(model: RMLS) -> None:
    """Raise for parameters that are supported on one machine only."""
    if model.held_out:
        raise UserError(
            "rmls chooses its iterations by held-out clicks on one machine only",
            hint="set the number: rmls(held_out=0,iterations=0.5)",
        )
    if model.index != "exact":
        raise UserError("index=approximate is supported on one machine only", hint="index=exact")


@dataclass(frozen=True)
class _Chain:
    """The matrices between features, documents and queries."""

    model: RMLS
    graph: SparkGraph
    found: FeatureTables
    work: WorkDir
    max_degree: int

    def half_iterations(self, halves: int) -> list[DataFrame]:
        """The maps of query and document features after the given number of half-iterations."""
        model = self.model
        queries, docs = self._discounted("q", "d"), self._discounted("d", "q")
        start = _random_map(self.graph.spark, docs.features, model)
        maps: list[DataFrame] = [start, start]
        thresholds: list[DataFrame | None] = [None, None]
        chains = [
            self._chain_between(docs, queries, "q", "d"),
            self._chain_between(queries, docs, "d", "q") if halves > 1 else None,
        ]
        for half in range(halves):
            own, other = half % 2, 1 - half % 2
            chain = chains[own]
            assert chain is not None
            rows = chain(maps[other], f"half-{half + 1}")
            side = (queries, docs)[own]
            penalty = model.penalties()[own]
            after = _thresholded(rows, thresholds[own], side.features, penalty)
            saved = self.work.checkpoint(f"map-{half + 1}", after)
            if not saved.agg(F.sum("entries")).collect()[0][0]:
                name = THRESHOLDS[own] if penalty.threshold > 0 else "relative_threshold"
                used = f"{name}={penalty.threshold or penalty.relative_threshold:g}"
                raise UserError(f"{used} removes all entries of the maps", hint=f"use a smaller {name}")
            maps[own], thresholds[own] = saved.select("part", "vectors"), saved.select("part", "thresholds")
        return maps

    def embeddings(self, side: FeatureSide, map_rows: DataFrame, name: str) -> DataFrame:
        """The embeddings of a side's nodes as a table; tiny ones are set to zero."""
        to_nodes = self._feature_matrix(side, "node", f"{name}-embeddings")
        embeddings = self._run(map_rows, [to_nodes], f"{name}-embeddings")
        min_norm = MIN_NORM * (self.model.query_length if name == "query" else self.model.doc_length)

        def drop_tiny(rows: Csr) -> Csr:
            lengths: NDArray[np.float64] = np.sqrt(rows.with_data(rows.data * rows.data).row_sums())
            return rows.take(np.where(lengths > min_norm, np.arange(rows.rows), -1))

        return vector_rows(embeddings, side.nodes, drop_tiny)

    def _chain_between(
        self, start: FeatureSide, end: FeatureSide, target: str, source: str
    ) -> Callable[[DataFrame, str], DataFrame]:
        """The chain from the features of one side to those of the other."""
        clicks = self._clicks(target, source)
        matrices = (
            self._feature_matrix(start, "node", f"{source}-nodes"),
            partition(clicks, end.nodes, start.nodes, self.work, f"{target}-clicks", self.max_degree),
            self._feature_matrix(end, "feature", f"{target}-features"),
        )
        return lambda rows, name: self._run(rows, matrices, name)

    def _run(self, rows: DataFrame, matrices: Sequence[PartitionedMatrix], name: str) -> DataFrame:
        """Multiply rows by one matrix after the other."""
        state = rows
        for number, matrix in enumerate(matrices):
            then = matrices[number + 1] if number + 1 < len(matrices) else None
            step = MatrixProduct.build(self.graph.spark, matrix, then, self.model.dim)
            run = step.run if number else step.run_from_blocks
            state = run(state, plain_product, self.work, f"{name}-{number}")
        return state.select("part", "vectors")

    def _feature_matrix(self, side: FeatureSide, target: str, name: str) -> PartitionedMatrix:
        """The feature matrix of a side, or its transpose."""
        source = "feature" if target == "node" else "node"
        edges = as_edges(side.entries, target, source)
        ends = (side.nodes, side.features) if target == "node" else (side.features, side.nodes)
        return partition(edges, *ends, self.work, name, self.max_degree)

    def _discounted(self, target: str, source: str) -> FeatureSide:
        """The features of one side, divided as in `solvers.rmls.discount_frequent`."""
        side, other = self.found.queries, self.found.docs
        if target == "d":
            side, other = other, side
        if not self.model.frequency_discount:
            return side
        weight = F.col("weight").cast("double")
        sums = other.entries.groupBy(F.col("node").alias("source")).agg(F.sum(weight).alias("sum"))
        by_node = self._clicks(target, source).join(sums, "source").groupBy(F.col("target").alias("node"))
        reached = by_node.agg(F.sum(weight * F.col("sum")).alias("sum"))
        by_feature = side.entries.join(reached, "node").groupBy("feature")
        totals = by_feature.agg(F.sum(weight * F.col("sum")).alias("total"))
        mean = totals.agg(F.mean("total")).collect()[0][0]
        divided = weight * F.pow(F.col("total") / mean, F.lit(-self.model.frequency_discount))
        entries = side.entries.join(totals, "feature")
        entries = entries.select("node", "feature", divided.cast("float").alias("weight"))
        return replace(side, entries=self.work.checkpoint(f"discounted-{target}", entries))

    def _clicks(self, target: str, source: str) -> DataFrame:
        """The weights of clicked pairs, as `models.projection.click_evidence.weight_clicks` has them."""
        edges = self.graph.table("edges")
        clicks = F.col("clicks").cast("double")
        if self.model.weight in ("degree", "mean"):
            degrees = edges.groupBy("q").agg(F.count("*").alias("degree"))
            edges = edges.join(degrees, "q")
            weight = clicks / F.col("degree") / (degrees.count() if self.model.weight == "mean" else 1)
        else:
            scales = {"log1p": F.log1p(clicks), "log": F.log(clicks), "clicks": clicks, "one": F.lit(1.0)}
            weight = scales[self.model.weight]
        return as_edges(edges, target, source, weight).filter("weight > 0")


def _random_map(spark: Any, nodes: NodeSet, model: RMLS) -> DataFrame:
    """The rows that `random_rows` draws; each part draws its own."""

    shape, dense = (nodes.n_nodes, model.dim, model.doc_length, model.seed), model.initial_map == "dense"

    def draw(part: int) -> list[pa.RecordBatch]:
        rows = random_rows_of(*shape, part, nodes.n_parts, dense=dense)
        return part_row(part, vectors=pack_csr(rows)).to_batches()

    parts = spark.range(0, nodes.n_parts, 1, nodes.n_parts).select(F.col("id").cast("int").alias("part"))
    return parts.mapInArrow(map_parts(draw), BLOCK_SCHEMA)


def _thresholded(rows: DataFrame, before: DataFrame | None, nodes: NodeSet, penalty: Penalty) -> DataFrame:
    """Threshold and scale the rows of Ω; returns the map and its thresholds, which then stay fixed."""
    n_parts = nodes.n_parts
    empty = rows.select("part", F.lit(None).cast("binary").alias("thresholds"))
    known = empty if before is None else before

    def threshold(part: int, table: pa.Table, old: pa.Table) -> pa.Table:
        omega = unpack_csr(buffers(table, "vectors")[0])
        payload = buffers(old, "thresholds")[0]
        thresholds = penalty.start(omega.rows) if payload is None else unpack(payload)[0]
        given = penalty.relative_threshold, penalty.length
        found = thresholded_product(_identity(omega.rows), omega, thresholds, *given)
        row = part_row(part, vectors=pack_csr(found.rows), thresholds=pack([found.thresholds]))
        return row.append_column("entries", pa.array([found.rows.nnz], pa.int64()))

    return apply_to_parts(threshold, _MAP_SCHEMA, by_part(rows, n_parts), by_part(known, n_parts))


def _identity(rows: int) -> Csr:
    ones = np.ones(rows, np.float32)
    return Csr(np.arange(rows + 1, dtype=np.int64), np.arange(rows, dtype=np.int32), ones, rows)


def _feature_rows(side: FeatureSide) -> DataFrame:
    """The features of each node as two lists, empty for nodes without features."""
    entries = F.sort_array(F.collect_list(F.struct(F.col("feature").cast("int").alias("feature"), "weight")))
    rows = side.entries.groupBy(F.col("node").alias("id")).agg(entries.alias("entries"))
    every = side.entries.sparkSession.range(side.nodes.n_nodes).join(rows, "id", "left")
    return every.select(
        "id",
        F.coalesce(F.col("entries.feature"), F.array().cast("array<int>")).alias("columns"),
        F.coalesce(F.col("entries.weight"), F.array().cast("array<float>")).alias("values"),
    )
