"""A sparse matrix of edges, partitioned once so that each product only moves vectors.

A product computes rows of targets from rows of sources, `W @ X`. Each part of the targets holds its rows of W
as a local matrix, whose columns index the rows that the part receives. Each part of the sources has routes:
for each part of the targets the rows that it needs. So a vector is sent once to each part that needs it,
regardless of the number of edges: the minimum for a given partitioning of the nodes.

A target with more than `max_degree` edges would slow down its part, and every click log has such heads. The
edges of such a heavy target are stored with their sources instead. The sources sum them up and send one
partial sum per part and heavy target.

    kind     part        other       payload
    local    targets'                the local matrix of the part
    route    sources'    targets'    the rows of `part` that the part `other` needs
    heavy    sources'                the heavy targets, and the rows of `part` that each of them sums
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from coclick.arrays.csr import Csr
from coclick.kernels.thresholded import thresholded_product
from coclick.spark.partitioning import NodeSet, apply_to_parts, by_part
from coclick.spark.serialization import buffers, csr_arrays, csr_from_arrays, pack, to_numpy, unpack
from coclick.spark.storage import WorkDir

_PIECE_SCHEMA = "part int, kind string, other int, payload binary"
_PIECES = {"part": pa.int32(), "kind": pa.string(), "other": pa.int32(), "payload": pa.binary()}


@dataclass(frozen=True)
class LocalMatrix:
    """The rows of the matrix for the targets of one part."""

    rows: Csr  # columns index the received rows
    expected: NDArray[np.int64]  # number of rows received from each part of the sources

    def pack(self) -> bytes:
        """Serialize to bytes."""
        return pack([self.expected, *csr_arrays(self.rows)])

    @classmethod
    def unpack(cls, payload: pa.Buffer | None, targets: int, n_parts: int) -> LocalMatrix:
        """Deserialize; None is a part without edges."""
        if payload is None:
            return cls(Csr.empty(targets, 0), np.zeros(n_parts, np.int64))
        expected, *arrays = unpack(payload)
        return cls(csr_from_arrays(arrays), expected)


@dataclass(frozen=True)
class SendPlan:
    """The rows and partial sums that one part of the sources sends to each part of the targets."""

    routes: dict[int, NDArray[np.int32]] = field(default_factory=dict)  # part → rows to send
    heavy: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))  # targets
    sums: Csr | None = None  # weights: heavy targets × rows of this part

    def pack(self) -> bytes:
        """Serialize to bytes."""
        sums = self.sums if self.sums is not None else Csr.empty(0, 0)
        order = np.array(list(self.routes), np.int64)
        return pack([self.heavy, *csr_arrays(sums), order, *self.routes.values()])

    @classmethod
    def unpack(cls, payload: pa.Buffer | None) -> SendPlan:
        """Deserialize; None is a part that sends nothing."""
        if payload is None:
            return cls()
        heavy, *rest = unpack(payload)
        sums, order, rows = csr_from_arrays(rest[:4]), rest[4], rest[5:]
        return cls(dict(zip(order.tolist(), rows, strict=True)), heavy, sums)

    @classmethod
    def from_pieces(cls, pieces: pa.Table) -> SendPlan:
        """Collect the plan from the pieces of a part; ignores pieces of other kinds."""
        routes: dict[int, NDArray[np.int32]] = {}
        heavy, sums = np.empty(0, np.int64), None
        kinds, others = pieces["kind"].to_pylist(), pieces["other"].to_pylist()
        for kind, other, payload in zip(kinds, others, buffers(pieces, "payload"), strict=True):
            if kind == "route":
                routes[other] = unpack(payload)[0]
            elif kind == "heavy":
                heavy, *arrays = unpack(payload)
                sums = csr_from_arrays(arrays)
        return cls(dict(sorted(routes.items())), heavy, sums)

    def partial_sums(self, vectors: Csr) -> Csr:
        """Return the weighted sum of this part's vectors for each heavy target, without pruning."""
        if self.sums is None or not len(self.heavy):
            return Csr.empty(0, vectors.columns)
        return thresholded_product(self.sums, vectors, np.zeros(self.sums.rows, np.float32)).rows


@dataclass(frozen=True)
class PartitionedMatrix:
    """A matrix as a table of pieces (part, kind, other, payload)."""

    targets: NodeSet
    sources: NodeSet
    local: DataFrame  # local matrices, by part of the targets
    plans: DataFrame  # routes and heavy rows, by part of the sources


def as_edges(frame: DataFrame, target: str, source: str, weight: Column | str = "weight") -> DataFrame:
    """Return a frame as edges (target, source, weight), given the columns of both ends and the weight."""
    value = F.col(weight) if isinstance(weight, str) else weight
    ends = F.col(target).alias("target"), F.col(source).alias("source")
    return frame.select(*ends, value.cast("float").alias("weight"))


