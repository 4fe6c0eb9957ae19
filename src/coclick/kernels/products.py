"""Products of sparse and dense matrices, and dot products of pairs of dense rows, on all threads.

Results do not depend on the number of threads. Dense matrices may be float32 or float64; the result has the
same type.
"""

from __future__ import annotations

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from coclick.arrays.csr import Csr
from coclick.jit.compiler import jit
from coclick.jit.threads import balanced_blocks, run_blocks, threads

Real = TypeVar("Real", np.float32, np.float64)

_BLOCKS_PER_THREAD = 16


def times_dense(matrix: Csr, dense: NDArray[Real], out: NDArray[Real] | None = None) -> NDArray[Real]:
    """Return `matrix @ dense`, in `out` if given. Columns of the matrix are not checked."""
    if dense.shape[0] != matrix.columns:
        raise ValueError(f"{matrix.columns} columns do not fit {dense.shape[0]} rows")
    dense = np.ascontiguousarray(dense)
    if out is None:
        out = np.empty((matrix.rows, dense.shape[1]), dense.dtype)
    product = out

    def work(first: int, last: int) -> None:
        _times_dense(first, last, matrix.indptr, matrix.indices, matrix.data, dense, product)

    blocks = 1 if threads() == 1 else _BLOCKS_PER_THREAD * threads()
    run_blocks(work, balanced_blocks(matrix.indptr, blocks))
    return product


def dots_of_pairs(
    left: NDArray[Real], right: NDArray[Real], pairs: tuple[NDArray[np.int32], NDArray[np.int32]]
) -> NDArray[Real]:
    """Return left[i]·right[j] for each pair (i, j). Row numbers are not checked."""
    out = np.empty(len(pairs[0]), left.dtype)

    def work(first: int, last: int) -> None:
        _dots_of_pairs(left, right, pairs[0][first:last], pairs[1][first:last], out[first:last])

    blocks = 1 if threads() == 1 else _BLOCKS_PER_THREAD * threads()
    run_blocks(work, balanced_blocks(np.arange(len(out) + 1), blocks))
    return out


@jit
def _dots_of_pairs(
    left: NDArray[Real],
    right: NDArray[Real],
    rows: NDArray[np.int32],
    others: NDArray[np.int32],
    out: NDArray[Real],
) -> None:
    for i in range(len(out)):
        one, other = left[rows[i]], right[others[i]]
        total = 0.0
        for j in range(len(one)):
            total += one[j] * other[j]
        out[i] = total


@jit
def _times_dense(
    first: int,
    last: int,
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    data: NDArray[np.float32],
    dense: NDArray[Real],
    out: NDArray[Real],
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
