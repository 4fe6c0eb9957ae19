"""Assign nodes to parts by arithmetic, without a table.

Ids are int64 on Spark. With P parts, node `id` is row `id // P` of part `id % P`; a row fits into int32. This
spreads anything that correlates with the order of ids, such as popularity or the alphabet.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import DataFrame, GroupedData

from coclick.jit.threads import set_threads


@dataclass(frozen=True)
class NodeSet:
    """Nodes 0 … n_nodes − 1, divided into parts."""

    n_nodes: int
    n_parts: int

    def n_rows(self, part: int) -> int:
        """Return the number of nodes in a part."""
        return max(0, -(-(self.n_nodes - part) // self.n_parts))

    def ids(self, part: int, rows: NDArray[np.integer] | None = None) -> NDArray[np.int64]:
        """Return the ids of rows of a part, by default of all rows."""
        wanted = np.arange(self.n_rows(part), dtype=np.int64) if rows is None else rows.astype(np.int64)
        return wanted * self.n_parts + part


def by_part(frame: DataFrame, n_parts: int) -> GroupedData:
    """Place each part of a frame on one executor and group by part."""
    return frame.repartitionById(n_parts, "part").groupBy("part")


def apply_to_parts(
    function: Callable[..., pa.Table], schema: str, blocks: GroupedData, others: GroupedData | None = None
) -> DataFrame:
    """Return `function(part, table)` of all parts, or `function(part, left, right)` of two grouped frames."""

    def run(key: tuple[pa.Scalar, ...], *tables: pa.Table) -> pa.Table:
        set_threads(1)
        return function(key[0].as_py(), *tables)

    if others is None:
        return blocks.applyInArrow(lambda key, table: run(key, table), schema)
    return blocks.cogroup(others).applyInArrow(lambda key, left, right: run(key, left, right), schema)
