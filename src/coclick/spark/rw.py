"""`rw` on Spark: random walks from many queries at once.

Queries and documents are one set of nodes, queries first. The vector of a node holds the probability of each
walk at this node, so one step of all walks is a product with

    A = ( s·1        (1 − s)·P_Q )
        ( (1 − s)·P_D        s·1 )

Training computes only the click sums that normalise the transition probabilities.
"""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F

from coclick.arrays.csr import Csr
from coclick.models.click_graph.rw import RandomWalk
from coclick.spark.graph import SparkGraph
from coclick.spark.matrix_product import MatrixProduct, plain_product
from coclick.spark.model_state import ModelState
from coclick.spark.partitioned_matrix import as_edges, partition
from coclick.spark.partitioning import NodeSet, apply_to_parts, by_part
from coclick.spark.serialization import pack_csr, part_row, to_numpy
from coclick.spark.session import default_max_degree
from coclick.spark.storage import TableWriter, WorkDir
from coclick.spark.vector_tables import vector_entries
from coclick.spark.vocabulary import BLOCK_SCHEMA


def fit(model: RandomWalk, graph: SparkGraph, out: TableWriter, n_parts: int, max_degree: int) -> ModelState:
    """Write the click sums that normalise the transition probabilities."""
    for table, side, nodes in (("query_clicks", "q", "queries"), ("doc_clicks", "d", "docs")):
        sums = graph.table("edges").groupBy(F.col(side).alias("id")).agg(F.sum("clicks").alias("value"))
        every = graph.table(nodes).select("id").join(sums, "id", "left")
        out.write_table(table, every.select("id", F.coalesce("value", F.lit(0.0)).alias("value")))
    state = {
        f"{table}_": {"type": "array", "table": table, "column": "value", "dtype": "<f8"}
        for table in ("query_clicks", "doc_clicks")
    }
    return ModelState(state, {})


@dataclass(frozen=True)
class Walks:
    """A model with the tables of its graph."""

    spark: SparkSession
    model: RandomWalk
    edges: DataFrame  # q, d, clicks
    sums: tuple[DataFrame, DataFrame]  # id, value: click sums of queries and of documents
    queries: int
    docs: int
    edge_count: int

    def run(self, starts: DataFrame, count: int, n_parts: int, work: WorkDir) -> DataFrame:
        """Run walks from (walk, node) and return the final document probabilities (walk, doc, score)."""
        nodes = NodeSet(self.queries + self.docs, n_parts)
        max_degree = default_max_degree(self.edge_count, n_parts)
        matrix = partition(self._transitions(), nodes, nodes, work, "transitions", max_degree)
        entries = starts.select("node", "walk", F.lit(1.0).cast("float").alias("value"))
        with MatrixProduct.build(self.spark, matrix, matrix, count).persisted(self.model.iterations) as step:
            state = step.run_from_blocks(_blocks(entries, nodes, count), plain_product, work, "walks-1")
            for number in range(2, self.model.iterations + 1):
                pruned = self._pruned(state, nodes, count)
                run = step.run if pruned is None else step.run_from_blocks
                state = run(state if pruned is None else pruned, plain_product, work, f"walks-{number}")
        found = _entries(state, nodes).filter(F.col("node") >= self.queries)
        doc = (F.col("node") - self.queries).alias("doc")
        return found.select("walk", doc, F.col("value").alias("score"))

    def _transitions(self) -> DataFrame:
        """The matrix A as (target, source, weight)."""
        stay, move = self.model.stay_probability, 1 - self.model.stay_probability
        chance = F.lit(move) * F.col("clicks") / F.col("value")
        sides = []
        for sums, key, target, source in zip(
            self.sums, ("q", "d"), ("q", "node"), ("node", "q"), strict=True
        ):
            joined = self.edges.join(sums.select(F.col("id").alias(key), "value"), key)
            joined = joined.withColumn("node", F.col("d") + self.queries)
            sides.append(as_edges(joined, target, source, chance))
        self_loops = as_edges(self.spark.range(self.queries + self.docs), "id", "id", F.lit(stay))
        return sides[0].union(sides[1]).union(self_loops).filter("weight > 0")

    def _pruned(self, state: DataFrame, nodes: NodeSet, count: int) -> DataFrame | None:
        """Keep the `max_nodes` largest entries of each walk and side; None if nothing has to be pruned."""
        entries = _entries(state, nodes).withColumn("side", F.col("node") >= self.queries)
        largest = entries.groupBy("walk", "side").count().agg(F.max("count")).collect()[0][0] or 0
        if largest <= self.model.max_nodes:
            return None
        order = Window.partitionBy("walk", "side").orderBy(F.desc("value"), "node")
        ranked = entries.withColumn("rank", F.row_number().over(order))
        return _blocks(ranked.filter(F.col("rank") <= self.model.max_nodes), nodes, count)


def _entries(state: DataFrame, nodes: NodeSet) -> DataFrame:
    return vector_entries(state, nodes).toDF("node", "walk", "value")


def _blocks(entries: DataFrame, nodes: NodeSet, count: int) -> DataFrame:
    """Convert entries (node, walk, value) to one block per part."""
    n_parts = nodes.n_parts
    placed = entries.select("node", "walk", "value", (F.col("node") % n_parts).cast("int").alias("part"))
    every = entries.sparkSession.range(n_parts).select(F.col("id").cast("int").alias("part"))

    def block(part: int, _: pa.Table, table: pa.Table) -> pa.Table:
        rows = to_numpy(table, "node") // n_parts
        shape = (nodes.n_rows(part), count)
        vectors = Csr.from_triples(rows, to_numpy(table, "walk"), to_numpy(table, "value"), shape)
        return part_row(part, vectors=pack_csr(vectors))

    return apply_to_parts(block, BLOCK_SCHEMA, by_part(every, n_parts), by_part(placed, n_parts))
