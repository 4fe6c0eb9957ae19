"""Leading eigenvectors of a large sparse symmetric matrix, by Lanczos with full reorthogonalisation.

Why not ARPACK: it makes many short calls of BLAS, in which threads mostly wait for each other, and takes
several times the processor time with two threads on busy cores. `np.einsum` never calls BLAS: the time and
the result do not depend on the number of threads.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import scipy.sparse

Floats = NDArray[np.float64]

_STEPS = 200, 10  # at most: these, and so many for each wanted vector; smaller matrices are solved densely
_RESIDUAL = 1e-9  # of the largest eigenvalue: what counts as converged
_NOTHING = 1e-12  # of the matrix's norm: what counts as zero


def leading_eigenvectors(matrix: scipy.sparse.csr_array, count: int, seed: int) -> tuple[Floats, Floats]:
    """The eigenvectors (columns) with the eigenvalues of largest size, and these, largest first."""
    most = _STEPS[0] + _STEPS[1] * count
    if matrix.shape[0] <= most:
        values, vectors = np.linalg.eigh(matrix.toarray())
        order = _largest(values, count)
        return vectors[:, order], values[order]
    return _lanczos(matrix, count, most, seed)


def _lanczos(matrix: scipy.sparse.csr_array, count: int, most: int, seed: int) -> tuple[Floats, Floats]:
    """Build an orthonormal basis, a vector a step, in which the matrix is tridiagonal, and solve that."""
    from scipy.linalg import eigh_tridiagonal

    random = np.random.default_rng(seed)
    size = matrix.shape[0]
    nothing = _NOTHING * np.linalg.norm(matrix.data)
    basis = np.empty((most, size))
    diagonal, beside = np.zeros(most), np.zeros(most)
    rest = random.standard_normal(size)
    for steps in range(1, most + 1):
        basis[steps - 1] = rest / _length(rest)
        rest = matrix @ basis[steps - 1]
        diagonal[steps - 1] = np.einsum("i,i", rest, basis[steps - 1])
        rest = _without(rest, basis[:steps])
        if _length(rest) > nothing:
            beside[steps - 1] = _length(rest)
        else:  # the matrix does not lead out of what the basis spans: go on elsewhere
            rest = _without(random.standard_normal(size), basis[:steps])
        if steps % count == 0 or steps == most:
            values, small = eigh_tridiagonal(diagonal[:steps], beside[: steps - 1])
            order = _largest(values, count)
            values, small = values[order], small[:, order]
            if beside[steps - 1] * np.abs(small[-1]).max() <= _RESIDUAL * abs(values[0]):
                break
    return basis[:steps].T @ small, values


def _largest(values: Floats, count: int) -> NDArray[np.intp]:
    return np.argsort(-np.abs(values), kind="stable")[:count]


def _length(vector: Floats) -> float:
    return float(np.sqrt(np.einsum("i,i", vector, vector)))


def _without(vector: Floats, basis: Floats) -> Floats:
    """What of the vector is at right angles to the basis. Twice, because rounding spoils the first time."""
    for _ in range(2):
        shares = np.einsum("ij,j->i", basis, vector)
        vector = vector - np.einsum("i,ij->j", shares, basis)
    return vector
