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

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from coclick.arrays.csr import Csr
from coclick.kernels.thresholded import thresholded_product
from coclick.spark.partitioning import NodeSet, by_part
from coclick.spark.serialization import buffers, csr_arrays, csr_from_arrays, pack, to_numpy, unpack
from coclick.spark.storage import WorkDir

_PIECE_SCHEMA = "part int, kind string, other int, payload binary"


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
        order = list(self.routes)
        return pack(
            [self.heavy, *csr_arrays(sums), np.array(order, np.int64), *(self.routes[part] for part in order)]
        )

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
        for kind, other, payload in zip(
            pieces["kind"].to_pylist(), pieces["other"].to_pylist(), buffers(pieces, "payload"), strict=True
        ):
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

    def blocks(key: tuple[pa.Scalar, ...], table: pa.Table) -> pa.Table:
        return _partition_part(key[0].as_py(), table, targets, sources)

    pieces = by_part(placed, n_parts).applyInArrow(blocks, _PIECE_SCHEMA)
    pieces = work.checkpoint(name, pieces)
    return PartitionedMatrix(
        targets, sources, pieces.filter("kind = 'local'"), pieces.filter("kind <> 'local'")
    )


def _mark_heavy(edges: DataFrame, max_degree: int) -> DataFrame:
    """Mark the edges of heavy targets; these are at most edges / `max_degree`, so a broadcast is cheap."""
    counts = edges.groupBy("target").count()
    heads = counts.filter(F.col("count") > max_degree).select("target", F.lit(True).alias("heavy"))
    joined = edges.join(F.broadcast(heads), "target", "left")
    return joined.withColumn("heavy", F.coalesce("heavy", F.lit(False)))


def _partition_part(part: int, table: pa.Table, targets: NodeSet, sources: NodeSet) -> pa.Table:
    """The local matrix of the part's light targets, the routes to it, and its sums for heavy targets."""
    heavy = np.array(table["heavy"].combine_chunks().to_numpy(zero_copy_only=False))
    target, source = to_numpy(table, "target"), to_numpy(table, "source")
    weight = to_numpy(table, "weight").astype(np.float32)
    found = list(_light_pieces(part, target[~heavy], source[~heavy], weight[~heavy], targets, sources))
    if heavy.any():
        sums = _heavy_sums(
            target[heavy], source[heavy] // sources.n_parts, weight[heavy], sources.n_rows(part)
        )
        found.append(("heavy", part, -1, pack([sums[0], *csr_arrays(sums[1])])))
    kinds, owners, others, payloads = zip(*found, strict=True) if found else ((), (), (), ())
    return pa.table(
        {
            "part": pa.array(owners, pa.int32()),
            "kind": pa.array(kinds, pa.string()),
            "other": pa.array(others, pa.int32()),
            "payload": pa.array(payloads, pa.binary()),
        }
    )


def _light_pieces(
    part: int,
    target: NDArray[np.int64],
    source: NDArray[np.int64],
    weight: NDArray[np.float32],
    targets: NodeSet,
    sources: NodeSet,
) -> Iterator[tuple[str, int, int, bytes]]:
    order = np.lexsort((source, target))  # sum in the order of ids, as on one machine
    target, source, weight = target[order], source[order], weight[order]
    home, row = source % sources.n_parts, source // sources.n_parts
    needed, columns = np.unique(home << 32 | row, return_inverse=True)
    indptr = np.searchsorted(target // targets.n_parts, np.arange(targets.n_rows(part) + 1))
    rows = Csr(indptr.astype(np.int64), columns.astype(np.int32), weight, len(needed))
    expected = np.bincount(needed >> 32, minlength=sources.n_parts).astype(np.int64)
    yield "local", part, -1, LocalMatrix(rows, expected).pack()
    by_home = np.split((needed & 0xFFFFFFFF).astype(np.int32), np.cumsum(expected)[:-1])
    for other in np.flatnonzero(expected).tolist():
        yield "route", other, part, pack([by_home[other]])


def _heavy_sums(
    target: NDArray[np.int64], row: NDArray[np.int64], weight: NDArray[np.float32], rows: int
) -> tuple[NDArray[np.int64], Csr]:
    """The heavy targets, and for each the rows of this part that it sums."""
    order = np.lexsort((row, target))
    heads, counts = np.unique(target, return_counts=True)
    indptr = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    return heads, Csr(indptr, row[order].astype(np.int32), weight[order], rows)
