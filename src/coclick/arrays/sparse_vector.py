"""`Entries`: one sparse vector, and the step that all models of the click graph are made of."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coclick.arrays.csr import Csr


class SparseVector(NamedTuple):
    """The entries of a sparse vector: their places, ascending and distinct, and their values."""

    rows: NDArray[np.integer]
    values: NDArray[np.float64]

    @classmethod
    def add_up(cls, rows: NDArray[np.integer], values: NDArray[np.floating]) -> SparseVector:
        """From places in any order; the values of equal ones are added up."""
        distinct, place = np.unique(rows, return_inverse=True)
        return cls(distinct, np.bincount(place, values, len(distinct)).astype(np.float64))

    @classmethod
    def none(cls) -> SparseVector:
        """A vector of zeros."""
        return cls(np.empty(0, np.int32), np.empty(0))

    def only(self, wanted: NDArray[np.bool_]) -> SparseVector:
        """The entries that are wanted."""
        return SparseVector(self.rows[wanted], self.values[wanted])

    def largest(self, k: int) -> SparseVector:
        """The k largest entries; of equal ones those that stand first."""
        if len(self.rows) <= k:
            return self
        kept = np.zeros(len(self.rows), bool)
        kept[np.argsort(-self.values, kind="stable")[:k]] = True
        return self.only(kept)


def weighted_sum(weights: NDArray[np.floating], rows: Csr) -> SparseVector:
    """The rows of a matrix, each times its weight, added up: one step along the edges they hold."""
    return SparseVector.add_up(rows.indices, rows.data * np.repeat(weights, rows.row_nnz()))
