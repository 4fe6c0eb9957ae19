"""Between blocks, in which vectors are computed, and tables with a row for each, in which they stay."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from coclick.spark.links import Cut
from coclick.spark.parts import Nodes
from coclick.spark.payload import cells, unpack, unpack_csr
from coclick.spark.step import STATE, state_table
from coclick.spark.storage import Work

_ROWS = "id long, columns array<int>, values array<float>"
_AT_ONCE = 20_000  # rows of a batch


@dataclass(frozen=True)
class _Unpack:
    """From blocks to rows (id, columns, values)."""

    nodes: Nodes

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for part, payload in zip(batch["part"].to_pylist(), cells(batch, "vectors"), strict=True):
                vectors = unpack_csr(payload)
                for first in range(0, vectors.rows, _AT_ONCE):
                    some = vectors.between(first, min(first + _AT_ONCE, vectors.rows))
                    ends = pa.array(some.indptr.astype(np.int32))
                    numbers = np.arange(first, first + some.rows)
                    yield pa.record_batch(
                        {
                            "id": pa.array(self.nodes.ids(part, numbers)),
                            "columns": pa.ListArray.from_arrays(ends, pa.array(some.indices)),
                            "values": pa.ListArray.from_arrays(ends, pa.array(some.data)),
                        }
                    )


def rows_of(blocks: DataFrame, nodes: Nodes) -> DataFrame:
    """A table with a row for each vector."""
    return blocks.select("part", "vectors").mapInArrow(_Unpack(nodes), _ROWS)


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


def with_plan(blocks: DataFrame, then: Cut, work: Work, name: str) -> DataFrame:
    """Blocks of vectors as a state from which a step can start."""
    parts = then.sources.parts
    vectors = blocks.select("part", F.lit("vectors").alias("kind"), F.col("vectors").alias("payload"))
    together = vectors.union(then.plans).repartitionById(parts, "part").groupBy("part")

    def state(key: tuple[pa.Scalar, ...], table: pa.Table) -> pa.Table:
        held = dict(zip(table["kind"].to_pylist(), cells(table, "payload"), strict=True))
        plan = held["plan"].to_pybytes() if "plan" in held else None
        return state_table(key[0].as_py(), unpack_csr(held["vectors"]), plan)

    return work.saved(name, together.applyInArrow(state, STATE))
