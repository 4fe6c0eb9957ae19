"""Leading singular triplets of a product M of sparse matrices, in float32, without forming the product.

Block Krylov (Golub and Kahan; Musco and Musco, 2015): an orthonormal basis V grows by a block of vectors at a
time, the part of A v that is new, where A = Mᵀ M and v is the last block; the eigenvectors of VᵀAV approach
those of A. Small blocks need the fewest vectors (about 2.3 k of them), and sparse products of narrow blocks
stay in the cache.

Accuracy. The basis grows until what the sum of the k largest values can still gain, by the ratio of its last
two gains, is below `_TOLERANCE` of it; the true gain is less, since gains fall faster and faster. Single
vectors are as good as the gap to the next value allows: where values are equal, any basis of their space is
right. The values are those of M V in float64 arithmetic, and M · right = left · values holds to rounding.
Columns are orthonormal to about 1e-5, to 1e-3 where a space with thousands of copies was filled to the last.

Repeated values. A Krylov space grown from b random vectors holds at most b copies of a value (islands of a
click graph can have thousands). Where a value is found b times, k more random vectors join: then all k copies
there can be are found.

Memory: the basis of at most `_ROOM` · k vectors of the shorter side, at most twice the result, and the
factors with their transposes. A basis that is full is replaced by its best k vectors and a block, and grows
on.

Same input, same seed: same result, whatever the number of threads.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from coclick.arrays.csr import Csr
from coclick.progress import Progress, quiet
from coclick.solvers.blocked_blas import cross, gram, put, single_threaded_blas, subtract, turn
from coclick.solvers.factored_operator import Operator

Floats = NDArray[np.float32]
Doubles = NDArray[np.float64]

_EXACT = 300, 2  # a shorter side of at most so many vectors, or so many times k, is the basis itself
_BLOCK = 16, 6, 128  # vectors in a block: at least, this part of k, at most
_ROOM = 3.5
_USUAL = 2.5  # times k: how large a basis is expected to get, for the progress bar
_MOST = 50  # times k, and as many blocks: vectors that are multiplied at most
_TOLERANCE = 5e-4
_NOTHING = 1e-5  # of the largest value: what counts as zero
_CHECK = 1.5, 1 / 6  # times k: how large a basis is looked at first, and after how much growth again
_ROUNDED, _GONE = 0.03, 1e-5  # shares of a vector that are left: to be made orthogonal again, to be dropped
_ONLY_ROUNDING = 0.5  # what is left the second time: less was rounding alone
_EQUAL = 2e-3  # relative: values that may be copies of one


@dataclass(frozen=True)
class Singular:
    """M ≈ left · diag(values) · rightᵀ."""

    left: Floats  # rows × k, orthonormal columns
    values: Doubles  # falling, all above 0
    right: Floats  # columns × k, orthonormal columns


def truncated_svd(factors: Sequence[Csr], k: int, *, seed: int = 0, progress: Progress = quiet) -> Singular:
    """Leading singular triplets of factors[0] @ factors[1] @ …; fewer than `k` where the rank is lower.

    Values up to `_NOTHING` of the largest count as zero: their vectors are noise. Signs: the entry of largest
    size in each right vector is positive.
    """
    operator = Operator(factors)
    shape = factors[0].rows, factors[-1].columns
    is_turned = len(operator.rows) < len(operator.columns)
    if is_turned:
        operator, shape = operator.turned(), (shape[1], shape[0])
    if not _has_size_one(operator, seed):
        k = 0
    left, values, right = _triplets(operator, _leading_space(operator, k, seed, progress), k, shape)
    if is_turned:
        left, right = right, left
    signs = np.where(right.max(axis=0, initial=0) >= -right.min(axis=0, initial=0), 1, -1).astype(np.float32)
    left *= signs
    right *= signs
    return Singular(left, values, right)


def _has_size_one(operator: Operator, seed: int) -> bool:
    """Scale the product so that its values do not overflow nor vanish when squared; False if it is zero."""
    probe = np.random.default_rng(seed).standard_normal((len(operator.columns), 1), dtype=np.float32)
    size = float(np.abs(operator.times(probe)).max(initial=0))
    if size > 0:
        operator.rescale(size)
    return size > 0


def _triplets(
    operator: Operator, basis: Floats, k: int, shape: tuple[int, int]
) -> tuple[Floats, Doubles, Floats]:
    """The best triplets with right vectors in the space of an orthonormal basis."""
    if k == 0:
        return np.zeros((shape[0], 0), np.float32), np.zeros(0), np.zeros((shape[1], 0), np.float32)
    images = operator.times(basis)
    squares, small = _eigen(gram(images))
    values = np.sqrt(np.maximum(squares[:k], 0))
    values = values[values > _NOTHING * values[0]]
    small = small[:, : len(values)]
    left = turn(images, small / values, np.zeros((shape[0], len(values)), np.float32), operator.rows)
    del images
    right = turn(basis, small, np.zeros((shape[1], len(values)), np.float32), operator.columns)
    return left, values * operator.scale, right


def _leading_space(operator: Operator, k: int, seed: int, progress: Progress) -> Floats:
    """Orthonormal vectors whose span holds about what the k leading right singular vectors span, and more."""
    size = len(operator.columns)
    if size <= max(_EXACT[0], _EXACT[1] * k):
        return np.eye(size, dtype=np.float32)
    with progress("singular vectors", round(_USUAL * k)) as done:
        return _Krylov(operator, k, seed).grow(done)


class _Krylov:
    """An orthonormal basis with what A = MᵀM does in its space, growing by the image of its last block."""

    def __init__(self, operator: Operator, k: int, seed: int) -> None:
        self.operator, self.k = operator, k
        self.block = min(max(_BLOCK[0], k // _BLOCK[1]), _BLOCK[2])
        self.random = np.random.default_rng(seed)
        room = min(len(operator.columns), round(_ROOM * k) + 4 * self.block)
        self.basis = np.empty((room, len(operator.columns)), np.float32)  # a vector in each row
        self.inner = np.zeros((room, room))  # the upper triangle of VᵀAV
        self.used = 0  # vectors of the basis that A has been applied to

    def grow(self, done: Callable[[int], None]) -> Floats:
        """Add blocks until the k largest values are found; vectors that span theirs and a few more."""
        (room, size), most = self.basis.shape, _MOST * (self.k + self.block)
        block = self._fresh(self.block)
        starts = block.shape[1]  # random vectors so far
        multiplied = checked = 0
        sums: list[float] = []
        while block.shape[1] and self.used < size and multiplied < most:
            if self.used + block.shape[1] > room:
                self._shrink()
                checked = self.used
            multiplied += block.shape[1]
            done(block.shape[1])
            block = self._multiply(block)
            is_closed = block.shape[1] == 0  # all that the random vectors lead to is there
            if 0 < block.shape[1] < self.block // 2:  # much of it is: narrow steps would be slow
                added = self.block - block.shape[1]
                block = self._new_part(np.hstack([block, self._drawn(added)]))[0]
                starts += added
            if not is_closed and (self.used < _CHECK[0] * self.k or self.used - checked < _CHECK[1] * self.k):
                continue
            checked = self.used
            values = self._values()
            sums.append(float(values.sum()))
            if is_closed or _is_settled(sums):
                if not _may_have_more_copies(values, starts):
                    break
                if self.used + self.k > room:
                    self._shrink()
                block = self._fresh(self.k)
                starts += self.k
                sums = []
        vectors = self._leading_vectors(self.k + _BLOCK[0])[1]
        best = np.empty((self.basis.shape[1], vectors.shape[1]), np.float32)
        return turn(self.basis[: self.used].T, vectors, best)

    def _multiply(self, block: Floats) -> Floats:
        """Add an orthonormal block to the basis; what its image under A has that is new, orthonormal."""
        before, self.used = self.used, self.used + block.shape[1]
        put(self.basis[before : self.used], block)
        image = self.operator.squared_times(block)
        new, shares = self._new_part(image)
        self.inner[: self.used, before : self.used] = shares
        return new

    def _fresh(self, count: int) -> Floats:
        """Random orthonormal vectors at right angles to the basis."""
        return self._new_part(self._drawn(count))[0]

    def _drawn(self, count: int) -> Floats:
        drawn = self.random.standard_normal((self.basis.shape[1], count), dtype=np.float32)
        return drawn / np.float32(np.sqrt(self.basis.shape[1]))

    def _new_part(self, vectors: Floats) -> tuple[Floats, Doubles]:
        """An orthonormal basis of what the vectors have beside the known basis, and their shares in that."""
        known = self.basis[: self.used]
        shares = cross(known, vectors)
        subtract(vectors, known, shares)
        new, smallest = _orthonormal(vectors, shares, _GONE)
        if smallest < _ROUNDED:  # little was left, and that is full of rounding: once more
            again = cross(known, new)
            subtract(new, known, again)
            new, _ = _orthonormal(new, again, _ONLY_ROUNDING)
        return new, shares

    def _shrink(self) -> None:
        """Keep the best vectors only."""
        values, vectors = self._leading_vectors(self.k + self.block)
        count = len(values)
        turn(self.basis[: self.used].T, vectors, self.basis[:count].T)
        self.inner[:] = 0
        np.fill_diagonal(self.inner[:count, :count], values)
        self.used = count

    def _values(self) -> Doubles:
        with single_threaded_blas():
            squares = np.linalg.eigvalsh(self.inner[: self.used, : self.used], UPLO="U")
        return np.sqrt(np.maximum(squares[::-1][: self.k], 0))

    def _leading_vectors(self, count: int) -> tuple[Doubles, Doubles]:
        """The largest eigenvalues of A in the space of the basis, and their vectors in terms of it."""
        squares, vectors = _eigen(self.inner[: self.used, : self.used])
        return squares[:count], vectors[:, :count]


def _eigen(upper: Doubles) -> tuple[Doubles, Doubles]:
    """Eigenvalues, falling, and eigenvectors of a symmetric matrix given by its upper triangle."""
    with single_threaded_blas():
        values, vectors = np.linalg.eigh(upper, UPLO="U")
    return values[::-1], vectors[:, ::-1]


def _orthonormal(rests: Floats, shares: Doubles, least: float) -> tuple[Floats, float]:
    """Orthonormal vectors that span the rests of vectors without their shares in an orthonormal basis.

    Also the smallest length that one of them was made from, where the vectors had length 1 before their
    shares were taken away. Directions of which less than `least` is left are dropped.
    """
    products = gram(rests)
    lengths = np.sqrt(products.diagonal() + (shares * shares).sum(axis=0))
    unit = 1 / np.maximum(lengths, np.finfo(np.float32).tiny)
    squares, small = _eigen(products * unit[:, None] * unit)
    keep = squares > least**2
    small = unit[:, None] * small[:, keep] / np.sqrt(squares[keep])
    new = turn(rests, small, np.empty((len(rests), small.shape[1]), np.float32))
    return new, float(np.sqrt(squares[keep].min(initial=1)))


def _is_settled(sums: list[float]) -> bool:
    """Whether the sum will gain next to nothing: gains fall at least as fast as from the last but one."""
    if len(sums) < 3:
        return False
    before, gain = sums[-2] - sums[-3], sums[-1] - sums[-2]
    rate = max(gain, 0) / max(before, gain, 1e-30)
    return gain * rate <= _TOLERANCE * sums[-1] * (1 - rate)


def _may_have_more_copies(values: Doubles, starts: int) -> bool:
    """Whether a value is there as often as a space grown from so many vectors can hold it."""
    values = values[values > _NOTHING * values[0]]
    apart = starts - 1
    return bool((values[apart:] >= (1 - _EQUAL) * values[: max(len(values) - apart, 0)]).any())
