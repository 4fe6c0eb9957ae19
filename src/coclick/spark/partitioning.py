"""Which part of a node set a node is in: arithmetic, not a table.

Ids are int64 on Spark. With P parts, node `id` is row `id // P` of part `id % P`; a row fits into int32.
Whatever correlates with the order of ids (popularity, the alphabet) is spread evenly.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Nodes:
    """A set of nodes 0 … count − 1 in a number of parts."""

    count: int
    parts: int

    def rows(self, part: int) -> int:
        """How many nodes a part has."""
        return max(0, -(-(self.count - part) // self.parts))

    def ids(self, part: int, rows: NDArray[np.integer] | None = None) -> NDArray[np.int64]:
        """The ids of some rows of a part, by default of all."""
        wanted = np.arange(self.rows(part), dtype=np.int64) if rows is None else rows.astype(np.int64)
        return wanted * self.parts + part
