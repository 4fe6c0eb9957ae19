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
from coclick.spark.matrix_product import MatrixProduct, PlainProduct
from coclick.spark.model_state import ModelState
from coclick.spark.partitioned_matrix import partition
from coclick.spark.partitioning import NodeSet, by_part
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
            state = step.run_from_blocks(_blocks(entries, nodes, count), PlainProduct(), work, "walks-1")
            for number in range(2, self.model.iterations + 1):
                pruned = self._pruned(state, nodes, count)
                name = f"walks-{number}"
                if pruned is None:
                    state = step.run(state, PlainProduct(), work, name)
                else:
                    state = step.run_from_blocks(pruned, PlainProduct(), work, name)
        found = _entries(state, nodes).filter(F.col("node") >= self.queries)
        doc = (F.col("node") - self.queries).alias("doc")
        return found.select("walk", doc, F.col("value").alias("score"))

    def _transitions(self) -> DataFrame:
        """The matrix A as (target, source, weight)."""
        stay, move = self.model.stay_probability, 1 - self.model.stay_probability
        doc_node = F.col("d") + self.queries
        sides = []
        for sums, key, target, source in (
            (self.sums[0], "q", F.col("q"), doc_node),
            (self.sums[1], "d", doc_node, F.col("q")),
        ):
            joined = self.edges.join(sums.select(F.col("id").alias(key), "value"), key)
            chance = (F.lit(move) * F.col("clicks") / F.col("value")).cast("float")
            sides.append(
                joined.select(target.alias("target"), source.alias("source"), chance.alias("weight"))
            )
        self_loops = self.spark.range(self.queries + self.docs).select(
            F.col("id").alias("target"),
            F.col("id").alias("source"),
            F.lit(stay).cast("float").alias("weight"),
        )
        return sides[0].union(sides[1]).union(self_loops).filter("weight > 0")

    def _pruned(self, state: DataFrame, nodes: NodeSet, count: int) -> DataFrame | None:
        """Keep the `max_nodes` largest entries of each walk and side; None if nothing has to be pruned."""
        entries = _entries(state, nodes).withColumn("side", F.col("node") >= self.queries)
        largest = entries.groupBy("walk", "side").count().agg(F.max("count")).collect()[0][0] or 0
        if largest <= self.model.max_nodes:
            return None
        order = Window.partitionBy("walk", "side").orderBy(F.desc("value"), "node")
        kept = entries.withColumn("rank", F.row_number().over(order)).filter(
            F.col("rank") <= self.model.max_nodes
        )
        return _blocks(kept, nodes, count)


def _entries(state: DataFrame, nodes: NodeSet) -> DataFrame:
    return vector_entries(state, nodes).toDF("node", "walk", "value")


def _blocks(entries: DataFrame, nodes: NodeSet, count: int) -> DataFrame:
    """Convert entries (node, walk, value) to one block per part."""
    n_parts = nodes.n_parts
    placed = entries.select("node", "walk", "value", (F.col("node") % n_parts).cast("int").alias("part"))
    every = entries.sparkSession.range(n_parts).select(F.col("id").cast("int").alias("part"))

    def block(key: tuple[pa.Scalar, ...], _: pa.Table, table: pa.Table) -> pa.Table:
        part = key[0].as_py()
        rows = to_numpy(table, "node") // n_parts
        shape = (nodes.n_rows(part), count)
        vectors = Csr.from_triples(rows, to_numpy(table, "walk"), to_numpy(table, "value"), shape)
        return part_row(part, vectors=pack_csr(vectors))

    left = by_part(every, n_parts)
    return left.cogroup(by_part(placed, n_parts)).applyInArrow(block, BLOCK_SCHEMA)
