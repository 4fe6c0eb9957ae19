"""`rmls` on Spark: the half-rounds of `coclick.solvers.rmls`, each a chain of three steps.

The map of queries' features is Ω = Qᵀ W D L_y, thresholded row by row: L_y travels from the features to the
documents that have them, those images along the clicks to queries, and from there to the queries' features.
For the map of documents' features the chain is the same the other way round.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from coclick.arrays.csr import Csr
from coclick.errors import UserError
from coclick.jit.threads import set_threads
from coclick.kernels.thresholded import thresholded_product
from coclick.models.projection._base import MIN_NORM
from coclick.models.projection.rmls import RMLS
from coclick.solvers.rmls import Penalty, random_rows_of
from coclick.spark.features import Featured, Side, featurise
from coclick.spark.graph import SparkGraph
from coclick.spark.learned import Learned, csr_entry
from coclick.spark.links import TextSplitter, cut
from coclick.spark.parts import Nodes
from coclick.spark.payload import cells, pack, pack_csr, part_row, unpack, unpack_csr
from coclick.spark.step import Step, Sum
from coclick.spark.storage import Output, Work
from coclick.spark.vectors import rows_of
from coclick.spark.words import BLOCK
from coclick.text.analyzer import Analyzer

_MAP = "part int, vectors binary, thresholds binary, entries long"


def fit(model: RMLS, graph: SparkGraph, out: Output, parts: int, heavy: int) -> Learned:
    """Run the half-rounds, and make the images of everything."""
    _check(model)
    analyzer = Analyzer(model.language, model.stem, model.remove_stop_words)
    found = featurise(graph, model.views, analyzer, model.fields, out, parts)
    chain = _Chain(model, graph, found, out.work, heavy)
    halves = round(2 * model.iterations)
    maps = chain.half_rounds(halves)
    state: dict[str, Any] = {"features_": found.entry, "approximate_": {"type": "json", "value": None}}
    for name, side, learned in (("query", found.queries, maps[0]), ("doc", found.docs, maps[1])):
        out.table(f"{name}_vectors", chain.images(side, learned, name))
        out.table(f"{name}_map", rows_of(learned, side.features))
        out.table(f"{name}_features", _feature_rows(side))
        shape = side.features.count, model.dim
        matrix = csr_entry(f"{name}_map", *shape)
        longest = {"type": "json", "value": model.theta}
        state |= {
            f"{name}_map_": {"type": "SparseMap", "fields": {"matrix": matrix, "longest": longest}},
            f"{name}_features_": csr_entry(f"{name}_features", side.nodes.count, side.features.count),
            f"{name}_index_": {
                "type": "DenseIndex",
                "built_from": {**csr_entry(f"{name}_vectors", side.nodes.count, model.dim), "type": "dense"},
            },
        }
    return Learned(state, {"chosen_rounds": halves / 2})


def _check(model: RMLS) -> None:
    """Raise for what runs on one machine only."""
    if model.held_out:
        raise UserError(
            "rmls chooses its rounds by held-out clicks on one machine only",
            hint="say how many: rmls(held_out=0,iterations=0.5)",
        )
    if model.index != "exact":
        raise UserError("index=approximate is built on one machine only", hint="index=exact")


@dataclass(frozen=True)
class _Chain:
    """The matrices between features, documents and queries."""

    model: RMLS
    graph: SparkGraph
    found: Featured
    work: Work
    heavy: int

    def half_rounds(self, halves: int) -> list[DataFrame]:
        """The maps of queries' and of documents' features after so many half-rounds."""
        model, queries, docs = self.model, self.found.queries, self.found.docs
        start = _random_map(self.graph.spark, docs.features, model.dim, model.theta, model.seed)
        maps: list[DataFrame] = [start, start]
        thresholds: list[DataFrame | None] = [None, None]
        ways = [
            self._way(docs, queries, "q", "d"),
            self._way(queries, docs, "d", "q") if halves > 1 else None,
        ]
        for half in range(halves):
            own, other = half % 2, 1 - half % 2
            way = ways[own]
            assert way is not None
            rows = way(maps[other], f"half-{half + 1}")
            side = (queries, docs)[own]
            after = _thresholded(rows, thresholds[own], side.features, model)
            saved = self.work.saved(f"map-{half + 1}", after)
            if not saved.agg(F.sum("entries")).collect()[0][0]:
                name, used = (
                    ("threshold", model.threshold)
                    if model.threshold > 0
                    else ("relative_threshold", model.relative_threshold)
                )
                raise UserError(f"{name}={used:g} leaves nothing of the maps", hint=f"a smaller {name}")
            maps[own], thresholds[own] = saved.select("part", "vectors"), saved.select("part", "thresholds")
        return maps

    def images(self, side: Side, map_rows: DataFrame, name: str) -> DataFrame:
        """The images of a side's nodes as a table; faint ones are zero."""
        to_nodes = self._cut(side, "node", f"{name}-images")
        images = self._run(map_rows, [to_nodes], f"{name}-images")
        return rows_of(images, side.nodes, _Faint(MIN_NORM * self.model.theta))

    def _way(self, start: Side, end: Side, target: str, source: str) -> Callable[[DataFrame, str], DataFrame]:
        """From the features of one side to those of the other."""
        clicks = self._clicks(target, source)
        cuts = (
            self._cut(start, "node", f"{source}-nodes"),
            cut(clicks, end.nodes, start.nodes, self.work, f"{target}-clicks", self.heavy),
            self._cut(end, "feature", f"{target}-features"),
        )
        return lambda rows, name: self._run(rows, cuts, name)

    def _run(self, rows: DataFrame, cuts: Sequence[TextSplitter], name: str) -> DataFrame:
        """Rows times one matrix after the other."""
        state = rows
        for number, matrix in enumerate(cuts):
            then = cuts[number + 1] if number + 1 < len(cuts) else None
            step = Step.of(self.graph.spark, matrix, then, self.model.dim)
            run = step.run if number else step.run_from
            state = run(state, Sum(), self.work, f"{name}-{number}")
        return state.select("part", "vectors")

    def _cut(self, side: Side, target: str, name: str) -> TextSplitter:
        """Between nodes and their features, one way or the other."""
        source = "feature" if target == "node" else "node"
        edges = side.entries.select(F.col(target).alias("target"), F.col(source).alias("source"), "weight")
        ends = (side.nodes, side.features) if target == "node" else (side.features, side.nodes)
        return cut(edges, *ends, self.work, name, self.heavy)

    def _clicks(self, target: str, source: str) -> DataFrame:
        """The weights of clicked pairs, as `models.projection.click_evidence.weight_clicks` has them."""
        edges = self.graph.table("edges")
        clicks = F.col("clicks").cast("double")
        if self.model.weight == "degree":
            edges = edges.join(edges.groupBy("q").agg(F.count("*").alias("degree")), "q")
            weight = clicks / F.col("degree")
        else:
            weight = {"log1p": F.log1p(clicks), "log": F.log(clicks), "clicks": clicks}[self.model.weight]
        chosen = edges.select(
            F.col(target).alias("target"), F.col(source).alias("source"), weight.cast("float").alias("weight")
        )
        return chosen.filter("weight > 0")


