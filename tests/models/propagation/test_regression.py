"""Eq. 7 against dense linear algebra."""

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st

from coclick.jit.threads import set_threads
from coclick.models.propagation.regression import UnitRegression
from coclick.models.propagation.units import _least_squares


def problem(seed, texts=30, units=12, terms=9):
    random = np.random.default_rng(seed)
    incidence = random.random((texts, units)) < random.random((texts, 1))  # short and long texts
    vectors = scipy.sparse.random_array((units, terms), density=0.5, rng=random).toarray()
    vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
    targets = scipy.sparse.random_array((texts, terms), density=0.5, rng=random).toarray()
    return incidence, vectors.astype(np.float32), targets.astype(np.float32)


def arrays(dense):
    csr = scipy.sparse.csr_array(dense)
    return csr.indptr.astype(np.int64), csr.indices.astype(np.int32), csr.data.astype(np.float32)


def regression(incidence, vectors, targets):
    indptr, units, _ = arrays(incidence.astype(np.float32))
    return UnitRegression(indptr, units, arrays(vectors), arrays(targets), vectors.shape[1])


@settings(deadline=None, max_examples=25)
@given(st.integers(0, 10_000))
def test_normal_equations_equal_the_dense_ones(seed):
    incidence, vectors, targets = problem(seed)
    ours = regression(incidence, vectors, targets)
    both = incidence.astype(np.float64)
    gram = (vectors @ vectors.T).astype(np.float64) * (both.T @ both)
    right = ((both.T @ targets) * vectors).sum(axis=1)
    weights = np.random.default_rng(seed).random(len(vectors))
    np.testing.assert_allclose(ours.apply(weights), gram @ weights, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(ours.right_side(), right, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(ours.diagonal(), np.diag(gram), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("rho", [0.1, 1.0, 30.0])
def test_solution_equals_the_dense_one(rho):
    incidence, vectors, targets = problem(7)
    ours = regression(incidence, vectors, targets)
    both = incidence.astype(np.float64)
    gram = (vectors @ vectors.T).astype(np.float64) * (both.T @ both)
    right = ((both.T @ targets) * vectors).sum(axis=1)
    prior = np.full(len(vectors), 0.5)
    expected = np.linalg.solve(gram + rho * np.eye(len(gram)), right + rho * prior)
    found, iterations = ours.solve(ours.right_side(), prior, rho, tolerance=1e-6)
    np.testing.assert_allclose(found, np.maximum(expected, 0), atol=1e-3)
    assert 0 < iterations <= 50


def test_the_best_multiple_minimises_the_error():
    incidence, vectors, targets = problem(3)
    ours = regression(incidence, vectors, targets)
    weights = np.random.default_rng(1).random(len(vectors))
    found = ours.best_multiple(weights, ours.right_side())

    def error(factor):
        return np.sum((targets - incidence.astype(float) @ (factor * weights[:, None] * vectors)) ** 2)

    assert error(found) <= min(error(found * 1.01), error(found * 0.99))
    assert found > 0


def test_a_hand_computed_weight():
    """Two texts contain one unit whose vector is e₀; targets 0.6·e₀ and 0.2·e₀ + e₁: the mean, 0.4."""
    ours = regression(
        np.ones((2, 1), bool),
        np.array([[1.0, 0.0]], np.float32),
        np.array([[0.6, 0.0], [0.2, 1.0]], np.float32),
    )
    found, _ = ours.solve(ours.right_side(), np.zeros(1), 0.0)
    np.testing.assert_allclose(found, [0.4], rtol=1e-5)


def test_plain_least_squares_has_negative_weights():
    """−4/3 · (1, 0) + 5/3 · (0.8, 0.6) = (0, 1), the target, exactly."""
    vectors = np.array([[1, 0], [0.8, 0.6]], np.float32)
    found = regression(np.ones((1, 2), bool), vectors, np.array([[0, 1]], np.float32))
    weights, iterations = _least_squares(found, found.right_side(), np.ones(2), lambda _: None)
    np.testing.assert_allclose(weights, [-4 / 3, 5 / 3], atol=1e-5)
    assert iterations == 2


@pytest.mark.parametrize("seed", range(4))
def test_plain_least_squares_fits_as_well_as_the_dense_solution(seed):
    incidence, vectors, targets = problem(seed, texts=60)
    design = np.einsum("tu,uw->twu", incidence, vectors).reshape(-1, len(vectors)).astype(float)
    best, *_ = np.linalg.lstsq(design, targets.ravel())
    ours = regression(incidence, vectors, targets)
    found, _ = _least_squares(ours, ours.right_side(), np.zeros(len(vectors)), lambda _: None)
    np.testing.assert_allclose(design @ found, design @ best, atol=1e-3)
    assert found.min() < 0


def test_without_a_prior_units_without_texts_keep_their_weight():
    """The same texts and unit, a unit without texts, and one with an empty vector."""
    ours = regression(
        np.array([[True, False, True], [True, False, False]]),
        np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]], np.float32),
        np.array([[0.6, 0.0], [0.2, 1.0]], np.float32),
    )
    found, iterations = ours.solve(ours.right_side(), np.array([0.0, 0.7, 0.3]), 0.0)
    np.testing.assert_allclose(found, [0.4, 0.7, 0.3], rtol=1e-5)
    assert iterations == 1


def test_results_do_not_depend_on_threads():
    incidence, vectors, targets = problem(5)
    weights = np.random.default_rng(5).random(len(vectors))
    found = []
    for threads in (1, 3):
        set_threads(threads)
        found.append(regression(incidence, vectors, targets).apply(weights))
    set_threads(None)
    np.testing.assert_array_equal(*found)


def test_products_of_long_texts_are_not_cached():
    """Targets have 30 entries; a text with 5 units has 10 products, one with 6 has 15."""
    lengths = [5, 5, 6, 1]
    incidence = np.arange(12) < np.array(lengths)[:, None]
    targets = (np.arange(9) < [[9], [9], [9], [3]]).astype(np.float32)
    ours = regression(incidence, np.ones((12, 9), np.float32), targets)
    assert sum(map(len, ours.products)) == 20
    known = UnitRegression(
        ours.text_indptr, ours.text_units, ours.units, ours.targets, ours.terms, ours.products
    )
    np.testing.assert_array_equal(known.apply(np.ones(12)), ours.apply(np.ones(12)))
