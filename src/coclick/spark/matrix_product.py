"""Multiply a partitioned matrix with vectors: sources send rows, and targets sum what they receive.

    state ──emit──▶ messages ──shuffle──▶ multiply by the local matrix ──▶ state, on disk

A state has one row per part: its vectors and the send plan of the next product. It is written to the work
directory after every product, so a lost worker costs one product at most.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import DataFrame, GroupedData, SparkSession
from pyspark.storagelevel import StorageLevel

from coclick.arrays.csr import Csr, fill_rows, vstack
from coclick.kernels.packed import MAX_ENTRIES, PackedRows
from coclick.kernels.propagation import propagate
from coclick.kernels.thresholded import thresholded_product
from coclick.spark.partitioned_matrix import LocalMatrix, PartitionedMatrix, SendPlan, as_pieces
from coclick.spark.partitioning import apply_to_parts, by_part
from coclick.spark.serialization import (
    buffers_by,
    csr_arrays,
    csr_from_arrays,
    map_parts,
    pack,
    pack_csr,
    part_row,
    unpack,
    unpack_csr,
)
from coclick.spark.storage import WorkDir, cleanup

Kernel = Callable[[Csr, Csr], Csr]  # (weights, received rows) → rows of targets

STATE_SCHEMA = "part int, vectors binary, plan binary"
MESSAGE_SCHEMA = "part int, sender int, payload binary"


@dataclass(frozen=True)
class TopKProduct:
    """norm(top_K(W X)) by the kernel of the local engine."""

    k: int

    def __call__(self, weights: Csr, rows: Csr) -> Csr:
        """Return the rows of the targets."""
        return propagate(weights, PackedRows.from_csr(rows), self.k).to_csr()


def plain_product(weights: Csr, rows: Csr) -> Csr:
    """Return W X, without pruning."""
    return thresholded_product(weights, rows, np.zeros(weights.rows, np.float32)).rows


@dataclass(frozen=True)
class MatrixProduct:
    """A product that can be run repeatedly: local matrices, and the send plans of the next product."""

    matrix: PartitionedMatrix
    pieces: DataFrame  # part, kind, other, payload: local matrices and plans
    columns: int  # of vectors

    @classmethod
    def build(
        cls, spark: SparkSession, matrix: PartitionedMatrix, then: PartitionedMatrix | None, columns: int
    ) -> MatrixProduct:
        """Co-locate local matrices and the plans of the next product, each part on one executor."""
        n_parts = matrix.targets.n_parts
        every = spark.range(n_parts).selectExpr("int(id) AS part", "binary(NULL) AS part_alone")
        pieces = as_pieces(every, "part_alone").union(matrix.local)
        if then is not None:
            pieces = pieces.union(then.plans)
        return cls(matrix, pieces.repartitionById(n_parts, "part"), columns)

    @contextmanager
    def persisted(self, times: int) -> Iterator[MatrixProduct]:
        """Keep local matrices and plans on the executors if the product runs more than once."""
        if times <= 1:
            yield self
            return
        with persist_on_disk(self.pieces) as pieces:
            yield replace(self, pieces=pieces)

    def run(self, state: DataFrame, kernel: Kernel, work: WorkDir, name: str) -> DataFrame:
        """Return the state of the targets, written to the work directory and read back."""
        n_parts = self.matrix.targets.n_parts

        def emit(part: int, vectors: pa.Buffer, plan: pa.Buffer) -> Iterator[pa.RecordBatch]:
            return _messages(part, unpack_csr(vectors), SendPlan.unpack(plan), n_parts)

        messages = state.mapInArrow(map_parts(emit, "vectors", "plan"), MESSAGE_SCHEMA)
        return self._multiply(messages, kernel, work, name)

    def run_from_blocks(self, blocks: DataFrame, kernel: Kernel, work: WorkDir, name: str) -> DataFrame:
        """Run on blocks of vectors without a plan."""
        return self._multiply(messages_from_blocks(blocks, self.matrix), kernel, work, name)

    def _multiply(self, messages: DataFrame, kernel: Kernel, work: WorkDir, name: str) -> DataFrame:
        targets, columns, senders = self.matrix.targets, self.columns, self.matrix.sources.n_parts

        def multiply(part: int, pieces: pa.Table, messages: pa.Table) -> pa.Table:
            local = LocalMatrix.unpack(buffers_by(pieces, "kind").get("local"), targets.n_rows(part), senders)
            vectors = _multiply_part(local, messages, kernel, columns)
            return state_table(part, vectors, SendPlan.from_pieces(pieces))

        received = by_part(messages, targets.n_parts)
        products = apply_to_parts(multiply, STATE_SCHEMA, self.pieces.groupBy("part"), received)
        return work.checkpoint(name, products)


@contextmanager
def persist_on_disk(frame: DataFrame) -> Iterator[DataFrame]:
    """Compute a frame once and keep it on the executors' disks until the block ends."""
    kept = frame.persist(StorageLevel.DISK_ONLY)
    with cleanup(kept.unpersist):
        yield kept


def state_table(part: int, vectors: Csr, plan: SendPlan) -> pa.Table:
    """Return the state of a part as a one-row table."""
    return part_row(part, vectors=pack_csr(vectors), plan=plan.pack())


