"""`SparseVector`, and the weighted sum of sparse rows that all click-graph models use."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coclick.arrays.csr import Csr


class SparseVector(NamedTuple):
    """The entries of a sparse vector: ascending, distinct indices and their values."""

    rows: NDArray[np.integer]
    values: NDArray[np.float64]

    @classmethod
    def add_up(cls, rows: NDArray[np.integer], values: NDArray[np.floating]) -> SparseVector:
        """Build a vector from indices in any order; values of equal indices are summed."""
        distinct, position = np.unique(rows, return_inverse=True)
        return cls(distinct, np.bincount(position, values, len(distinct)).astype(np.float64))

    @classmethod
    def none(cls) -> SparseVector:
        """Return a vector without entries."""
        return cls(np.empty(0, np.int32), np.empty(0))

    def only(self, wanted: NDArray[np.bool_]) -> SparseVector:
        """Return the entries where `wanted` is true."""
        return SparseVector(self.rows[wanted], self.values[wanted])

    def at(self, rows: NDArray[np.integer]) -> NDArray[np.float64]:
        """Return the values at these indices, 0 where there is no entry."""
        values = np.zeros(len(rows))
        if len(self.rows):
            place = np.minimum(np.searchsorted(self.rows, rows), len(self.rows) - 1)
            values = np.where(self.rows[place] == rows, self.values[place], 0.0)
        return values

    def largest(self, k: int) -> SparseVector:
        """Return the k largest entries; ties go to smaller indices."""
        if len(self.rows) <= k:
            return self
        kept = np.zeros(len(self.rows), bool)
        kept[np.argsort(-self.values, kind="stable")[:k]] = True
        return self.only(kept)


def weighted_sum(weights: NDArray[np.floating], rows: Csr) -> SparseVector:
    """Return the sum of the rows, each times its weight: one step along the edges of a graph."""
    return SparseVector.add_up(rows.indices, rows.data * np.repeat(weights, rows.row_nnz()))
