"""Singular triplets of products of sparse matrices against dense solvers, and by what defines them."""

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st

from coclick.sparse import Csr
from coclick.svd import truncated_svd


def sparse(rows, columns, density, seed):
    chance = np.random.default_rng(seed)
    matrix = scipy.sparse.random_array((rows, columns), density=density, rng=chance, dtype=np.float32)
    return Csr.from_scipy(matrix)


def product(factors):
    dense = factors[0].to_scipy().toarray().astype(np.float64)
    for factor in factors[1:]:
        dense = dense @ factor.to_scipy().toarray().astype(np.float64)
    return dense


def check(found, dense, k, *, atol=1e-4):
    """Values as numpy's; orthonormal vectors; each pair maps to one another."""
    expected = np.linalg.svd(dense, compute_uv=False)
    expected = expected[:k][expected[:k] > 1e-5 * expected.max(initial=0)]
    size = expected.max(initial=1e-300)
    assert len(found.values) == len(expected)
    np.testing.assert_allclose(found.values, expected, rtol=1e-3, atol=1e-6 * size)
    assert found.left.shape == (dense.shape[0], len(expected))
    assert found.right.shape == (dense.shape[1], len(expected))
    eye = np.eye(len(expected))
    np.testing.assert_allclose(found.left.T @ found.left, eye, atol=1e-3)
    np.testing.assert_allclose(found.right.T @ found.right, eye, atol=1e-5)
    np.testing.assert_allclose(dense @ found.right / size, found.left * (found.values / size), atol=atol)


@pytest.mark.parametrize("rows, columns, k", [(1, 9, 3), (9, 1, 3), (40, 60, 5), (60, 40, 40), (60, 40, 99)])
def test_small_matrices_agree_with_the_dense_solver(rows, columns, k):
    matrix = sparse(rows, columns, 0.2, seed=rows)
    check(truncated_svd([matrix], k), product([matrix]), k)


def test_products_of_factors():
    factors = [sparse(700, 500, 0.01, 1), sparse(500, 600, 0.01, 2), sparse(600, 800, 0.01, 3)]
    check(truncated_svd(factors, 30), product(factors), 30, atol=1e-2)


def test_repeated_values():
    """450 islands of equal size: any orthonormal vectors of their span will do."""
    island = scipy.sparse.block_diag([np.ones((2, 3))] * 450)
    found = truncated_svd([Csr.from_scipy(island)], 400)
    np.testing.assert_allclose(found.values, np.full(400, np.sqrt(6)), rtol=1e-5)
    np.testing.assert_allclose(found.left.T @ found.left, np.eye(400), atol=1e-4)


def test_rank_below_k():
    factors = [sparse(900, 12, 0.3, 4), sparse(12, 1000, 0.3, 5)]
    found = truncated_svd(factors, 50)
    check(found, product(factors), 50)
    assert len(found.values) == 12


@pytest.mark.parametrize("shape", [(5, 7), (0, 7), (5, 0), (1000, 900)])
def test_zeros(shape):
    found = truncated_svd([Csr.empty(*shape)], 3)
    assert found.left.shape == (shape[0], 0) and found.right.shape == (shape[1], 0)
    assert found.values.shape == (0,)


@settings(deadline=None, max_examples=30)
@given(st.integers(1, 30), st.integers(1, 30), st.integers(1, 30), st.integers(1, 40), st.integers(0, 10**6))
def test_any_small_product(rows, inner, columns, k, seed):
    factors = [sparse(rows, inner, 0.3, seed), sparse(inner, columns, 0.3, seed + 1)]
    check(truncated_svd(factors, k), product(factors), k)
