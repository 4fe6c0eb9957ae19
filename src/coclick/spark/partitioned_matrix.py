"""A matrix of edges, cut once so that every later step only moves vectors.

A step computes rows of targets from rows of sources, `W @ X`, where an edge of W says that a target needs a
source. The edges of W lie with their targets, as `links`: sparse rows whose columns are places in what the
part will receive. The sources have `routes`: for each part the rows that it needs. So a vector travels once
to each part that needs it, however many edges wait for it there: the least that a cut of the nodes allows.

A target with more than `heavy` edges would make its part slow, and such a head is in every click log. Its
edges lie with their sources instead. There they are added up, and only one sum a part and heavy target
travels.

    kind     part        other       payload
    links    targets'                the links of the part
    route    sources'    targets'    which rows of `part` the part `other` needs
    heavy    sources'                the heavy targets, and which rows of `part` each of them sums
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
from coclick.spark.partitioning import Nodes
from coclick.spark.serialization import cells, column, csr_arrays, csr_of, pack, unpack
from coclick.spark.storage import Work

_PIECE = "part int, kind string, other int, payload binary"


@dataclass(frozen=True)
class Links:
    """The edges of one part's targets."""

    rows: Csr  # columns are places in what is received
    expected: NDArray[np.int64]  # rows from each part of the sources

    def pack(self) -> bytes:
        """As bytes."""
        return pack([self.expected, *csr_arrays(self.rows)])

    @classmethod
    def unpack(cls, payload: pa.Buffer | None, targets: int, parts: int) -> Links:
        """From bytes; nothing at all is a part without edges."""
        if payload is None:
            return cls(Csr.empty(targets, 0), np.zeros(parts, np.int64))
        expected, *arrays = unpack(payload)
        return cls(csr_of(arrays), expected)


@dataclass(frozen=True)
class Plan:
    """What one part of the sources sends to each part of the targets."""

    routes: dict[int, NDArray[np.int32]] = field(default_factory=dict)  # rows of this part
    heavy: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))  # targets
    sums: Csr | None = None  # for each heavy target the rows of this part that it sums, with their weights

    def pack(self) -> bytes:
        """As bytes."""
        sums = self.sums if self.sums is not None else Csr.empty(0, 0)
        order = list(self.routes)
        return pack(
            [
                self.heavy,
                *csr_arrays(sums),
                np.array(order, np.int64),
                *(self.routes[part] for part in order),
            ]
        )

    @classmethod
    def unpack(cls, payload: pa.Buffer | None) -> Plan:
        """From bytes; nothing at all is a part that nobody needs."""
        if payload is None:
            return cls()
        heavy, *rest = unpack(payload)
        sums, order, rows = csr_of(rest[:4]), rest[4], rest[5:]
        return cls(dict(zip(order.tolist(), rows, strict=True)), heavy, sums)

    @classmethod
    def gather(cls, pieces: pa.Table) -> Plan:
        """From the pieces of a part; pieces of other kinds do not matter."""
        routes: dict[int, NDArray[np.int32]] = {}
        heavy, sums = np.empty(0, np.int64), None
        for kind, other, payload in zip(
            pieces["kind"].to_pylist(), pieces["other"].to_pylist(), cells(pieces, "payload"), strict=True
        ):
            if kind == "route":
                routes[other] = unpack(payload)[0]
            elif kind == "heavy":
                heavy, *arrays = unpack(payload)
                sums = csr_of(arrays)
        return cls(dict(sorted(routes.items())), heavy, sums)

    def partial_sums(self, vectors: Csr) -> Csr:
        """For each heavy target the weighted sum of this part's vectors, with nothing pruned."""
        if self.sums is None or not len(self.heavy):
            return Csr.empty(0, vectors.columns)
        return thresholded_product(self.sums, vectors, np.zeros(self.sums.rows, np.float32)).rows


@dataclass(frozen=True)
class TextSplitter:
    """A matrix in pieces (part, kind, other, payload)."""

    targets: Nodes
    sources: Nodes
    links: DataFrame  # with the parts of the targets
    plans: DataFrame  # routes and heavy rows, with the parts of the sources


