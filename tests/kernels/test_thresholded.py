"""Thresholded products compared with dense numpy and with a numerical optimiser."""

from typing import Any

import numpy as np
import pytest
import scipy.optimize
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st

from coclick.arrays.csr import Csr
from coclick.jit.threads import set_threads
from coclick.kernels import thresholded
from coclick.kernels.sparse_products import column_ranges, times, times_sparse
from coclick.kernels.thresholded import thresholded_product


@pytest.fixture(autouse=True)
def all_threads():
    yield
    set_threads(None)


def matrix(rows, columns, density, seed):
    random = np.random.default_rng(seed)
    return Csr.from_scipy(
        scipy.sparse.random_array(
            (rows, columns), density=density, rng=random, data_sampler=random.standard_normal
        )
    )


def naive(left, right, thresholds, length):
    """Row by row, entry by entry."""
    z = left.to_scipy().toarray().astype(float) @ right.to_scipy().toarray().astype(float)
    kept = np.sign(z) * np.maximum(np.abs(z) - thresholds[:, None], 0)
    gains = np.array([np.sqrt(sum(value * value for value in row)) for row in kept])
    return kept * np.where(gains > 0, length / np.maximum(gains, 1e-300), 0)[:, None], gains


sizes = st.integers(1, 40)
densities = st.floats(0, 1)


@settings(max_examples=60)
@given(sizes, sizes, sizes, densities, densities, st.floats(0, 2), st.integers(0, 1000))
def test_it_equals_the_thresholded_dense_product(m, n, d, left_density, right_density, threshold, seed):
    left, right = matrix(m, n, left_density, seed), matrix(n, d, right_density, seed + 1)
    thresholds = np.random.default_rng(seed).uniform(0, threshold, m).astype(np.float32)
    expected, gains = naive(left, right, thresholds, 2.5)
    for rows in (right, right.to_scipy().toarray()):
        found = thresholded_product(left, rows, thresholds, length=2.5)
        np.testing.assert_allclose(found.gains, gains, atol=1e-4)
        faint = (gains < 1e-3)[:, None]  # rounding decides the direction of rows of almost no length
        np.testing.assert_allclose(
            np.where(faint, 0, found.rows.to_scipy().toarray()), np.where(faint, 0, expected), atol=1e-3
        )
        assert found.rows.find_defect() is None
        for row in range(m):
            assert (np.diff(found.rows.row(row)[0]) > 0).all(), "columns ascend"


@settings(max_examples=30)
@given(sizes, sizes, sizes, densities, densities, st.integers(0, 1000))
def test_products_without_thresholds(m, n, d, left_density, right_density, seed):
    left, right = matrix(m, n, left_density, seed), matrix(n, d, right_density, seed + 1)
    expected = left.to_scipy().toarray() @ right.to_scipy().toarray()
    for rows in (right, right.to_scipy().toarray()):
        found = times(left, rows)
        dense = found.to_scipy().toarray() if isinstance(found, Csr) else found
        np.testing.assert_allclose(dense, expected, atol=1e-4)
    np.testing.assert_allclose(times_sparse(left, right), expected, atol=1e-4)


def test_column_ranges_are_parts_of_the_product():
    left, right = matrix(30, 40, 0.2, 0), matrix(40, 37, 0.3, 1)
    whole = left.to_scipy().toarray() @ right.to_scipy().toarray()
    for width in (1, 8, 36, 37, 50):
        parts = [times_sparse(left, right, some) for some in column_ranges(right, width)]
        assert all(part.shape[1] <= width for part in parts)
        np.testing.assert_allclose(np.hstack(parts), whole, atol=1e-4)


def test_a_product_overwrites_its_output():
    left, right = matrix(30, 40, 0.2, 0), matrix(40, 37, 0.3, 1)
    room = np.full((30, 37), 7, np.float32)
    assert times_sparse(left, right, out=room) is room
    np.testing.assert_allclose(room, left.to_scipy().toarray() @ right.to_scipy().toarray(), atol=1e-4)


def test_rows_of_all_densities():
    """Rows that are copied, rows that touch some groups of columns, and rows that touch all."""
    right = matrix(400, 900, 0.02, 3)
    left = matrix(300, 400, 0.5, 4).to_scipy().toarray()
    left[:100] *= np.arange(400) == 7
    left[100:200] *= np.arange(400) < 12
    left = Csr.from_scipy(scipy.sparse.csr_array(left))
    assert {1} < set(left.row_nnz().tolist())
    found = thresholded_product(left, right, np.full(300, 0.1, np.float32), length=1.0)
    expected, gains = naive(left, right, np.full(300, 0.1), 1.0)
    np.testing.assert_allclose(found.rows.to_scipy().toarray(), expected, atol=1e-4)
    np.testing.assert_allclose(found.gains, gains, rtol=1e-4)


