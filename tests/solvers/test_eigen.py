"""Leading eigenvectors against numpy's dense solver, and by their definition."""

import numpy as np
import pytest
import scipy.sparse

from coclick.solvers.eigen import leading_eigenvectors


def sparse_symmetric(size, seed):
    chance = np.random.default_rng(seed)
    matrix = scipy.sparse.random_array((size, size), density=0.05, rng=chance).tocsr()
    return (matrix + matrix.T).tocsr()


@pytest.mark.parametrize("size", [40, 280, 281, 900])
def test_matches_the_dense_solver(size):
    """For 8 vectors, a matrix of up to 280 rows is solved densely, a larger one by Lanczos."""
    matrix = sparse_symmetric(size, seed=size)
    vectors, values = leading_eigenvectors(matrix, 8, seed=0)
    expected, eigenvectors = np.linalg.eigh(matrix.toarray())
    order = np.argsort(-np.abs(expected))[:8]
    np.testing.assert_allclose(values, expected[order], rtol=1e-8)
    np.testing.assert_allclose(np.abs(eigenvectors[:, order].T @ vectors), np.eye(8), atol=1e-4)


def test_few_distinct_eigenvalues():
    """The Krylov space is invariant after three steps, one for each of 5, −3 and 0; it is extended."""
    matrix = scipy.sparse.diags_array([5.0] * 4 + [-3.0] * 3 + [0.0] * 500).tocsr()
    vectors, values = leading_eigenvectors(matrix, 10, seed=0)
    np.testing.assert_allclose(values, [5] * 4 + [-3] * 3 + [0] * 3, atol=1e-9)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(10), atol=1e-9)
    np.testing.assert_allclose(matrix @ vectors, vectors * values, atol=1e-9)


def test_zero_matrix():
    vectors, values = leading_eigenvectors(scipy.sparse.csr_array((300, 300)), 4, seed=0)
    assert (values == 0).all()
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(4), atol=1e-9)
