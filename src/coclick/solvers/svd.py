"""Leading singular triplets of a product M of sparse matrices, in float32, without forming the product.

Block Krylov (Golub and Kahan; Musco and Musco 2015): an orthonormal basis V grows by one block of vectors at
a time, the part of A v outside of V, where A = Mᵀ M and v is the last block; the eigenvectors of VᵀAV
approach those of A. Small blocks need the fewest vectors (about 2.3 k), and sparse products of narrow blocks
stay in the cache.

Accuracy. The basis grows until the remaining gain of the sum of the k largest values, extrapolated from its
last two gains, is below `_TOLERANCE` of the sum; the true gain is smaller, since convergence accelerates. The
accuracy of a single vector depends on the gap to the next value: where values are equal, any basis of their
space is correct. The values are those of M V in float64, and M · right = left · values holds to rounding.
Columns are orthonormal to about 1e-5, or 1e-3 where thousands of repeated values fill the whole space.

Repeated values. A Krylov space grown from b random vectors contains at most b copies of a value (the
connected components of a click graph can have thousands). Where a value is found b times, k more random
vectors are added, so that all k copies can be found.

Memory: a basis of at most `_ROOM` · k vectors of the shorter side, at most twice the result, and the factors
with their transposes. A full basis is restarted from its best k vectors and one block.

The result depends on the input and the seed only, not on the number of threads.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from coclick.arrays.csr import Csr
from coclick.jit.blas import single_threaded_blas
from coclick.progress import Progress, quiet
from coclick.solvers.blocked_blas import (
    copy_transposed,
    gram,
    multiply_into,
    row_products,
    subtract_product,
)
from coclick.solvers.factored_operator import FactoredOperator

Floats = NDArray[np.float32]
Doubles = NDArray[np.float64]

_EXACT = 300, 2  # up to so many columns, or so many times k, the basis is the whole space
_BLOCK = 16, 6, 128  # vectors in a block: minimum, fraction 1/n of k, maximum
_ROOM = 3.5
_EXPECTED = 2.5  # times k: expected size of the basis, for the progress bar
_MAX_VECTORS = 50  # times (k + block): vectors that are multiplied at most
_TOLERANCE = 5e-4
_ZERO = 1e-5  # of the largest value
_CHECK = 1.5, 1 / 6  # times k: the basis size at the first convergence check, and the growth between checks
_REORTHOGONALISE, _DROP = 0.03, 1e-5  # relative lengths below which a vector is orthogonalised again, dropped
_DROP_SECOND = 0.5  # the same at the second orthogonalisation: below it, the rest was rounding
_EQUAL = 2e-3  # relative difference of values that may be copies


@dataclass(frozen=True)
class SingularTriplets:
    """M ≈ left · diag(values) · rightᵀ."""

    left: Floats  # rows × k, orthonormal columns
    values: Doubles  # descending, all above 0
    right: Floats  # columns × k, orthonormal columns


def truncated_svd(
    factors: Sequence[Csr], k: int, *, seed: int = 0, progress: Progress = quiet
) -> SingularTriplets:
    """Return the `k` leading singular triplets of factors[0] @ factors[1] @ …; fewer if the rank is lower.

    Values up to `_ZERO` of the largest count as zero: their vectors are noise. The entry of largest magnitude
    in each right vector is positive.
    """
    operator = FactoredOperator(factors)
    shape = factors[0].rows, factors[-1].columns
    is_transposed = len(operator.rows) < len(operator.columns)
    if is_transposed:
        operator, shape = operator.transposed(), (shape[1], shape[0])
    if not _rescale(operator, seed):
        k = 0
    left, values, right = _triplets(operator, _leading_space(operator, k, seed, progress), k, shape)
    if is_transposed:
        left, right = right, left
    signs = np.where(right.max(axis=0, initial=0) >= -right.min(axis=0, initial=0), 1, -1).astype(np.float32)
    left *= signs
    right *= signs
    return SingularTriplets(left, values, right)


def _rescale(operator: FactoredOperator, seed: int) -> bool:
    """Scale the product so that squared values neither overflow nor underflow; return False if it is zero."""
    probe = np.random.default_rng(seed).standard_normal((len(operator.columns), 1), dtype=np.float32)
    size = float(np.abs(operator.times(probe)).max(initial=0))
    if size > 0:
        operator.rescale(size)
    return size > 0


def _triplets(
    operator: FactoredOperator, basis: Floats, k: int, shape: tuple[int, int]
) -> tuple[Floats, Doubles, Floats]:
    """The best triplets with right vectors in the span of an orthonormal basis."""
    if k == 0:
        return np.zeros((shape[0], 0), np.float32), np.zeros(0), np.zeros((shape[1], 0), np.float32)
    products = operator.times(basis)
    squares, small = _eigen(gram(products))
    values = np.sqrt(np.maximum(squares[:k], 0))
    values = values[values > _ZERO * values[0]]
    small = small[:, : len(values)]
    left = multiply_into(
        products, small / values, np.zeros((shape[0], len(values)), np.float32), operator.rows
    )
    del products
    right = multiply_into(basis, small, np.zeros((shape[1], len(values)), np.float32), operator.columns)
    return left, values * operator.scale, right


def _leading_space(operator: FactoredOperator, k: int, seed: int, progress: Progress) -> Floats:
    """Orthonormal vectors whose span approximately contains the k leading right singular vectors."""
    size = len(operator.columns)
    if size <= max(_EXACT[0], _EXACT[1] * k):
        return np.eye(size, dtype=np.float32)
    with progress("singular vectors", round(_EXPECTED * k)) as done:
        return _Krylov(operator, k, seed).grow(done)


class _Krylov:
    """An orthonormal basis V of a growing Krylov space of A = MᵀM, and VᵀAV."""

    def __init__(self, operator: FactoredOperator, k: int, seed: int) -> None:
        self.operator, self.k = operator, k
        self.block = min(max(_BLOCK[0], k // _BLOCK[1]), _BLOCK[2])
        self.random = np.random.default_rng(seed)
        room = min(len(operator.columns), round(_ROOM * k) + 4 * self.block)
        self.basis = np.empty((room, len(operator.columns)), np.float32)  # one vector per row
        self.inner = np.zeros((room, room))  # the upper triangle of VᵀAV
        self.used = 0  # vectors of the basis that A has been applied to

    def grow(self, done: Callable[[int], None]) -> Floats:
        """Add blocks until the k largest values have converged; return their vectors and a few more."""
        (room, size), max_vectors = self.basis.shape, _MAX_VECTORS * (self.k + self.block)
        block = self._fresh(self.block)
        starts = block.shape[1]  # random vectors so far
        multiplied = checked = 0
        sums: list[float] = []
        while block.shape[1] and self.used < size and multiplied < max_vectors:
            if self.used + block.shape[1] > room:
                self._restart()
                checked = self.used
            multiplied += block.shape[1]
            done(block.shape[1])
            block = self._multiply(block)
            is_closed = block.shape[1] == 0  # the space is invariant under A
            if 0 < block.shape[1] < self.block // 2:  # nearly invariant: narrow blocks would be slow
                added = self.block - block.shape[1]
                block = self._new_part(np.hstack([block, self._random_vectors(added)]))[0]
                starts += added
            if not is_closed and (self.used < _CHECK[0] * self.k or self.used - checked < _CHECK[1] * self.k):
                continue
            checked = self.used
            values = self._values()
            sums.append(float(values.sum()))
            if is_closed or _is_converged(sums):
                if not _may_have_more_copies(values, starts):
                    break
                if self.used + self.k > room:
                    self._restart()
                block = self._fresh(self.k)
                starts += self.k
                sums = []
        vectors = self._leading_vectors(self.k + _BLOCK[0])[1]
        best = np.empty((self.basis.shape[1], vectors.shape[1]), np.float32)
        return multiply_into(self.basis[: self.used].T, vectors, best)

    def _multiply(self, block: Floats) -> Floats:
        """Add an orthonormal block to the basis; return an orthonormal basis of the new part of A · block."""
        before, self.used = self.used, self.used + block.shape[1]
        copy_transposed(self.basis[before : self.used], block)
        product = self.operator.gram_times(block)
        new, shares = self._new_part(product)
        self.inner[: self.used, before : self.used] = shares
        return new

    def _fresh(self, count: int) -> Floats:
        """Random orthonormal vectors, orthogonal to the basis."""
        return self._new_part(self._random_vectors(count))[0]

    def _random_vectors(self, count: int) -> Floats:
        vectors = self.random.standard_normal((self.basis.shape[1], count), dtype=np.float32)
        return vectors / np.float32(np.sqrt(self.basis.shape[1]))

    def _new_part(self, vectors: Floats) -> tuple[Floats, Doubles]:
        """An orthonormal basis of the part of the vectors outside of V, and their components in V."""
        known = self.basis[: self.used]
        shares = row_products(known, vectors)
        subtract_product(vectors, known, shares)
        new, smallest = _orthonormal(vectors, shares, _DROP)
        if smallest < _REORTHOGONALISE:  # little is left, with large rounding errors: repeat
            again = row_products(known, new)
            subtract_product(new, known, again)
            new, _ = _orthonormal(new, again, _DROP_SECOND)
        return new, shares

    def _restart(self) -> None:
        """Keep only the best vectors."""
        values, vectors = self._leading_vectors(self.k + self.block)
        count = len(values)
        multiply_into(self.basis[: self.used].T, vectors, self.basis[:count].T)
        self.inner[:] = 0
        np.fill_diagonal(self.inner[:count, :count], values)
        self.used = count

    def _values(self) -> Doubles:
        with single_threaded_blas():
            squares = np.linalg.eigvalsh(self.inner[: self.used, : self.used], UPLO="U")
        return np.sqrt(np.maximum(squares[::-1][: self.k], 0))

    def _leading_vectors(self, count: int) -> tuple[Doubles, Doubles]:
        """The largest eigenvalues of VᵀAV, and their vectors in coordinates of V."""
        squares, vectors = _eigen(self.inner[: self.used, : self.used])
        return squares[:count], vectors[:, :count]


def _eigen(upper: Doubles) -> tuple[Doubles, Doubles]:
    """Eigenvalues, descending, and eigenvectors of a symmetric matrix given by its upper triangle."""
    with single_threaded_blas():
        values, vectors = np.linalg.eigh(upper, UPLO="U")
    return values[::-1], vectors[:, ::-1]


def _orthonormal(rests: Floats, shares: Doubles, min_length: float) -> tuple[Floats, float]:
    """An orthonormal basis of vectors whose components `shares` in another basis were subtracted.

    Relative to the original lengths, directions shorter than `min_length` are dropped; also returns the
    smallest length that was kept.
    """
    products = gram(rests)
    lengths = np.sqrt(products.diagonal() + (shares * shares).sum(axis=0))
    unit = 1 / np.maximum(lengths, np.finfo(np.float32).tiny)
    squares, small = _eigen(products * unit[:, None] * unit)
    keep = squares > min_length**2
    small = unit[:, None] * small[:, keep] / np.sqrt(squares[keep])
    new = multiply_into(rests, small, np.empty((len(rests), small.shape[1]), np.float32))
    return new, float(np.sqrt(squares[keep].min(initial=1)))


def _is_converged(sums: list[float]) -> bool:
    """Whether the remaining gain of the sum, extrapolated geometrically, is below the tolerance."""
    if len(sums) < 3:
        return False
    before, gain = sums[-2] - sums[-3], sums[-1] - sums[-2]
    rate = max(gain, 0) / max(before, gain, 1e-30)
    return gain * rate <= _TOLERANCE * sums[-1] * (1 - rate)


def _may_have_more_copies(values: Doubles, starts: int) -> bool:
    """Whether a value occurs as often as possible in a Krylov space grown from so many vectors."""
    values = values[values > _ZERO * values[0]]
    lag = starts - 1
    return bool((values[lag:] >= (1 - _EQUAL) * values[: max(len(values) - lag, 0)]).any())