def test_products_with_few_entries_are_sparse_others_dense():
    left = matrix(50, 80, 0.02, 0)
    assert isinstance(times(left, matrix(80, 300, 0.01, 1)), Csr)
    assert isinstance(times(left, matrix(80, 300, 0.5, 1)), np.ndarray)


def test_each_row_is_the_exact_minimiser():
    """No feasible point has a lower cost: neither random ones nor the result of an optimiser."""
    random = np.random.default_rng(3)
    left, right = matrix(12, 20, 0.4, 4), matrix(20, 6, 0.6, 5)
    thresholds = random.uniform(0.05, 1.0, 12).astype(np.float32)
    theta = 1.7
    found = thresholded_product(left, right, thresholds, length=theta)
    z = left.to_scipy().toarray().astype(float) @ right.to_scipy().toarray().astype(float)
    for row, (target, threshold) in enumerate(zip(z, thresholds.astype(float), strict=True)):

        def cost(entries, target=target, threshold=threshold):
            return -target @ entries + threshold * np.abs(entries).sum()

        best = found.rows.to_scipy().toarray()[row].astype(float)
        assert np.linalg.norm(best) <= theta * (1 + 1e-6)
        assert cost(best) == pytest.approx(-theta * found.gains[row], abs=1e-5)
        for scale in (0.01, 0.3, 3.0):
            for _ in range(50):
                other = best + scale * random.standard_normal(6)
                other *= min(1, theta / np.linalg.norm(other))
                assert cost(best) <= cost(other) + 1e-5
        # |l| = p + n with p, n ≥ 0 makes the problem smooth
        solved = scipy.optimize.minimize(
            lambda x, target=target, threshold=threshold: -target @ (x[:6] - x[6:]) + threshold * x.sum(),
            np.full(12, 0.1),
            bounds=[(0, None)] * 12,
            constraints={"type": "ineq", "fun": lambda x: theta**2 - ((x[:6] - x[6:]) ** 2).sum()},
        )
        assert cost(best) == pytest.approx(solved.fun, abs=1e-4)


def test_unknown_thresholds_are_set_for_rows_with_entries():
    left = Csr.from_scipy(scipy.sparse.csr_array(np.array([[1.0, 0], [0, 1], [0, 0]])))
    right = Csr.from_scipy(scipy.sparse.csr_array(np.array([[3.0, 4, 0, 0], [0, 0, 0, 0]])))
    found = thresholded_product(left, right, np.full(3, -1, np.float32), share=0.5, length=1.0)
    # the root mean square of 3, 4, 0, 0 is 2.5
    np.testing.assert_allclose(found.thresholds, [1.25, -1, -1])
    kept = np.array([1.75, 2.75])
    np.testing.assert_allclose(found.rows.data, kept / np.linalg.norm(kept), rtol=1e-6)
    assert found.rows.row_nnz().tolist() == [2, 0, 0]


def test_results_do_not_depend_on_threads():
    left, right = matrix(3000, 900, 0.02, 6), matrix(900, 130, 0.1, 7)
    thresholds = np.full(3000, -1, np.float32)
    for rows in (right, right.to_scipy().toarray()):
        results: list[list[Any]] = []
        for count in (1, 2, 5):
            set_threads(count)
            found = thresholded_product(left, rows, thresholds, 1.0, 1.0)
            results.append([found.rows.indptr, found.rows.indices, found.rows.data, found.gains])
        for others in results[1:]:
            for one, other in zip(results[0], others, strict=True):
                assert one.tobytes() == other.tobytes()


def test_rows_of_several_waves_are_joined(monkeypatch):
    left, right = matrix(300, 90, 0.1, 8), matrix(90, 130, 0.1, 9)
    expected = left.to_scipy().toarray() @ right.to_scipy().toarray()
    monkeypatch.setattr(thresholded, "_MAX_WAVE", 5000)
    assert thresholded.max_entries(left, right) > 2 * 5000
    found = thresholded_product(left, right, np.zeros(300, np.float32)).rows
    assert found.find_defect() is None
    np.testing.assert_allclose(found.to_scipy().toarray(), expected, atol=1e-5)


def test_wide_rows_with_few_entries():
    left, right = matrix(200, 300, 0.02, 10), matrix(300, 9000, 0.0005, 11)
    expected = left.to_scipy() @ right.to_scipy()
    found = thresholded_product(left, right, np.zeros(200, np.float32)).rows
    assert abs(found.to_scipy() - expected).max() < 1e-5
    assert found.find_defect() is None


def test_mismatched_shapes_are_refused():
    with pytest.raises(ValueError, match="do not fit"):
        times(matrix(3, 4, 0.5, 0), matrix(5, 2, 0.5, 0))
    with pytest.raises(ValueError, match="do not fit"):
        thresholded_product(matrix(3, 4, 0.5, 0), np.zeros((5, 2), np.float32), np.zeros(3, np.float32))
