"""Sparse rows times a dense matrix, all cores at work, the same result with any number of them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from coclick.kernels.jit import jit
from coclick.kernels.threads import balanced_blocks, run_blocks, threads
from coclick.sparse import Csr

_BLOCKS_A_THREAD = 16


def times_dense(
    matrix: Csr, dense: NDArray[np.float32], out: NDArray[np.float32] | None = None
) -> NDArray[np.float32]:
    """`matrix @ dense`, into `out` if there is one. Columns of the matrix are not checked."""
    if dense.shape[0] != matrix.columns:
        raise ValueError(f"{matrix.columns} columns do not fit {dense.shape[0]} rows")
    dense = np.ascontiguousarray(dense)
    if out is None:
        out = np.empty((matrix.rows, dense.shape[1]), np.float32)
    product = out

    def work(first: int, last: int) -> None:
        _times_dense(first, last, matrix.indptr, matrix.indices, matrix.data, dense, product)

    blocks = 1 if threads() == 1 else _BLOCKS_A_THREAD * threads()
    run_blocks(work, balanced_blocks(matrix.indptr, blocks))
    return product


@jit
def _times_dense(
    first: int,
    last: int,
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    data: NDArray[np.float32],
    dense: NDArray[np.float32],
    out: NDArray[np.float32],
) -> None:
    width = dense.shape[1]
    for row in range(first, last):
        total = out[row]
        for j in range(width):
            total[j] = 0
        for at in range(indptr[row], indptr[row + 1]):
            value, source = data[at], dense[indices[at]]
            for j in range(width):
                total[j] += value * source[j]
