"""One step: rows of sources travel along the routes, and each part of the targets adds up what arrives.

    state ──emit──▶ messages ──shuffle──▶ absorb (with the links that lie there) ──▶ state, on disk

A state is one row a part: its vectors, and the plan of the next step. It is written to the work directory
after every step, so that a worker that dies costs the step it was in and no more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import DataFrame, GroupedData, SparkSession
from pyspark.sql import functions as F
from pyspark.storagelevel import StorageLevel

from coclick.arrays.csr import Csr, vstack, where
from coclick.jit.threads import set_threads
from coclick.kernels.packed import MOST_ENTRIES, PackedRows
from coclick.kernels.propagation import propagate
from coclick.kernels.thresholded import thresholded_product
from coclick.spark.partitioned_matrix import Links, Plan, TextSplitter, piece
from coclick.spark.serialization import (
    cells,
    cells_by,
    csr_arrays,
    csr_of,
    pack,
    pack_csr,
    part_row,
    unpack,
    unpack_csr,
)
from coclick.spark.storage import Work, cleaning

Kernel = Callable[[Csr, Csr], Csr]  # from weights and rows to the weighted sums, as the model wants them

STATE = "part int, vectors binary, plan binary"
MESSAGE = "part int, sender int, payload binary"


@dataclass(frozen=True)
class TopK:
    """norm(top_K(W X)) by the local kernel."""

    k: int

    def __call__(self, weights: Csr, rows: Csr) -> Csr:
        """The rows of targets."""
        return propagate(weights, PackedRows.from_csr(rows), self.k).to_csr()


@dataclass(frozen=True)
class Sum:
    """W X itself, with rows of any length."""

    def __call__(self, weights: Csr, rows: Csr) -> Csr:
        """The rows of targets."""
        return thresholded_product(weights, rows, np.zeros(weights.rows, np.float32)).rows


@dataclass(frozen=True)
class Step:
    """A step that can be run any number of times: its links, with what the targets send afterwards."""

    edges: TextSplitter
    pieces: DataFrame  # part, kind, other, payload: links, and the plan of the next step
    columns: int  # of vectors

    @classmethod
    def of(cls, spark: SparkSession, edges: TextSplitter, then: TextSplitter | None, columns: int) -> Step:
        """Lay links and plans side by side, each part on one executor."""
        parts = edges.targets.parts
        every = spark.range(parts).select(
            F.col("id").cast("int").alias("part"),
            F.lit("part").alias("kind"),
            F.lit(-1).alias("other"),
            F.lit(None).cast("binary").alias("payload"),
        )
        pieces = every.union(edges.links)
        if then is not None:
            pieces = pieces.union(then.plans)
        return cls(edges, pieces.repartitionById(parts, "part"), columns)

    @contextmanager
    def repeated(self, times: int) -> Iterator[Step]:
        """The step, to be run so many times: if more than once, links and plans stay on the executors."""
        if times <= 1:
            yield self
            return
        with on_executors(self.pieces) as pieces:
            yield replace(self, pieces=pieces)

    def run(self, state: DataFrame, kernel: Kernel, work: Work, name: str) -> DataFrame:
        """The state of the targets after the step, as read from where it was written."""
        messages = state.mapInArrow(Emit(self.edges.targets.parts), MESSAGE)
        return self._absorbed(messages, kernel, work, name)

    def run_from(self, blocks: DataFrame, kernel: Kernel, work: Work, name: str) -> DataFrame:
        """The same from blocks of vectors that have no plan yet."""
        return self._absorbed(messages_of(blocks, self.edges), kernel, work, name)

    def _absorbed(self, messages: DataFrame, kernel: Kernel, work: Work, name: str) -> DataFrame:
        targets, columns, senders = self.edges.targets, self.columns, self.edges.sources.parts

        def absorb(key: tuple[pa.Scalar, ...], pieces: pa.Table, messages: pa.Table) -> pa.Table:
            set_threads(1)
            part = key[0].as_py()
            links = Links.unpack(cells_by(pieces, "kind").get("links"), targets.rows(part), senders)
            return state_table(part, _absorb(links, messages, kernel, columns), Plan.gather(pieces))

        arrived = messages.repartitionById(targets.parts, "part").groupBy("part")
        absorbed = self.pieces.groupBy("part").cogroup(arrived).applyInArrow(absorb, STATE)
        return work.saved(name, absorbed)


@contextmanager
def on_executors(frame: DataFrame) -> Iterator[DataFrame]:
    """The frame, computed once and on the executors' disks for as long as it is needed, whatever happens."""
    kept = frame.persist(StorageLevel.DISK_ONLY)
    with cleaning(kept.unpersist):
        yield kept


def state_table(part: int, vectors: Csr, plan: Plan) -> pa.Table:
    """The state of a part as a table of one row."""
    return part_row(part, vectors=pack_csr(vectors), plan=plan.pack())


@dataclass(frozen=True)
class Emit:
    """From states to messages, one for each part that needs something."""

    parts: int

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """For `mapInArrow`."""
        set_threads(1)
        for batch in batches:
            for part, vectors, plan in zip(
                batch["part"].to_pylist(), cells(batch, "vectors"), cells(batch, "plan"), strict=True
            ):
                yield from _messages(part, unpack_csr(vectors), Plan.unpack(plan), self.parts)


