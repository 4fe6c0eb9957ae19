"""Products of tall dense matrices against numpy, in sizes around that of a block."""

import numpy as np
import pytest

from coclick.solvers.blocked_blas import (
    copy_transposed,
    gram,
    multiply_into,
    row_products,
    subtract_product,
)


def drawn(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape, dtype=np.float32)


@pytest.mark.parametrize("rows", [1, 15, 16, 17, 1024, 3000])
def test_products_match_numpy(rows):
    a, b, small = drawn(rows, 5), drawn(rows, 3, seed=1), drawn(5, 3, seed=2).astype(np.float64)
    wide = a.astype(np.float64)
    np.testing.assert_allclose(gram(a), wide.T @ wide, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(row_products(np.ascontiguousarray(a.T), b), wide.T @ b, rtol=1e-4, atol=1e-3)
    np.testing.assert_allclose(multiply_into(a, small, np.empty_like(b)), wide @ small, rtol=1e-4, atol=1e-4)
    expected = b - wide @ small
    subtract_product(b, np.ascontiguousarray(a.T), small)
    np.testing.assert_allclose(b, expected, rtol=1e-4, atol=1e-4)
    vectors = np.empty((5, rows), np.float32)
    copy_transposed(vectors, a)
    assert np.array_equal(vectors, a.T)


def test_multiply_into_in_place_and_into_selected_rows():
    vectors, small = drawn(6, 2500), drawn(6, 2, seed=1).astype(np.float64)
    expected = vectors.T @ small
    spread = multiply_into(vectors.T, small, np.zeros((5000, 2), np.float32), np.arange(2500) * 2)
    np.testing.assert_allclose(spread[::2], expected, rtol=1e-4, atol=1e-4)
    assert not spread[1::2].any()
    multiply_into(vectors.T, small, vectors[:2].T)
    np.testing.assert_allclose(vectors[:2].T, expected, rtol=1e-4, atol=1e-4)


def test_no_vectors():
    rest = drawn(40, 3)
    before = rest.copy()
    none = np.empty((0, 40), np.float32)
    assert row_products(none, rest).shape == (0, 3)
    subtract_product(rest, none, np.empty((0, 3)))
    assert np.array_equal(rest, before)
