"""Sparse matrices as three plain arrays, which is all that the kernels need of them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Csr(NamedTuple):
    """A sparse matrix by rows: int64 row pointers, int32 column indices, float32 values."""

    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    data: NDArray[np.float32]
    columns: int

    @property
    def rows(self) -> int:
        """Number of rows."""
        return len(self.indptr) - 1