def piece(blocks: DataFrame, column: str) -> DataFrame:
    """A column of blocks as pieces, to lie with those of a cut; their kind is the column's name."""
    return blocks.select(
        "part", F.lit(column).alias("kind"), F.lit(-1).alias("other"), F.col(column).alias("payload")
    )


def cut(
    edges: DataFrame, targets: Nodes, sources: Nodes, work: Work, name: str, heavy: int | None = None
) -> TextSplitter:
    """Cut a matrix given as (target, source, weight); by default no row of it is heavy."""
    parts = targets.parts
    if heavy is not None and sources.count > heavy:  # a row has no more edges than sources
        placed = _with_heads(edges, heavy)
    else:
        placed = edges.withColumn("heavy", F.lit(False))
    home = F.when(F.col("heavy"), F.col("source")).otherwise(F.col("target"))
    placed = placed.withColumn("part", (home % parts).cast("int"))

    def blocks(key: tuple[pa.Scalar, ...], table: pa.Table) -> pa.Table:
        return _cut_part(key[0].as_py(), table, targets, sources)

    pieces = placed.repartitionById(parts, "part").groupBy("part").applyInArrow(blocks, _PIECE)
    pieces = work.saved(name, pieces)
    return TextSplitter(targets, sources, pieces.filter("kind = 'links'"), pieces.filter("kind <> 'links'"))


def _with_heads(edges: DataFrame, heavy: int) -> DataFrame:
    """The edges, with a mark on those of heavy targets. Of these there are few: at most edges / `heavy`."""
    counts = edges.groupBy("target").count()
    heads = counts.filter(F.col("count") > heavy).select("target", F.lit(True).alias("heavy"))
    joined = edges.join(F.broadcast(heads), "target", "left")
    return joined.withColumn("heavy", F.coalesce("heavy", F.lit(False)))


def _cut_part(part: int, table: pa.Table, targets: Nodes, sources: Nodes) -> pa.Table:
    """The links of a part's light targets with the routes to it, and the sums for heavy targets from it."""
    heavy = np.array(table["heavy"].combine_chunks().to_numpy(zero_copy_only=False))
    target, source = column(table, "target"), column(table, "source")
    weight = column(table, "weight").astype(np.float32)
    found = list(_light_blocks(part, target[~heavy], source[~heavy], weight[~heavy], targets, sources))
    if heavy.any():
        sums = _sums(target[heavy], source[heavy] // sources.parts, weight[heavy], sources.rows(part))
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


def _light_blocks(
    part: int,
    target: NDArray[np.int64],
    source: NDArray[np.int64],
    weight: NDArray[np.float32],
    targets: Nodes,
    sources: Nodes,
) -> Iterator[tuple[str, int, int, bytes]]:
    order = np.lexsort((source, target))  # sums add up in the order of ids, as on one machine
    target, source, weight = target[order], source[order], weight[order]
    home, row = source % sources.parts, source // sources.parts
    needed, places = np.unique(home << 32 | row, return_inverse=True)
    indptr = np.searchsorted(target // targets.parts, np.arange(targets.rows(part) + 1))
    links = Csr(indptr.astype(np.int64), places.astype(np.int32), weight, len(needed))
    expected = np.bincount(needed >> 32, minlength=sources.parts).astype(np.int64)
    yield "links", part, -1, Links(links, expected).pack()
    by_home = np.split((needed & 0xFFFFFFFF).astype(np.int32), np.cumsum(expected)[:-1])
    for other in np.flatnonzero(expected).tolist():
        yield "route", other, part, pack([by_home[other]])


def _sums(
    target: NDArray[np.int64], row: NDArray[np.int64], weight: NDArray[np.float32], rows: int
) -> tuple[NDArray[np.int64], Csr]:
    """Heavy targets, and for each the rows of this part that it sums."""
    order = np.lexsort((row, target))
    heads, counts = np.unique(target, return_counts=True)
    indptr = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    return heads, Csr(indptr, row[order].astype(np.int32), weight[order], rows)