def with_plan(blocks: DataFrame, then: TextSplitter) -> DataFrame:
    """Blocks of vectors as a state from which a step can start."""

    def state(key: tuple[pa.Scalar, ...], pieces: pa.Table) -> pa.Table:
        return state_table(key[0].as_py(), _vectors(pieces), Plan.gather(pieces))

    return _beside_plans(blocks, then).applyInArrow(state, STATE)


def messages_of(blocks: DataFrame, edges: TextSplitter) -> DataFrame:
    """What blocks of vectors send along edges."""
    parts = edges.targets.parts

    def send(key: tuple[pa.Scalar, ...], pieces: pa.Table) -> pa.Table:
        set_threads(1)
        messages = _messages(key[0].as_py(), _vectors(pieces), Plan.gather(pieces), parts)
        return pa.Table.from_batches(messages, message(0, 0, b"").schema)

    return _beside_plans(blocks, edges).applyInArrow(send, MESSAGE)


def _beside_plans(blocks: DataFrame, edges: TextSplitter) -> GroupedData:
    together = piece(blocks, "vectors").union(edges.plans)
    return together.repartitionById(edges.sources.parts, "part").groupBy("part")


def _vectors(pieces: pa.Table) -> Csr:
    return unpack_csr(cells_by(pieces, "kind")["vectors"])


def message(receiver: int, sender: int, payload: bytes) -> pa.RecordBatch:
    """One message."""
    return pa.record_batch(
        {
            "part": pa.array([receiver], pa.int32()),
            "sender": pa.array([sender], pa.int32()),
            "payload": pa.array([payload], pa.binary()),
        }
    )


def _messages(sender: int, vectors: Csr, plan: Plan, parts: int) -> Iterator[pa.RecordBatch]:
    """For each receiver the vectors it needs, and partial sums of its heavy rows."""
    sums = plan.partial_sums(vectors)
    homes = plan.heavy % parts
    for receiver in sorted({*plan.routes, *np.unique(homes).tolist()}):
        chosen = vectors.take(plan.routes.get(receiver, np.empty(0, np.int32)))
        own = np.flatnonzero(homes == receiver)
        rows = (plan.heavy[own] // parts).astype(np.int32)
        yield message(receiver, sender, pack([*csr_arrays(chosen), rows, *csr_arrays(sums.take(own))]))


def received_rows(links: Links, messages: pa.Table, columns: int) -> Csr:
    """What arrived, in the order that the links' columns count."""
    return _receive(links, messages, columns)[0]


def _receive(links: Links, messages: pa.Table, columns: int) -> tuple[Csr, NDArray[np.int32], Csr]:
    """The rows that the links want, and heavy rows with their partial sums."""
    empty = Csr.empty(0, columns)
    received: dict[int, Csr] = {}
    heavy_rows, heavy_sums = [np.empty(0, np.int32)], [empty]
    arrived = cells_by(messages, "sender")
    for sender in sorted(arrived):  # sums add up in the same order, whatever order messages arrive in
        arrays = unpack(arrived[sender])
        received[sender] = csr_of(arrays[:4])
        heavy_rows.append(arrays[4])
        heavy_sums.append(csr_of(arrays[5:]))
    parts = [received.get(sender, empty) for sender in range(len(links.expected))]
    if [part.rows for part in parts] != links.expected.tolist():
        raise RuntimeError("what arrived is not what the routes promise")
    return vstack(empty, *parts), np.concatenate(heavy_rows), vstack(*heavy_sums)


def _absorb(links: Links, messages: pa.Table, kernel: Kernel, columns: int) -> Csr:
    """The rows of a part's targets from what arrived."""
    received, heavy_rows, heavy_sums = _receive(links, messages, columns)
    vectors = kernel(links.rows, received)
    if not len(heavy_rows):
        return vectors
    heads, sums = _add_up(heavy_rows, heavy_sums, kernel)
    light = np.ones(vectors.rows, bool)
    light[heads] = False
    return where(light, vectors, sums)


def _add_up(rows: NDArray[np.int32], sums: Csr, kernel: Kernel) -> tuple[NDArray[np.int32], Csr]:
    """The heavy rows and their vectors, from partial sums. A sum too long for a packed row is several."""
    pieces, lengths = -(-sums.row_nnz() // MOST_ENTRIES), sums.row_nnz()
    starts = np.concatenate([np.arange(n) * MOST_ENTRIES for n in pieces]) if len(pieces) else pieces
    owner = np.repeat(np.arange(sums.rows), pieces)
    ends = np.minimum(starts + MOST_ENTRIES, lengths[owner]) - starts
    cut = Csr(np.concatenate([[0], np.cumsum(ends)]).astype(np.int64), sums.indices, sums.data, sums.columns)
    heads = np.unique(rows)
    target = rows[owner]
    order = np.argsort(target, kind="stable").astype(np.int32)
    indptr = np.searchsorted(target[order], np.append(heads, heads[-1] + 1)).astype(np.int64)
    ones = np.ones(len(order), np.float32)
    return heads, kernel(Csr(indptr, order, ones, cut.rows), cut)
