"""Singular triplets of products of sparse matrices against dense solvers, and by their definition."""

from contextlib import contextmanager

import numpy as np
import pytest
import scipy.sparse
import scipy.sparse.linalg
from hypothesis import given, settings
from hypothesis import strategies as st

from coclick.arrays.csr import Csr
from coclick.jit.threads import set_threads
from coclick.solvers.svd import truncated_svd


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
    """Values match numpy, vectors are orthonormal, and M maps right to left vectors."""
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
def test_small_matrices_match_the_dense_solver(rows, columns, k):
    matrix = sparse(rows, columns, 0.2, seed=rows)
    check(truncated_svd([matrix], k), product([matrix]), k)


def test_products_of_factors():
    factors = [sparse(700, 500, 0.01, 1), sparse(500, 600, 0.01, 2), sparse(600, 800, 0.01, 3)]
    check(truncated_svd(factors, 30), product(factors), 30, atol=1e-2)


def test_repeated_values():
    """450 equal components: any orthonormal basis of their span is correct."""
    island = scipy.sparse.block_diag([np.ones((2, 3))] * 450)
    found = truncated_svd([Csr.from_scipy(island)], 400)
    np.testing.assert_allclose(found.values, np.full(400, np.sqrt(6)), rtol=1e-5)
    np.testing.assert_allclose(found.left.T @ found.left, np.eye(400), atol=1e-4)


@pytest.mark.slow
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


def planted(rows, columns, values, seed):
    """A matrix with known singular values, as a product of two dense matrices in sparse format."""
    chance = np.random.default_rng(seed)
    left = np.linalg.qr(chance.standard_normal((rows, len(values))))[0] * values
    right = np.linalg.qr(chance.standard_normal((columns, len(values))))[0]
    return [Csr.from_scipy(scipy.sparse.csr_array(part)) for part in (left, right.T)]


def test_matches_scipy_across_spectral_gaps():
    """Where values are well separated, the space between two gaps equals that of scipy."""
    values = np.concatenate([[50.0], np.full(5, 20.0), np.full(14, 9.0), np.linspace(3, 0.5, 300)])
    factors = planted(900, 700, values, seed=1)
    found = truncated_svd(factors, 20)
    theirs = scipy.sparse.linalg.svds(product(factors), 20)
    np.testing.assert_allclose(found.values, theirs[1][::-1], rtol=1e-5)
    for first, last in [(0, 1), (1, 6), (6, 20)]:
        mine = found.right[:, first:last].astype(np.float64)
        other = theirs[2][::-1][first:last].T
        np.testing.assert_allclose(mine @ mine.T, other @ other.T, atol=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("k", [5, 60, 200])
def test_the_sum_of_values_is_accurate_without_spectral_gaps(k):
    """Random entries: values decrease slowly, the hardest case; the basis is restarted."""
    matrix = sparse(1500, 1200, 0.05, seed=k)
    found = truncated_svd([matrix], k)
    expected = np.linalg.svd(product([matrix]), compute_uv=False)[:k]
    assert 0.999 * expected.sum() <= found.values.sum() <= 1.00001 * expected.sum()
    np.testing.assert_allclose(found.left.T @ found.left, np.eye(k), atol=1e-4)
    np.testing.assert_allclose(found.right.T @ found.right, np.eye(k), atol=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize(
    "values",
    [
        10.0 ** -np.linspace(0, 8, 600),
        np.concatenate([[1.0], np.full(599, 2e-3)]),
        np.concatenate([np.full(250, 1.0), np.linspace(1, 0.1, 350)]),
    ],
    ids=["powers of ten", "one large", "many copies"],
)
def test_hard_spectra_in_single_precision(values):
    found = truncated_svd(planted(1000, 800, values, seed=2), 220)
    expected = np.sort(values)[::-1][:220]
    expected = expected[expected > 1e-5]
    assert len(found.values) == pytest.approx(len(expected), abs=2)
    assert found.values.sum() >= 0.999 * expected.sum()
    np.testing.assert_allclose(found.right.T @ found.right, np.eye(len(found.values)), atol=1e-3)


@pytest.mark.parametrize("size", [1e-30, 1e30])
def test_very_large_and_small_values(size):
    factors = planted(500, 400, np.linspace(2, 1, 400), seed=3)
    extreme = [factor.with_data((factor.data * size).astype(np.float32)) for factor in factors]
    plain, scaled = truncated_svd(factors, 10), truncated_svd(extreme, 10)
    np.testing.assert_allclose(scaled.values / size**2, plain.values, rtol=1e-4)


def test_empty_rows_and_columns_are_ignored():
    inner = sparse(30, 20, 0.3, seed=6)
    rows, columns = np.arange(30) * 40, np.arange(20) * 50 + 7
    wide = scipy.sparse.coo_array(inner.to_scipy())
    spread = Csr.from_triples(rows[wide.row], columns[wide.col], wide.data, (1300, 1100))
    found, expected = truncated_svd([spread], 5), truncated_svd([inner], 5)
    np.testing.assert_allclose(found.left[rows], expected.left, atol=1e-6)
    np.testing.assert_allclose(found.right[columns], expected.right, atol=1e-6)
    assert np.count_nonzero(np.abs(found.left).sum(axis=1)) <= 30


def test_signs_and_results_do_not_depend_on_threads():
    factors = [sparse(900, 700, 0.02, 7), sparse(700, 800, 0.02, 8)]
    results = []
    for count in (1, 2, 2, 5):
        set_threads(count)
        results.append(truncated_svd(factors, 12))
    set_threads(None)
    for other in results[1:]:
        assert np.array_equal(results[0].left, other.left)
        assert np.array_equal(results[0].values, other.values)
        assert np.array_equal(results[0].right, other.right)
    right = results[0].right
    assert (right[np.abs(right).argmax(axis=0), np.arange(12)] > 0).all()


def test_progress_is_reported_per_block():
    steps = []

    @contextmanager
    def progress(what, total=None):
        steps.append((what, total))
        yield lambda rows: steps.append(rows)

    truncated_svd([sparse(900, 700, 0.02, 9)], 20, progress=progress)
    assert steps[0] == ("singular vectors", 50)
    assert len(steps) > 3 and all(step == 16 for step in steps[1:])


def test_keyboard_interrupt_propagates():
    @contextmanager
    def progress(what, total=None):
        def done(rows):
            raise KeyboardInterrupt

        yield done

    with pytest.raises(KeyboardInterrupt):
        truncated_svd([sparse(900, 700, 0.02, 9)], 20, progress=progress)


@settings(deadline=None, max_examples=30)
@given(st.integers(1, 30), st.integers(1, 30), st.integers(1, 30), st.integers(1, 40), st.integers(0, 10**6))
def test_any_small_product(rows, inner, columns, k, seed):
    factors = [sparse(rows, inner, 0.3, seed), sparse(inner, columns, 0.3, seed + 1)]
    check(truncated_svd(factors, k), product(factors), k)
