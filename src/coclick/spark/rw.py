"""`rw` on Spark: walks from many queries at once.

Queries and documents are one set of nodes, documents behind queries. The vector of a node says how likely
each walk is there, and a step of all walks is one product with

    A = ( s·1        (1 − s)·P_Q )
        ( (1 − s)·P_D        s·1 )

Training has nothing to learn but the sums by which transitions are scaled.
"""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F

from coclick.arrays.csr import Csr
from coclick.models.click_graph.rw import RandomWalk
from coclick.spark.graph import SparkGraph
from coclick.spark.matrix_product import Step, Sum
from coclick.spark.model_state import Learned
from coclick.spark.partitioned_matrix import cut
from coclick.spark.partitioning import Nodes
from coclick.spark.serialization import column, pack_csr, part_row
from coclick.spark.session import default_heavy
from coclick.spark.storage import Output, Work
from coclick.spark.vector_tables import entries_of
from coclick.spark.vocabulary import BLOCK


def fit(model: RandomWalk, graph: SparkGraph, out: Output, parts: int, heavy: int) -> Learned:
    """The sums by which transitions are scaled."""
    for table, side, nodes in (("query_clicks", "q", "queries"), ("doc_clicks", "d", "docs")):
        sums = graph.table("edges").groupBy(F.col(side).alias("id")).agg(F.sum("clicks").alias("value"))
        every = graph.table(nodes).select("id").join(sums, "id", "left")
        out.table(table, every.select("id", F.coalesce("value", F.lit(0.0)).alias("value")))
    state = {
        f"{table}_": {"type": "array", "table": table, "column": "value", "dtype": "<f8"}
        for table in ("query_clicks", "doc_clicks")
    }
    return Learned(state, {})


@dataclass(frozen=True)
class Walks:
    """A model with its graph, ready to walk."""

    spark: SparkSession
    model: RandomWalk
    edges: DataFrame  # q, d, clicks
    sums: tuple[DataFrame, DataFrame]  # id, value: the clicks of queries, and of documents
    queries: int
    docs: int
    edge_count: int

    def run(self, starts: DataFrame, count: int, parts: int, work: Work) -> DataFrame:
        """Where walks (walk, node) are in the end among documents: (walk, doc, score)."""
        nodes = Nodes(self.queries + self.docs, parts)
        heavy = default_heavy(self.edge_count, parts)
        matrix = cut(self._transitions(), nodes, nodes, work, "transitions", heavy)
        entries = starts.select("node", "walk", F.lit(1.0).cast("float").alias("value"))
        with Step.of(self.spark, matrix, matrix, count).repeated(self.model.iterations) as step:
            state = step.run_from(_blocks(entries, nodes, count), Sum(), work, "walks-1")
            for number in range(2, self.model.iterations + 1):
                pruned = self._pruned(state, nodes, count)
                name = f"walks-{number}"
                if pruned is None:
                    state = step.run(state, Sum(), work, name)
                else:
                    state = step.run_from(pruned, Sum(), work, name)
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

    def _pruned(self, state: DataFrame, nodes: Nodes, count: int) -> DataFrame | None:
        """Blocks of the `keep` largest entries of each walk and side; None if there are no more."""
        entries = _entries(state, nodes).withColumn("side", F.col("node") >= self.queries)
        most = entries.groupBy("walk", "side").count().agg(F.max("count")).collect()[0][0] or 0
        if most <= self.model.max_nodes:
            return None
        order = Window.partitionBy("walk", "side").orderBy(F.desc("value"), "node")
        kept = entries.withColumn("rank", F.row_number().over(order)).filter(
            F.col("rank") <= self.model.max_nodes
        )
        return _blocks(kept, nodes, count)


def _entries(state: DataFrame, nodes: Nodes) -> DataFrame:
    return entries_of(state, nodes).toDF("node", "walk", "value")


def _blocks(entries: DataFrame, nodes: Nodes, count: int) -> DataFrame:
    """From entries (node, walk, value) to a block for every part."""
    parts = nodes.parts
    placed = entries.select("node", "walk", "value", (F.col("node") % parts).cast("int").alias("part"))
    every = entries.sparkSession.range(parts).select(F.col("id").cast("int").alias("part"))

    def block(key: tuple[pa.Scalar, ...], _: pa.Table, table: pa.Table) -> pa.Table:
        part = key[0].as_py()
        rows = column(table, "node") // parts
        shape = (nodes.rows(part), count)
        vectors = Csr.from_triples(rows, column(table, "walk"), column(table, "value"), shape)
        return part_row(part, vectors=pack_csr(vectors))

    left = every.repartitionById(parts, "part").groupBy("part")
    return left.cogroup(placed.repartitionById(parts, "part").groupBy("part")).applyInArrow(block, BLOCK)
