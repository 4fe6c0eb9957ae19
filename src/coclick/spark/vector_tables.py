"""Convert blocks, in which vectors are computed, to tables with one row per vector, entry or value."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import DataFrame

from coclick.arrays.csr import Csr
from coclick.spark.partitioning import NodeSet
from coclick.spark.serialization import map_parts, unpack, unpack_csr

_ROW_SCHEMA = "id long, columns array<int>, values array<float>"
ENTRY_SCHEMA = "node long, column long, value float"
_ROWS_PER_BATCH = 20_000


def vector_rows(blocks: DataFrame, nodes: NodeSet, change: Callable[[Csr], Csr] | None = None) -> DataFrame:
    """Return a table with one row per vector, after applying `change` to each block."""

    def rows(part: int, payload: pa.Buffer) -> Iterator[pa.RecordBatch]:
        vectors = unpack_csr(payload) if change is None else change(unpack_csr(payload))
        for first in range(0, vectors.rows, _ROWS_PER_BATCH):
            some = vectors.row_slice(first, min(first + _ROWS_PER_BATCH, vectors.rows))
            ends, ids = pa.array(some.indptr.astype(np.int32)), np.arange(first, first + some.rows)
            columns, values = (
                pa.ListArray.from_arrays(ends, pa.array(of)) for of in (some.indices, some.data)
            )
            yield pa.record_batch({"id": nodes.ids(part, ids), "columns": columns, "values": values})

    return blocks.select("part", "vectors").mapInArrow(map_parts(rows, "vectors"), _ROW_SCHEMA)


def csr_entries(ids: NDArray[np.int64], rows: Csr) -> pa.Table:
    """Return the entries (node, column, value) of a matrix whose rows have these ids."""
    node, column = np.repeat(ids, rows.row_nnz()), rows.indices.astype(np.int64)
    return pa.table({"node": node, "column": column, "value": rows.data})


def vector_entries(blocks: DataFrame, nodes: NodeSet) -> DataFrame:
    """Return a table with one row per entry of each vector."""

    def entries(part: int, payload: pa.Buffer) -> list[pa.RecordBatch]:
        return csr_entries(nodes.ids(part), unpack_csr(payload)).to_batches()

    return blocks.select("part", "vectors").mapInArrow(map_parts(entries, "vectors"), ENTRY_SCHEMA)


def value_rows(blocks: DataFrame, nodes: NodeSet) -> DataFrame:
    """Return a table with one row per value."""

    def rows(part: int, payload: pa.Buffer) -> Iterator[pa.RecordBatch]:
        yield pa.record_batch({"id": nodes.ids(part), "value": unpack(payload)[0].astype(np.float64)})

    return blocks.select("part", "values").mapInArrow(map_parts(rows, "values"), "id long, value double")
