"""Products of tall dense matrices beside numpy's, in sizes around those of a block."""

import numpy as np
import pytest

from coclick.solvers.blocked_blas import cross, gram, put, single_threaded_blas, subtract, turn


def drawn(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape, dtype=np.float32)


@pytest.mark.parametrize("rows", [1, 15, 16, 17, 1024, 3000])
def test_products_are_numpys(rows):
    a, b, small = drawn(rows, 5), drawn(rows, 3, seed=1), drawn(5, 3, seed=2).astype(np.float64)
    wide = a.astype(np.float64)
    np.testing.assert_allclose(gram(a), wide.T @ wide, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(cross(np.ascontiguousarray(a.T), b), wide.T @ b, rtol=1e-4, atol=1e-3)
    np.testing.assert_allclose(turn(a, small, np.empty_like(b)), wide @ small, rtol=1e-4, atol=1e-4)
    expected = b - wide @ small
    subtract(b, np.ascontiguousarray(a.T), small)
    np.testing.assert_allclose(b, expected, rtol=1e-4, atol=1e-4)
    vectors = np.empty((5, rows), np.float32)
    put(vectors, a)
    assert np.array_equal(vectors, a.T)


def test_turn_in_place_and_to_chosen_rows():
    vectors, small = drawn(6, 2500), drawn(6, 2, seed=1).astype(np.float64)
    expected = vectors.T @ small
    spread = turn(vectors.T, small, np.zeros((5000, 2), np.float32), np.arange(2500) * 2)
    np.testing.assert_allclose(spread[::2], expected, rtol=1e-4, atol=1e-4)
    assert not spread[1::2].any()
    turn(vectors.T, small, vectors[:2].T)
    np.testing.assert_allclose(vectors[:2].T, expected, rtol=1e-4, atol=1e-4)


def test_no_vectors():
    rest = drawn(40, 3)
    before = rest.copy()
    none = np.empty((0, 40), np.float32)
    assert cross(none, rest).shape == (0, 3)
    subtract(rest, none, np.empty((0, 3)))
    assert np.array_equal(rest, before)


def test_blas_is_left_as_it_was():
    with single_threaded_blas(), single_threaded_blas():
        inside = drawn(300, 300) @ drawn(300, 300)
    np.testing.assert_allclose(drawn(300, 300) @ drawn(300, 300), inside, rtol=1e-4, atol=1e-3)