def attach_plan(blocks: DataFrame, next_matrix: PartitionedMatrix) -> DataFrame:
    """Attach send plans to blocks of vectors: the state from which a product can start."""

    def state(part: int, pieces: pa.Table) -> pa.Table:
        return state_table(part, _vectors(pieces), SendPlan.from_pieces(pieces))

    return apply_to_parts(state, STATE_SCHEMA, _group_with_plans(blocks, next_matrix))


def messages_from_blocks(blocks: DataFrame, matrix: PartitionedMatrix) -> DataFrame:
    """Return the messages that blocks of vectors send."""
    n_parts = matrix.targets.n_parts

    def send(part: int, pieces: pa.Table) -> pa.Table:
        messages = _messages(part, _vectors(pieces), SendPlan.from_pieces(pieces), n_parts)
        return pa.Table.from_batches(messages, message(0, 0, b"").schema)

    return apply_to_parts(send, MESSAGE_SCHEMA, _group_with_plans(blocks, matrix))


def _group_with_plans(blocks: DataFrame, matrix: PartitionedMatrix) -> GroupedData:
    together = as_pieces(blocks, "vectors").union(matrix.plans)
    return by_part(together, matrix.sources.n_parts)


def _vectors(pieces: pa.Table) -> Csr:
    return unpack_csr(buffers_by(pieces, "kind")["vectors"])


def message(receiver: int, sender: int, payload: bytes) -> pa.RecordBatch:
    """Return one message as a batch."""
    part, sent_by = pa.array([receiver], pa.int32()), pa.array([sender], pa.int32())
    return pa.record_batch({"part": part, "sender": sent_by, "payload": pa.array([payload], pa.binary())})


def _messages(sender: int, vectors: Csr, plan: SendPlan, n_parts: int) -> Iterator[pa.RecordBatch]:
    """For each receiver: the vectors it needs and partial sums of its heavy rows."""
    sums = plan.partial_sums(vectors)
    homes = plan.heavy % n_parts
    for receiver in sorted({*plan.routes, *np.unique(homes).tolist()}):
        chosen = vectors.take(plan.routes.get(receiver, np.empty(0, np.int32)))
        own = np.flatnonzero(homes == receiver)
        rows = (plan.heavy[own] // n_parts).astype(np.int32)
        yield message(receiver, sender, pack([*csr_arrays(chosen), rows, *csr_arrays(sums.take(own))]))


def received_rows(local: LocalMatrix, messages: pa.Table, columns: int) -> Csr:
    """Return the received rows in the column order of the local matrix."""
    return _receive(local, messages, columns)[0]


def _receive(local: LocalMatrix, messages: pa.Table, columns: int) -> tuple[Csr, NDArray[np.int32], Csr]:
    """The rows for the local matrix, and the heavy rows with their partial sums."""
    empty = Csr.empty(0, columns)
    received: dict[int, Csr] = {}
    heavy_rows, heavy_sums = [np.empty(0, np.int32)], [empty]
    arrived = buffers_by(messages, "sender")
    for sender in sorted(arrived):  # a fixed order of summation, independent of arrival
        arrays = unpack(arrived[sender])
        received[sender] = csr_from_arrays(arrays[:4])
        heavy_rows.append(arrays[4])
        heavy_sums.append(csr_from_arrays(arrays[5:]))
    blocks = [received.get(sender, empty) for sender in range(len(local.expected))]
    if [part.rows for part in blocks] != local.expected.tolist():
        raise RuntimeError("the received rows do not match the routes")
    return vstack(empty, *blocks), np.concatenate(heavy_rows), vstack(*heavy_sums)


def _multiply_part(local: LocalMatrix, messages: pa.Table, kernel: Kernel, columns: int) -> Csr:
    """The rows of a part's targets from the received messages."""
    received, heavy_rows, heavy_sums = _receive(local, messages, columns)
    vectors = kernel(local.rows, received)
    if not len(heavy_rows):
        return vectors
    heads, sums = _sum_heavy_rows(heavy_rows, heavy_sums, kernel)
    light = np.ones(vectors.rows, bool)
    light[heads] = False
    return fill_rows(light, vectors, sums)


def _sum_heavy_rows(rows: NDArray[np.int32], sums: Csr, kernel: Kernel) -> tuple[NDArray[np.int32], Csr]:
    """The heavy rows and their vectors. Splits partial sums that are too long for a packed row."""
    pieces, lengths = -(-sums.row_nnz() // MAX_ENTRIES), sums.row_nnz()
    starts = np.concatenate([np.arange(n) * MAX_ENTRIES for n in pieces]) if len(pieces) else pieces
    owner = np.repeat(np.arange(sums.rows), pieces)
    ends = np.minimum(starts + MAX_ENTRIES, lengths[owner]) - starts
    split_at = np.concatenate([[0], np.cumsum(ends)]).astype(np.int64)
    split = Csr(split_at, sums.indices, sums.data, sums.columns)
    heads = np.unique(rows)
    target = rows[owner]
    order = np.argsort(target, kind="stable").astype(np.int32)
    indptr = np.searchsorted(target[order], np.append(heads, heads[-1] + 1)).astype(np.int64)
    ones = np.ones(len(order), np.float32)
    return heads, kernel(Csr(indptr, order, ones, split.rows), split)