def _random_map(spark: Any, nodes: Nodes, dim: int, theta: float, seed: int) -> DataFrame:
    """The rows that `random_rows` draws, each part its own."""

    def draw(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for part in batch["part"].to_pylist():
                rows = random_rows_of(nodes.count, dim, theta, seed, part, nodes.parts)
                yield from part_row(part, vectors=pack_csr(rows)).to_batches()

    parts = spark.range(0, nodes.parts, 1, nodes.parts).select(F.col("id").cast("int").alias("part"))
    return parts.mapInArrow(draw, BLOCK)


def _thresholded(rows: DataFrame, before: DataFrame | None, nodes: Nodes, model: RMLS) -> DataFrame:
    """Rows of Ω, thresholded and scaled: a map, with the thresholds that stay from now on."""
    penalty, parts = Penalty(model.relative_threshold, model.threshold, model.theta), nodes.parts
    empty = rows.select("part", F.lit(None).cast("binary").alias("thresholds"))
    known = empty if before is None else before

    def cut_rows(key: tuple[pa.Scalar, ...], table: pa.Table, old: pa.Table) -> pa.Table:
        set_threads(1)
        part = key[0].as_py()
        omega = unpack_csr(cells(table, "vectors")[0])
        payload = cells(old, "thresholds")[0]
        thresholds = penalty.start(omega.rows) if payload is None else unpack(payload)[0]
        found = thresholded_product(_identity(omega.rows), omega, thresholds, penalty.b, penalty.theta)
        row = part_row(part, vectors=pack_csr(found.rows), thresholds=pack([found.thresholds]))
        return row.append_column("entries", pa.array([found.rows.nnz], pa.int64()))

    left, right = (frame.repartitionById(parts, "part").groupBy("part") for frame in (rows, known))
    return left.cogroup(right).applyInArrow(cut_rows, _MAP)


def _identity(rows: int) -> Csr:
    ones = np.ones(rows, np.float32)
    return Csr(np.arange(rows + 1, dtype=np.int64), np.arange(rows, dtype=np.int32), ones, rows)


@dataclass(frozen=True)
class _Faint:
    """Images that are no longer than rounding are zero."""

    length: float

    def __call__(self, rows: Csr) -> Csr:
        """The same rows without them."""
        lengths: NDArray[np.float64] = np.sqrt(rows.with_data(rows.data * rows.data).row_sums())
        return rows.take(np.where(lengths > self.length, np.arange(rows.rows), -1))


def _feature_rows(side: Side) -> DataFrame:
    """The features of every node as two lists, empty where it has none."""
    entries = F.sort_array(F.collect_list(F.struct(F.col("feature").cast("int").alias("feature"), "weight")))
    rows = side.entries.groupBy(F.col("node").alias("id")).agg(entries.alias("entries"))
    every = side.entries.sparkSession.range(side.nodes.count).join(rows, "id", "left")
    return every.select(
        "id",
        F.coalesce(F.col("entries.feature"), F.array().cast("array<int>")).alias("columns"),
        F.coalesce(F.col("entries.weight"), F.array().cast("array<float>")).alias("values"),
    )
