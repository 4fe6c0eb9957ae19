"""Between blocks, in which vectors are computed, and tables with a row for each, in which they stay."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import DataFrame

from coclick.arrays.csr import Csr
from coclick.spark.partitioning import Nodes
from coclick.spark.serialization import cells, unpack, unpack_csr

_ROWS = "id long, columns array<int>, values array<float>"
ENTRIES = "node long, column long, value float"
_AT_ONCE = 20_000  # rows of a batch


@dataclass(frozen=True)
class _Unpack:
    """From blocks to rows (id, columns, values)."""

    nodes: Nodes
    change: Callable[[Csr], Csr] | None

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for part, payload in zip(batch["part"].to_pylist(), cells(batch, "vectors"), strict=True):
                vectors = unpack_csr(payload)
                if self.change is not None:
                    vectors = self.change(vectors)
                for first in range(0, vectors.rows, _AT_ONCE):
                    some = vectors.row_slice(first, min(first + _AT_ONCE, vectors.rows))
                    ends = pa.array(some.indptr.astype(np.int32))
                    numbers = np.arange(first, first + some.rows)
                    yield pa.record_batch(
                        {
                            "id": pa.array(self.nodes.ids(part, numbers)),
                            "columns": pa.ListArray.from_arrays(ends, pa.array(some.indices)),
                            "values": pa.ListArray.from_arrays(ends, pa.array(some.data)),
                        }
                    )


def rows_of(blocks: DataFrame, nodes: Nodes, change: Callable[[Csr], Csr] | None = None) -> DataFrame:
    """A table with a row for each vector, as the change leaves it."""
    return blocks.select("part", "vectors").mapInArrow(_Unpack(nodes, change), _ROWS)


def entry_table(ids: NDArray[np.int64], rows: Csr) -> pa.Table:
    """The entries (node, column, value) of rows whose ids are given."""
    return pa.table(
        {
            "node": pa.array(np.repeat(ids, rows.row_nnz())),
            "column": pa.array(rows.indices.astype(np.int64)),
            "value": pa.array(rows.data),
        }
    )


@dataclass(frozen=True)
class _Entries:
    nodes: Nodes

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for part, payload in zip(batch["part"].to_pylist(), cells(batch, "vectors"), strict=True):
                yield from entry_table(self.nodes.ids(part), unpack_csr(payload)).to_batches()


def entries_of(blocks: DataFrame, nodes: Nodes) -> DataFrame:
    """A table with a row for each entry of each vector."""
    return blocks.select("part", "vectors").mapInArrow(_Entries(nodes), ENTRIES)


@dataclass(frozen=True)
class _UnpackValues:
    """From blocks to rows (id, value)."""

    nodes: Nodes

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for part, payload in zip(batch["part"].to_pylist(), cells(batch, "values"), strict=True):
                values = pa.array(unpack(payload)[0].astype(np.float64))
                yield pa.record_batch({"id": pa.array(self.nodes.ids(part)), "value": values})


def values_of(blocks: DataFrame, nodes: Nodes) -> DataFrame:
    """A table with a row for each number."""
    return blocks.select("part", "values").mapInArrow(_UnpackValues(nodes), "id long, value double")
