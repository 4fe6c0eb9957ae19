"""Products of tall dense float32 matrices (many rows, few columns), in blocks of rows on our own threads.

BLAS runs single-threaded here (`coclick.jit.blas`), one block in each of our threads. Blocks, and the order
in which they are added, do not depend on the number of threads, so neither does the result.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coclick.jit.blas import single_threaded_blas
from coclick.jit.threads import run_blocks

Floats = NDArray[np.float32]
Doubles = NDArray[np.float64]

_SUM_BLOCKS = 16  # blocks of rows whose products are summed at the end
_CACHE_ROWS = 1024  # rows that stay in the cache


def row_products(vectors: Floats, b: Floats) -> Doubles:
    """Return `vectors @ b` for vectors in rows: float32 within a block of columns, float64 between blocks."""
    return _sum_of_blocks(len(b), lambda first, last: vectors[:, first:last] @ b[first:last])


def gram(a: Floats) -> Doubles:
    """Return `a.T @ a`, computed in float64."""

    def product(first: int, last: int) -> Doubles:
        total = np.zeros((a.shape[1], a.shape[1]))
        for start in range(first, last, _CACHE_ROWS):
            part = a[start : min(start + _CACHE_ROWS, last)].astype(np.float64)
            total += part.T @ part
        return total

    return _sum_of_blocks(len(a), product)


def subtract_product(y: Floats, vectors: Floats, small: Doubles) -> None:
    """Compute `y -= vectors.T @ small` in place."""
    factor = small.astype(np.float32)

    def work(first: int, last: int) -> None:
        y[first:last] -= vectors[:, first:last].T @ factor

    _run(work, len(y), _CACHE_ROWS)


def copy_transposed(vectors: Floats, a: Floats) -> None:
    """Compute `vectors[:] = a.T`."""

    def work(first: int, last: int) -> None:
        vectors[:, first:last] = a[first:last].T

    _run(work, len(a), _CACHE_ROWS)


def multiply_into(a: Floats, small: Doubles, out: Floats, rows: NDArray[np.integer] | None = None) -> Floats:
    """Compute `out[rows] = a @ small`; row i of `a` and of `out` may share memory."""
    factor = small.astype(np.float32)

    def work(first: int, last: int) -> None:
        out[slice(first, last) if rows is None else rows[first:last]] = a[first:last] @ factor

    _run(work, len(a), _CACHE_ROWS)
    return out


def _sum_of_blocks(rows: int, product: Callable[[int, int], NDArray[Any]]) -> Doubles:
    parts: dict[int, NDArray[Any]] = {}
    size = max(1, -(-rows // _SUM_BLOCKS))

    def work(first: int, last: int) -> None:
        parts[first] = product(first, last)

    _run(work, rows, size)
    total = parts[0].astype(np.float64)
    for first in range(size, rows, size):
        total += parts[first]
    return total


def _run(work: Callable[[int, int], None], rows: int, size: int) -> None:
    with single_threaded_blas():
        run_blocks(work, [(first, min(first + size, rows)) for first in range(0, max(rows, 1), size)])
