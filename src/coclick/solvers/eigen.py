"""Leading eigenvectors of a large sparse symmetric matrix, by Lanczos with full reorthogonalisation.

Not ARPACK: it makes many short BLAS calls, whose threads mostly wait for each other, and takes several times
the CPU time with two threads on busy cores. `np.einsum` does not call BLAS, so that time and result do not
depend on the number of threads.

Not `svd.truncated_svd`: it is several times as fast (0.3 s against 1.3 s for the word vectors of `wmd` on the
sample log), but it stops when the sum of the leading values has converged to 5e-4, not each vector. Measured
there: the spans of the vectors differ by 0.5 (2-norm), and `wmd` scores by up to 0.46. This solver converges
every eigenpair to 1e-9.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import scipy.sparse

Doubles = NDArray[np.float64]

_MAX_STEPS = 200, 10  # a constant, plus so many per wanted vector; smaller matrices are solved densely
_TOLERANCE = 1e-9  # of residuals, relative to the largest eigenvalue
_ZERO = 1e-12  # relative to the norm of the matrix


def leading_eigenvectors(matrix: scipy.sparse.csr_array, count: int, seed: int) -> tuple[Doubles, Doubles]:
    """Return the eigenvectors (columns) of the eigenvalues of largest magnitude, and these, largest first."""
    max_steps = _MAX_STEPS[0] + _MAX_STEPS[1] * count
    if matrix.shape[0] <= max_steps:
        values, vectors = np.linalg.eigh(matrix.toarray())
        order = _largest(values, count)
        return vectors[:, order], values[order]
    return _lanczos(matrix, count, max_steps, seed)


def _lanczos(
    matrix: scipy.sparse.csr_array, count: int, max_steps: int, seed: int
) -> tuple[Doubles, Doubles]:
    """Build an orthonormal basis in which the matrix is tridiagonal, and solve the tridiagonal problem."""
    from scipy.linalg import eigh_tridiagonal

    random = np.random.default_rng(seed)
    size = matrix.shape[0]
    zero = _ZERO * np.linalg.norm(matrix.data)
    basis = np.empty((max_steps, size))
    diagonal, off_diagonal = np.zeros(max_steps), np.zeros(max_steps)
    rest = random.standard_normal(size)
    for steps in range(1, max_steps + 1):
        basis[steps - 1] = rest / _length(rest)
        rest = matrix @ basis[steps - 1]
        diagonal[steps - 1] = np.einsum("i,i", rest, basis[steps - 1])
        rest = _orthogonalise(rest, basis[:steps])
        if _length(rest) > zero:
            off_diagonal[steps - 1] = _length(rest)
        else:  # the span of the basis is invariant: continue with a random vector
            rest = _orthogonalise(random.standard_normal(size), basis[:steps])
        if steps % count == 0 or steps == max_steps:
            values, small = eigh_tridiagonal(diagonal[:steps], off_diagonal[: steps - 1])
            order = _largest(values, count)
            values, small = values[order], small[:, order]
            if off_diagonal[steps - 1] * np.abs(small[-1]).max() <= _TOLERANCE * abs(values[0]):
                break
    return basis[:steps].T @ small, values


def _largest(values: Doubles, count: int) -> NDArray[np.intp]:
    return np.argsort(-np.abs(values), kind="stable")[:count]


def _length(vector: Doubles) -> float:
    return float(np.sqrt(np.einsum("i,i", vector, vector)))


def _orthogonalise(vector: Doubles, basis: Doubles) -> Doubles:
    """Remove the components in the basis; twice, because of rounding."""
    for _ in range(2):
        shares = np.einsum("ij,j->i", basis, vector)
        vector = vector - np.einsum("i,ij->j", shares, basis)
    return vector
