"""`rw` on Spark: walks from many queries at once.

Queries and documents are one set of nodes, documents behind queries. The vector of a node says how likely
each walk is there, and a step of all walks is one product with

    A = ( s·1        (1 − s)·P_Q )
        ( (1 − s)·P_D        s·1 )

Training has nothing to learn but the sums by which transitions are scaled.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F

from coclick.models.rw import RandomWalk
from coclick.spark.graph import SparkGraph
from coclick.spark.learned import Learned
from coclick.spark.links import HEAVY, Cut, cut
from coclick.spark.parts import Nodes
from coclick.spark.payload import cells, column, pack_csr, unpack_csr
from coclick.spark.step import Step, Sum
from coclick.spark.storage import Output, Work
from coclick.spark.vectors import with_plan
from coclick.spark.words import BLOCK
from coclick.sparse import Csr

_ENTRIES = "node long, walk long, value float"


def learn(model: RandomWalk, graph: SparkGraph, out: Output, parts: int, heavy: int) -> Learned:
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

    def run(self, starts: DataFrame, count: int, parts: int, work: Work) -> DataFrame:
        """Where walks (walk, node) are in the end among documents: (walk, doc, score)."""
        nodes = Nodes(self.queries + self.docs, parts)
        matrix = cut(self._transitions(), nodes, nodes, work, "transitions", HEAVY)
        step = Step.of(self.spark, matrix, matrix, count)
        entries = starts.select("node", "walk", F.lit(1.0).cast("float").alias("value"))
        state = with_plan(_blocks(entries, nodes, count), matrix, work, "walks-0")
        for number in range(1, self.model.t + 1):
            if number > 1:
                state = self._pruned(state, nodes, count, work, matrix, number)
            state = step.run(state, Sum(), work, f"walks-{number}")
        found = state.mapInArrow(_Entries(nodes), _ENTRIES).filter(F.col("node") >= self.queries)
        doc = (F.col("node") - self.queries).alias("doc")
        return found.select("walk", doc, F.col("value").alias("score"))

    def _transitions(self) -> DataFrame:
        """The matrix A as (target, source, weight)."""
        stay, move = self.model.s, 1 - self.model.s
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

    def _pruned(
        self, state: DataFrame, nodes: Nodes, count: int, work: Work, matrix: Cut, number: int
    ) -> DataFrame:
        """Only the `keep` largest entries of each walk and side go on; mostly there are fewer."""
        entries = state.mapInArrow(_Entries(nodes), _ENTRIES).withColumn(
            "side", F.col("node") >= self.queries
        )
        most = entries.groupBy("walk", "side").count().agg(F.max("count")).collect()[0][0] or 0
        if most <= self.model.keep:
            return state
        order = Window.partitionBy("walk", "side").orderBy(F.desc("value"), "node")
        kept = entries.withColumn("rank", F.row_number().over(order)).filter(F.col("rank") <= self.model.keep)
        return with_plan(_blocks(kept, nodes, count), matrix, work, f"pruned-{number}")


@dataclass(frozen=True)
class _Entries:
    """From blocks to entries."""

    nodes: Nodes

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for part, payload in zip(batch["part"].to_pylist(), cells(batch, "vectors"), strict=True):
                rows = unpack_csr(payload)
                ids = np.repeat(self.nodes.ids(part), rows.lengths())
                yield pa.record_batch(
                    {
                        "node": pa.array(ids),
                        "walk": pa.array(rows.indices.astype(np.int64)),
                        "value": pa.array(rows.data),
                    }
                )


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
        return pa.table(
            {"part": pa.array([part], pa.int32()), "vectors": pa.array([pack_csr(vectors)], pa.binary())}
        )

    left = every.repartitionById(parts, "part").groupBy("part")
    return left.cogroup(placed.repartitionById(parts, "part").groupBy("part")).applyInArrow(block, BLOCK)
