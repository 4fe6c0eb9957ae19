"""Two implementations of propagation on Spark for the benchmark: ours, and one with DataFrames alone."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray
from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F

from benchmarks._shapes import ShapedGraph
from coclick.arrays.csr import Csr
from coclick.spark.matrix_product import MatrixProduct, TopKProduct, attach_plan
from coclick.spark.partitioned_matrix import partition
from coclick.spark.partitioning import NodeSet
from coclick.spark.serialization import pack_csr
from coclick.spark.session import coclick_session, default_max_degree, use_this_python
from coclick.spark.storage import WorkDir
from coclick.spark.vector_tables import vector_rows
from coclick.text.analyzer import Tokens
from coclick.text.term_matrix import count_terms, unit_rows

K = 20
_MEMORY = "6g"


@contextmanager
def local_session(threads: int) -> Iterator[tuple[SparkSession, Path]]:
    """Start a session on this machine; yield it and its directory, with the event log in `events`."""
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        (directory / "events").mkdir()
        settings = {
            "spark.driver.memory": _MEMORY,
            "spark.driver.host": "127.0.0.1",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.local.dir": str(directory / "local"),
            "spark.sql.shuffle.partitions": str(16 * threads),
            "spark.ui.enabled": "false",
            "spark.ui.showConsoleProgress": "false",
            "spark.log.level": "ERROR",
            "spark.eventLog.enabled": "true",
            "spark.eventLog.dir": str(directory / "events"),
            "spark.eventLog.compress": "false",
        }
        use_this_python()
        builder = SparkSession.builder.master(f"local[{threads}]").appName("benchmarks")
        for key, value in settings.items():
            builder = builder.config(key, value)
        session = builder.getOrCreate()
        try:
            yield session, directory
        finally:
            session.stop()


@dataclass(frozen=True)
class Problem:
    """Edges and initial vectors as tables on disk."""

    edges: DataFrame  # text, other, weight
    start: DataFrame  # id, term, value
    blocks: DataFrame  # the initial vectors by part
    texts: NodeSet
    others: NodeSet
    columns: int

    @classmethod
    def build(cls, spark: SparkSession, drawn: ShapedGraph, n_parts: int, place: Path) -> Problem:
        """Write the tables of a generated graph; its queries are the texts."""
        place.mkdir()
        clicks = drawn.clicks
        start = unit_rows(count_terms(Tokens(*drawn.query_words), drawn.words))
        pairs = {"text": row_numbers(clicks), "other": clicks.indices.astype(np.int64), "weight": clicks.data}
        entries = {"id": row_numbers(start), "term": start.indices, "value": start.data}
        texts, others = NodeSet(clicks.rows, n_parts), NodeSet(clicks.columns, n_parts)
        rows = [start.take(texts.ids(part).astype(np.int32)) for part in range(n_parts)]
        blocks = {
            "part": np.arange(n_parts, dtype=np.int32),
            "vectors": pa.array([pack_csr(block) for block in rows], pa.binary()),
        }
        return cls(
            _table(spark, place / "edges", pairs),
            _table(spark, place / "start", entries),
            _table(spark, place / "blocks", blocks),
            texts,
            others,
            drawn.words,
        )


class Ours:
    """The matrix products of `vpcg` on Spark."""

    def __init__(
        self, spark: SparkSession, problem: Problem, work: Path, max_degree: int | None = None
    ) -> None:
        self.work = WorkDir(coclick_session(spark), work.as_uri())
        self.problem = problem
        edges, texts, others = problem.edges, problem.texts, problem.others
        max_degree = max_degree or default_max_degree(edges.count(), texts.n_parts)
        to_others = partition(
            _directed(edges, "other", "text"), others, texts, self.work, "to-others", max_degree
        )
        to_texts = partition(
            _directed(edges, "text", "other"), texts, others, self.work, "to-texts", max_degree
        )
        self.start = self.work.checkpoint("start", attach_plan(problem.blocks, to_others))
        directions = (to_others, to_texts), (to_texts, to_others)
        steps = (MatrixProduct.build(self.work.spark, *both, problem.columns) for both in directions)
        self._kept = ExitStack()
        self.steps = [self._kept.enter_context(step.persisted(2)) for step in steps]

    def to_others(self, state: DataFrame) -> DataFrame:
        """Run the first half of an iteration."""
        return self.steps[0].run(state, TopKProduct(K), self.work, "others")

    def to_texts(self, state: DataFrame) -> DataFrame:
        """Run the second half of an iteration."""
        return self.steps[1].run(state, TopKProduct(K), self.work, "texts")

    def iteration(self) -> tuple[DataFrame, DataFrame]:
        """Run the first iteration; return the states of the others and of the texts."""
        others = self.to_others(self.start)
        return others, self.to_texts(others)

    def close(self) -> None:
        """Remove persisted tables from the executors."""
        self._kept.close()


class DataFrames:
    """Propagation with one row per entry: join, groupBy and window, without Python code."""

    def __init__(self, spark: SparkSession, problem: Problem, work: Path) -> None:
        self.spark, self.problem, self.work = spark, problem, work

    def iteration(self) -> tuple[DataFrame, DataFrame]:
        """Run the first iteration; return the entries of the others and of the texts."""
        others = self._step(self.problem.start, "text", "other", "others")
        return others, self._step(others, "other", "text", "texts")

    def _step(self, vectors: DataFrame, source: str, target: str, name: str) -> DataFrame:
        joined = self.problem.edges.join(vectors, F.col(source) == F.col("id"))
        sums = joined.groupBy(F.col(target).alias("id"), "term").agg(
            F.sum(F.col("weight") * F.col("value")).alias("value")
        )
        best = Window.partitionBy("id").orderBy(F.desc("value"), "term")
        kept = sums.withColumn("rank", F.row_number().over(best)).filter(F.col("rank") <= K)
        length = F.sqrt(F.sum(F.col("value") * F.col("value")).over(Window.partitionBy("id")))
        units = kept.select("id", "term", (F.col("value") / length).cast("float").alias("value"))
        path = (self.work / f"{name}-{time.monotonic_ns()}").as_uri()
        units.write.option("compression", "none").parquet(path)
        return self.spark.read.parquet(path)


def state_entries(state: DataFrame, nodes: NodeSet) -> DataFrame:
    """Convert one of our states to rows (id, term, value)."""
    rows = vector_rows(state, nodes).select("id", F.explode(F.arrays_zip("columns", "values")).alias("entry"))
    return rows.select("id", F.col("entry.columns").alias("term"), F.col("entry.values").alias("value"))


Entries = tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float32]]  # row, term, value


def sorted_entries(entries: DataFrame) -> Entries:
    """Return entries sorted by row and term."""
    table = entries.toArrow()
    row, term, value = (table[name].combine_chunks().to_numpy() for name in ("id", "term", "value"))
    order = np.lexsort((term, row))
    return row[order], term[order], value[order]


def compare(
    ours: Entries, theirs: Entries, ignored_rows: NDArray[np.int64] | None = None, tolerance: float = 1e-5
) -> str:
    """Compare the values of all rows except those in `ignored_rows` and describe the result.

    Different terms may be kept where several tie at the cutoff, because sums are rounded in another order.
    """
    if not np.array_equal(ours[0], theirs[0]):
        return "DIFFERENT row lengths"
    mine, other = (value[np.lexsort((value, row))] for row, _, value in (ours, theirs))
    compared = slice(None) if ignored_rows is None else ~np.isin(ours[0], ignored_rows)
    difference = float(np.abs(mine - other)[compared].max(initial=0))
    verdict = f"same values within {difference:.0e}" if difference < tolerance else "DIFFERENT values"
    rows, tied = len(np.unique(ours[0])), len(rows_with_other_terms(ours, theirs))
    return f"{verdict} in {rows:,} rows, {tied:,} of them keep other tied words"


def rows_with_other_terms(ours: Entries, theirs: Entries) -> NDArray[np.int64]:
    """Return the rows whose terms differ."""
    return np.unique(ours[0][ours[1] != theirs[1]]) if len(ours[0]) == len(theirs[0]) else np.unique(ours[0])


def minimum_bytes(weights: Csr, lengths: NDArray[np.int64], columns: int, n_parts: int) -> int:
    """Return the minimum traffic of a product: each source row once to each part that needs it."""
    routes = np.unique(weights.indices.astype(np.int64) * n_parts + row_numbers(weights) % n_parts)
    entry = 4 + (2 if columns <= 1 << 16 else 4)  # value and term id
    return int(2 * len(routes) + entry * lengths[routes // n_parts].sum())


def row_numbers(rows: Csr) -> NDArray[np.int64]:
    """Return the row of each entry."""
    return np.repeat(np.arange(rows.rows), rows.row_nnz())


def _table(spark: SparkSession, path: Path, columns: dict) -> DataFrame:
    pq.write_table(pa.table(columns), path, compression="none", row_group_size=500_000)
    return spark.read.parquet(path.as_uri())


def _directed(edges: DataFrame, target: str, source: str) -> DataFrame:
    return edges.select(F.col(target).alias("target"), F.col(source).alias("source"), "weight")
