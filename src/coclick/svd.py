"""Leading singular triplets of a product of sparse matrices, in float32, without forming the product.

Subspace iteration: a block of k vectors and some more is multiplied with the product and its transpose and
made orthonormal again, until the sum of the k largest values grows by less than `_TOLERANCE` of itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from coclick.kernels.csr import transpose
from coclick.kernels.products import times_dense
from coclick.progress import Progress, quiet
from coclick.sparse import Csr

Floats = NDArray[np.float32]

_EXACT = 300  # vectors on the shorter side up to which no iteration is needed: the block is the whole space
_MORE = 20, 0.1  # vectors beyond the wanted ones: these, and a share of them
_TOLERANCE = 1e-5
_MOST_ROUNDS = 100
_NOTHING = 1e-5  # of the largest value: what counts as zero


@dataclass(frozen=True)
class Singular:
    """A ≈ left · diag(values) · rightᵀ."""

    left: Floats  # rows × k, orthonormal columns
    values: NDArray[np.float64]  # falling, all above 0
    right: Floats  # columns × k, orthonormal columns


def truncated_svd(factors: Sequence[Csr], k: int, *, seed: int = 0, progress: Progress = quiet) -> Singular:
    """Leading singular triplets of factors[0] @ factors[1] @ …; fewer than `k` where the rank is lower.

    Signs: the entry of largest size in each right vector is positive (the first of them, if several).
    """
    scale = 1.0
    scaled = []
    for factor in factors:
        scaled.append(factor.with_data(np.ldexp(factor.data, -(power := _power(factor.data)))))
        scale *= 2.0**power
    turned = [transpose(factor) for factor in reversed(scaled)]
    rows, columns = factors[0].rows, factors[-1].columns
    shorter = min(rows, columns)
    width = min(shorter, max(_EXACT, k + _MORE[0] + int(k * _MORE[1])))
    k = min(k, shorter)
    if width == columns:
        right = np.eye(columns, dtype=np.float32)
    elif width == rows:
        right = _orthonormal(_times(turned, np.eye(rows, dtype=np.float32)))
    else:
        random = np.random.default_rng(seed)
        right = _orthonormal(random.standard_normal((columns, width), dtype=np.float32))
    before = 0.0
    with progress("singular vectors", _MOST_ROUNDS) as done:
        for _ in range(_MOST_ROUNDS):
            left = _times(scaled, right)
            lengths, turn = _gram_eigen(left)
            total = float(lengths[:k].sum())
            done(1)
            if width == shorter or total - before <= _TOLERANCE * total:
                break
            before = total
            right = _orthonormal(_times(turned, left))
    keep = np.flatnonzero(lengths[:k] > _NOTHING * lengths.max(initial=0))
    turn = turn[:, keep]
    values = lengths[keep]
    left = left @ (turn / values).astype(np.float32)
    right = right @ turn.astype(np.float32)
    signs = _signs(right)
    return Singular(left * signs, values * scale, right * signs)


def _power(data: Floats) -> int:
    """The power of two just above the largest size."""
    return int(np.frexp(np.abs(data).max(initial=0))[1])


def _times(factors: Sequence[Csr], dense: Floats) -> Floats:
    for factor in reversed(factors):
        dense = times_dense(factor, dense)
    return dense


def _gram_eigen(block: Floats) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Singular values of the block, falling, and its right singular vectors."""
    gram = np.zeros((block.shape[1],) * 2)
    for first in range(0, len(block), 4096):
        part = block[first : first + 4096].astype(np.float64)
        gram += part.T @ part
    squares, vectors = np.linalg.eigh(gram)
    return np.sqrt(np.maximum(squares[::-1], 0)), vectors[:, ::-1]


def _orthonormal(block: Floats) -> Floats:
    """Orthonormal columns that span what the block spans; fewer, if that has fewer dimensions."""
    for _ in range(2):
        lengths, turn = _gram_eigen(block)
        keep = lengths > 1e-6 * lengths.max(initial=0)
        block = block @ (turn[:, keep] / lengths[keep]).astype(np.float32)
    return block


def _signs(vectors: Floats) -> Floats:
    largest = np.abs(vectors).argmax(axis=0) if len(vectors) else np.zeros(0, np.intp)
    return np.where(vectors[largest, np.arange(vectors.shape[1])] < 0, -1, 1).astype(np.float32)
