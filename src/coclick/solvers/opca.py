"""Oriented principal components: directions in which texts differ, but not those of a pair (paper 001 §5.3).

    S v = μ (N + ρI) v        S = Σ w (q qᵀ + d dᵀ) / 2Σw        N = Σ w (q − d)(q − d)ᵀ / Σw

over clicked pairs (q, d) of weight w; the v of largest μ, with vᵀ(N + ρI)v = 1. ρ is given as a multiple of
the mean diagonal of N.

Neither matrix is formed: both are products of sparse matrices. The solver is a block Davidson method: what is
left of S v − μ(N + ρI)v, divided by N + ρI with some steps of conjugate gradients, widens the space in which
the best directions are looked for. A factorisation of N + ρI fills up (half of all entries at 5,000 words).
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

Floats = NDArray[Any]  # float32; float64 where results are checked

_DENSE = 1000  # columns up to which the matrices are formed
_MORE = 0.2  # vectors beyond the wanted ones, as a share of them
_BLOCKS = 5  # of vectors in the space, before it is reduced to the best ones
_STEPS = 8  # of conjugate gradients
_RESIDUAL = 1e-2  # what counts as converged, relative to μ; the error of μ is of the order of its square
_MOST_ROUNDS = 60


@dataclass(frozen=True)
class Components:
    """Columns v, those of largest μ first, and the μ."""

    vectors: Floats
    values: NDArray[np.float64]


class Moments:
    """S and N + ρI as operators on blocks of vectors."""

    def __init__(self, queries: Csr, docs: Csr, weights: Csr, ridge: float) -> None:
        total = float(weights.data.sum(dtype=np.float64))
        self.weights = weights.with_data((weights.data / total).astype(np.float32))
        self.weights_back = transpose(self.weights)
        self.rows = queries, docs
        self.turned = transpose(queries), transpose(docs)
        self.shares = [side.row_sums()[:, None] for side in (self.weights, self.weights_back)]
        self.noise_diagonal = self._noise_diagonal()
        self.ridge = ridge * float(self.noise_diagonal.mean())

    def signal(self, block: Floats) -> Floats:
        """S times the block."""
        q, d = (times_dense(rows, block) for rows in self.rows)
        return self._back(
            *(share.astype(block.dtype) / 2 * side for share, side in zip(self.shares, (q, d), strict=True))
        )

    def noise(self, block: Floats) -> Floats:
        """N + ρI times the block."""
        q, d = (times_dense(rows, block) for rows in self.rows)
        across, back = times_dense(self.weights, d), times_dense(self.weights_back, q)
        for share, side, other in zip(self.shares, (q, d), (across, back), strict=True):
            side *= share.astype(block.dtype)
            side -= other
        product = self._back(q, d)
        product += block.dtype.type(self.ridge) * block
        return product

    def _back(self, of_queries: Floats, of_docs: Floats) -> Floats:
        words_of_queries, words_of_docs = self.turned
        product = times_dense(words_of_queries, of_queries)
        product += times_dense(words_of_docs, of_docs)
        return product

    def _noise_diagonal(self) -> NDArray[np.float64]:
        """Σ w (q_i − d_i)² / Σw for each column i: squares of both sides less twice their product."""
        queries, docs = self.rows
        both = queries.to_scipy().multiply((self.weights.to_scipy() @ docs.to_scipy()).tocsr())
        diagonal = -2 * np.asarray(both.sum(axis=0), np.float64).ravel()
        for rows, share in zip(self.rows, self.shares, strict=True):
            squares = rows.data.astype(np.float64) ** 2 * np.repeat(share.ravel(), rows.row_nnz())
            diagonal += np.bincount(rows.indices, squares, rows.columns)
        return np.maximum(diagonal, 0)


def oriented_components(
    queries: Csr, docs: Csr, weights: Csr, k: int, *, ridge: float = 0.5, seed: int = 0,
    progress: Progress = quiet,
) -> Components:  # fmt: skip
    """The k leading components of pairs: rows of queries and documents over one set of columns."""
    moments = Moments(queries, docs, weights, ridge)
    size = queries.columns
    if size <= max(_DENSE, _BLOCKS * round((1 + _MORE) * k)):
        return _dense(moments, size, k)
    with progress("components", _MOST_ROUNDS) as done:
        return _davidson(moments, size, k, np.random.default_rng(seed), done)


def _dense(moments: Moments, size: int, k: int) -> Components:
    from scipy.linalg import eigh

    every = np.eye(size)
    values, vectors = eigh(moments.signal(every), moments.noise(every))
    return _finished(vectors[:, ::-1][:, :k], values[::-1][:k])


def _davidson(moments: Moments, size: int, k: int, random: np.random.Generator, done: Any) -> Components:
    width = round((1 + _MORE) * k)
    scale = (1 / np.sqrt(moments.noise_diagonal + moments.ridge)).astype(np.float32)[:, None]
    new = scale * random.standard_normal((size, width), dtype=np.float32)
    basis = noise = signal = np.empty((size, 0), np.float32)
    for _ in range(_MOST_ROUNDS):
        new, noise_of_new = _orthonormal(moments, new, basis, noise)
        basis, noise = np.hstack([basis, new]), np.hstack([noise, noise_of_new])
        signal = np.hstack([signal, moments.signal(new)])
        small, turn = np.linalg.eigh((basis.T @ signal).astype(np.float64))
        values, turn = small[::-1][:width], turn[:, ::-1][:, :width].astype(np.float32)
        best, best_noise, best_signal = basis @ turn, noise @ turn, signal @ turn
        rest = best_signal - best_noise * values.astype(np.float32)
        sizes = np.linalg.norm(scale * rest, axis=0) / np.abs(values)
        done(1)
        if (sizes[:k] <= _RESIDUAL).all():
            break
        if basis.shape[1] + width > _BLOCKS * width:
            basis, noise, signal = best, best_noise, best_signal
        new = _divide(moments, rest[:, sizes > _RESIDUAL], scale**2)
    return _finished(best[:, :k], values[:k])


def _orthonormal(moments: Moments, new: Floats, basis: Floats, noise: Floats) -> tuple[Floats, Floats]:
    """What the new vectors add to the basis, orthonormal to it and each other under N + ρI; that times it."""
    for _ in range(2):  # rounding spoils the first time
        new = new - basis @ (noise.T @ new)
        product = moments.noise(new)
        lengths, turn = np.linalg.eigh((new.T @ product).astype(np.float64))
        kept = lengths > 1e-6 * lengths.max()
        turn = (turn[:, kept] / np.sqrt(lengths[kept])).astype(new.dtype)
        new, product = new @ turn, product @ turn
    return new, product


def _divide(moments: Moments, rest: Floats, inverse_diagonal: Floats) -> Floats:
    """About (N + ρI)⁻¹ times the block: some steps of conjugate gradients, column by column."""
    solution = np.zeros_like(rest)
    towards = conditioned = inverse_diagonal * rest
    rest = rest.copy()
    before = np.einsum("ij,ij->j", rest, conditioned)
    for _ in range(_STEPS):
        product = moments.noise(towards)
        length = before / np.maximum(np.einsum("ij,ij->j", towards, product), 1e-30)
        solution += length * towards
        rest -= length * product
        conditioned = inverse_diagonal * rest
        now = np.einsum("ij,ij->j", rest, conditioned)
        towards = conditioned + now / np.maximum(before, 1e-30) * towards
        before = now
    return solution


def _finished(vectors: Floats, values: Floats) -> Components:
    """The entry of largest size in each vector is made positive."""
    largest = np.abs(vectors).argmax(axis=0)
    signs = np.where(vectors[largest, np.arange(vectors.shape[1])] < 0, -1, 1)
    return Components((vectors * signs).astype(np.float32), values)