def as_pieces(blocks: DataFrame, column: str) -> DataFrame:
    """Convert a column of blocks to pieces whose kind is the name of the column."""
    return blocks.select(
        "part", F.lit(column).alias("kind"), F.lit(-1).alias("other"), F.col(column).alias("payload")
    )


def partition(
    edges: DataFrame,
    targets: NodeSet,
    sources: NodeSet,
    work: WorkDir,
    name: str,
    max_degree: int | None = None,
) -> PartitionedMatrix:
    """Partition a matrix of edges (target, source, weight); by default no target is heavy."""
    n_parts = targets.n_parts
    if max_degree is not None and sources.n_nodes > max_degree:  # a degree is at most the number of sources
        placed = _mark_heavy(edges, max_degree)
    else:
        placed = edges.withColumn("heavy", F.lit(False))
    home = F.when(F.col("heavy"), F.col("source")).otherwise(F.col("target"))
    placed = placed.withColumn("part", (home % n_parts).cast("int"))
    pieces_of_part = partial(_partition_part, targets, sources)
    pieces = work.checkpoint(name, apply_to_parts(pieces_of_part, _PIECE_SCHEMA, by_part(placed, n_parts)))
    local = F.col("kind") == "local"
    return PartitionedMatrix(targets, sources, pieces.filter(local), pieces.filter(~local))


def _mark_heavy(edges: DataFrame, max_degree: int) -> DataFrame:
    """Mark the edges of heavy targets; these are at most edges / `max_degree`, so a broadcast is cheap."""
    counts = edges.groupBy("target").count()
    heads = counts.filter(F.col("count") > max_degree).select("target", F.lit(True).alias("heavy"))
    joined = edges.join(F.broadcast(heads), "target", "left")
    return joined.withColumn("heavy", F.coalesce("heavy", F.lit(False)))


def _partition_part(targets: NodeSet, sources: NodeSet, part: int, table: pa.Table) -> pa.Table:
    """The local matrix of the part's light targets, the routes to it, and its sums for heavy targets."""
    heavy = np.array(table["heavy"].combine_chunks().to_numpy(zero_copy_only=False))
    target, source = to_numpy(table, "target"), to_numpy(table, "source")
    weight = to_numpy(table, "weight").astype(np.float32)
    found = list(_light_pieces(part, target[~heavy], source[~heavy], weight[~heavy], targets, sources))
    if heavy.any():
        rows = source[heavy] // sources.n_parts
        heads, sums = _heavy_sums(target[heavy], rows, weight[heavy], sources.n_rows(part))
        found.append((part, "heavy", -1, pack([heads, *csr_arrays(sums)])))
    columns = zip(*found, strict=True) if found else [()] * len(_PIECES)
    arrays = [pa.array(values, kind) for values, kind in zip(columns, _PIECES.values(), strict=True)]
    return pa.table(dict(zip(_PIECES, arrays, strict=True)))


def _light_pieces(
    part: int,
    target: NDArray[np.int64],
    source: NDArray[np.int64],
    weight: NDArray[np.float32],
    targets: NodeSet,
    sources: NodeSet,
) -> Iterator[tuple[int, str, int, bytes]]:
    order = np.lexsort((source, target))  # sum in the order of ids, as on one machine
    target, source, weight = target[order], source[order], weight[order]
    home, row = source % sources.n_parts, source // sources.n_parts
    needed, columns = np.unique(home << 32 | row, return_inverse=True)
    indptr = np.searchsorted(target // targets.n_parts, np.arange(targets.n_rows(part) + 1))
    rows = Csr(indptr.astype(np.int64), columns.astype(np.int32), weight, len(needed))
    expected = np.bincount(needed >> 32, minlength=sources.n_parts).astype(np.int64)
    yield part, "local", -1, LocalMatrix(rows, expected).pack()
    by_home = np.split((needed & 0xFFFFFFFF).astype(np.int32), np.cumsum(expected)[:-1])
    for other in np.flatnonzero(expected).tolist():
        yield other, "route", part, pack([by_home[other]])


def _heavy_sums(
    target: NDArray[np.int64], row: NDArray[np.int64], weight: NDArray[np.float32], rows: int
) -> tuple[NDArray[np.int64], Csr]:
    """The heavy targets, and for each the rows of this part that it sums."""
    order = np.lexsort((row, target))
    heads, counts = np.unique(target, return_counts=True)
    indptr = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    return heads, Csr(indptr, row[order].astype(np.int32), weight[order], rows)
