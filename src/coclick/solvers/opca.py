"""Oriented PCA (Gao et al. 2011, §5.3): directions in which texts vary, but the texts of a pair do not.

    S v = μ (N + ρI) v        S = Σ w (q qᵀ + d dᵀ) / 2Σw        N = Σ w (q − d)(q − d)ᵀ / Σw

over clicked pairs (q, d) of weight w; the v of largest μ, with vᵀ(N + ρI)v = 1. ρ is given as a multiple of
the mean diagonal of N.

Neither matrix is formed: both are products of sparse matrices. The solver is a block Davidson method: the
residual S v − μ(N + ρI)v, multiplied by an approximate inverse of N + ρI (some steps of conjugate gradients),
extends the search space. A factorisation of N + ρI would be nearly dense (half of all entries at 5,000
words).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coclick.arrays.csr import Csr
from coclick.arrays.reorder import transpose
from coclick.kernels.products import times_dense
from coclick.progress import Progress, quiet

FloatArray = NDArray[Any]  # float32; float64 in tests

_MAX_DENSE = 1000  # columns up to which the matrices are formed
_OVERSAMPLING = 0.2  # extra vectors, as a share of the wanted ones
_MAX_BLOCKS = 5  # of vectors in the search space, before it is restarted
_CG_STEPS = 8
_TOLERANCE = 1e-2  # of residuals, relative to μ; the error of μ is of the order of its square
_MAX_ITERATIONS = 60


@dataclass(frozen=True)
class Components:
    """The vectors v (columns) and values μ, largest first."""

    vectors: FloatArray
    values: NDArray[np.float64]


class SecondMoments:
    """The second-moment matrices S and N + ρI, as operators on blocks of vectors."""

    def __init__(self, queries: Csr, docs: Csr, weights: Csr, ridge: float) -> None:
        total = float(weights.data.sum(dtype=np.float64))
        self.weights = weights.with_data((weights.data / total).astype(np.float32))
        self.weights_by_doc = transpose(self.weights)
        self.rows = queries, docs
        self.transposed = transpose(queries), transpose(docs)
        self.shares = [side.row_sums()[:, None] for side in (self.weights, self.weights_by_doc)]
        self.noise_diagonal = self._noise_diagonal()
        self.ridge = ridge * float(self.noise_diagonal.mean())

    def signal(self, block: FloatArray) -> FloatArray:
        """Return S times the block."""
        q, d = (times_dense(rows, block) for rows in self.rows)
        return self._to_features(
            *(share.astype(block.dtype) / 2 * side for share, side in zip(self.shares, (q, d), strict=True))
        )

    def noise(self, block: FloatArray) -> FloatArray:
        """Return N + ρI times the block."""
        q, d = (times_dense(rows, block) for rows in self.rows)
        to_queries, to_docs = times_dense(self.weights, d), times_dense(self.weights_by_doc, q)
        for share, side, other in zip(self.shares, (q, d), (to_queries, to_docs), strict=True):
            side *= share.astype(block.dtype)
            side -= other
        product = self._to_features(q, d)
        product += block.dtype.type(self.ridge) * block
        return product

    def _to_features(self, query_rows: FloatArray, doc_rows: FloatArray) -> FloatArray:
        queries_by_word, docs_by_word = self.transposed
        product = times_dense(queries_by_word, query_rows)
        product += times_dense(docs_by_word, doc_rows)
        return product

    def _noise_diagonal(self) -> NDArray[np.float64]:
        """Σ w (q_i − d_i)² / Σw for each column i: the squares of both sides minus twice their product."""
        queries, docs = self.rows
        both = queries.to_scipy().multiply((self.weights.to_scipy() @ docs.to_scipy()).tocsr())
        diagonal = -2 * np.asarray(both.sum(axis=0), np.float64).ravel()
        for rows, share in zip(self.rows, self.shares, strict=True):
            squares = rows.data.astype(np.float64) ** 2 * np.repeat(share.ravel(), rows.row_nnz())
            diagonal += np.bincount(rows.indices, squares, rows.columns)
        return np.maximum(diagonal, 0)


def oriented_pca(
    queries: Csr, docs: Csr, weights: Csr, k: int, *, ridge: float = 0.5, seed: int = 0,
    progress: Progress = quiet,
) -> Components:  # fmt: skip
    """Return the k leading components of weighted pairs; queries and documents have the same columns."""
    moments = SecondMoments(queries, docs, weights, ridge)
    size = queries.columns
    if size <= max(_MAX_DENSE, _MAX_BLOCKS * round((1 + _OVERSAMPLING) * k)):
        return _dense(moments, size, k)
    with progress("components", _MAX_ITERATIONS) as done:
        return _davidson(moments, size, k, np.random.default_rng(seed), done)


def _dense(moments: SecondMoments, size: int, k: int) -> Components:
    from scipy.linalg import eigh

    every = np.eye(size)
    values, vectors = eigh(moments.signal(every), moments.noise(every))
    return _with_fixed_signs(vectors[:, ::-1][:, :k], values[::-1][:k])


def _davidson(
    moments: SecondMoments, size: int, k: int, random: np.random.Generator, done: Any
) -> Components:
    width = round((1 + _OVERSAMPLING) * k)
    scale = (1 / np.sqrt(moments.noise_diagonal + moments.ridge)).astype(np.float32)[:, None]
    new = scale * random.standard_normal((size, width), dtype=np.float32)
    basis = noise = signal = np.empty((size, 0), np.float32)
    for _ in range(_MAX_ITERATIONS):
        new, noise_of_new = _orthonormal(moments, new, basis, noise)
        basis, noise = np.hstack([basis, new]), np.hstack([noise, noise_of_new])
        signal = np.hstack([signal, moments.signal(new)])
        small, rotation = np.linalg.eigh((basis.T @ signal).astype(np.float64))
        values, rotation = small[::-1][:width], rotation[:, ::-1][:, :width].astype(np.float32)
        best, best_noise, best_signal = basis @ rotation, noise @ rotation, signal @ rotation
        residual = best_signal - best_noise * values.astype(np.float32)
        sizes = np.linalg.norm(scale * residual, axis=0) / np.abs(values)
        done(1)
        if (sizes[:k] <= _TOLERANCE).all():
            break
        if basis.shape[1] + width > _MAX_BLOCKS * width:
            basis, noise, signal = best, best_noise, best_signal
        new = _solve(moments, residual[:, sizes > _TOLERANCE], scale**2)
    return _with_fixed_signs(best[:, :k], values[:k])


def _orthonormal(
    moments: SecondMoments, new: FloatArray, basis: FloatArray, noise: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """New vectors, orthonormal to the basis and each other under N + ρI, and (N + ρI) times them."""
    for _ in range(2):  # twice, because of rounding
        new = new - basis @ (noise.T @ new)
        product = moments.noise(new)
        lengths, rotation = np.linalg.eigh((new.T @ product).astype(np.float64))
        kept = lengths > 1e-6 * lengths.max()
        rotation = (rotation[:, kept] / np.sqrt(lengths[kept])).astype(new.dtype)
        new, product = new @ rotation, product @ rotation
    return new, product


def _solve(moments: SecondMoments, right: FloatArray, inverse_diagonal: FloatArray) -> FloatArray:
    """Approximate (N + ρI)⁻¹ times the block by preconditioned conjugate gradients, for each column."""
    solution = np.zeros_like(right)
    direction = conditioned = inverse_diagonal * right
    residual = right.copy()
    before = np.einsum("ij,ij->j", residual, conditioned)
    for _ in range(_CG_STEPS):
        product = moments.noise(direction)
        length = before / np.maximum(np.einsum("ij,ij->j", direction, product), 1e-30)
        solution += length * direction
        residual -= length * product
        conditioned = inverse_diagonal * residual
        now = np.einsum("ij,ij->j", residual, conditioned)
        direction = conditioned + now / np.maximum(before, 1e-30) * direction
        before = now
    return solution


def _with_fixed_signs(vectors: FloatArray, values: FloatArray) -> Components:
    """Make the entry of largest magnitude in each vector positive."""
    largest = np.abs(vectors).argmax(axis=0)
    signs = np.where(vectors[largest, np.arange(vectors.shape[1])] < 0, -1, 1)
    return Components((vectors * signs).astype(np.float32), values)
