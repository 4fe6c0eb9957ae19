"""Convert blocks, in which vectors are computed, to tables with one row per vector, entry or value."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import DataFrame

from coclick.arrays.csr import Csr
from coclick.spark.partitioning import NodeSet
from coclick.spark.serialization import buffers, unpack, unpack_csr

_ROW_SCHEMA = "id long, columns array<int>, values array<float>"
ENTRY_SCHEMA = "node long, column long, value float"
_ROWS_PER_BATCH = 20_000


@dataclass(frozen=True)
class _ToRows:
    """Convert blocks to rows (id, columns, values)."""

    nodes: NodeSet
    change: Callable[[Csr], Csr] | None

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for part, payload in zip(batch["part"].to_pylist(), buffers(batch, "vectors"), strict=True):
                vectors = unpack_csr(payload)
                if self.change is not None:
                    vectors = self.change(vectors)
                for first in range(0, vectors.rows, _ROWS_PER_BATCH):
                    some = vectors.row_slice(first, min(first + _ROWS_PER_BATCH, vectors.rows))
                    ends = pa.array(some.indptr.astype(np.int32))
                    numbers = np.arange(first, first + some.rows)
                    yield pa.record_batch(
                        {
                            "id": pa.array(self.nodes.ids(part, numbers)),
                            "columns": pa.ListArray.from_arrays(ends, pa.array(some.indices)),
                            "values": pa.ListArray.from_arrays(ends, pa.array(some.data)),
                        }
                    )


def vector_rows(blocks: DataFrame, nodes: NodeSet, change: Callable[[Csr], Csr] | None = None) -> DataFrame:
    """Return a table with one row per vector, after applying `change` to each block."""
    return blocks.select("part", "vectors").mapInArrow(_ToRows(nodes, change), _ROW_SCHEMA)


def csr_entries(ids: NDArray[np.int64], rows: Csr) -> pa.Table:
    """Return the entries (node, column, value) of a matrix whose rows have these ids."""
    return pa.table(
        {
            "node": pa.array(np.repeat(ids, rows.row_nnz())),
            "column": pa.array(rows.indices.astype(np.int64)),
            "value": pa.array(rows.data),
        }
    )


@dataclass(frozen=True)
class _ToEntries:
    nodes: NodeSet

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for part, payload in zip(batch["part"].to_pylist(), buffers(batch, "vectors"), strict=True):
                yield from csr_entries(self.nodes.ids(part), unpack_csr(payload)).to_batches()


def vector_entries(blocks: DataFrame, nodes: NodeSet) -> DataFrame:
    """Return a table with one row per entry of each vector."""
    return blocks.select("part", "vectors").mapInArrow(_ToEntries(nodes), ENTRY_SCHEMA)


@dataclass(frozen=True)
class _ToValues:
    """Convert blocks to rows (id, value)."""

    nodes: NodeSet

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for part, payload in zip(batch["part"].to_pylist(), buffers(batch, "values"), strict=True):
                values = pa.array(unpack(payload)[0].astype(np.float64))
                yield pa.record_batch({"id": pa.array(self.nodes.ids(part)), "value": values})


def value_rows(blocks: DataFrame, nodes: NodeSet) -> DataFrame:
    """Return a table with one row per value."""
    return blocks.select("part", "values").mapInArrow(_ToValues(nodes), "id long, value double")
