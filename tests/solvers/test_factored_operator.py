"""Products of sparse factors against dense products."""

import numpy as np
import pytest
import scipy.sparse

from coclick.arrays.csr import Csr
from coclick.solvers.factored_operator import FactoredOperator


def sparse(rows, columns, density, seed):
    chance = np.random.default_rng(seed)
    return Csr.from_scipy(scipy.sparse.random_array((rows, columns), density=density, rng=chance))


@pytest.mark.parametrize("density", [0.02, 0.1, 0.5])
def test_applies_the_product_without_zero_rows_and_columns(density):
    factors = [sparse(40, 30, density, 1), sparse(30, 50, density, 2), sparse(50, 20, density, 3)]
    dense = np.linalg.multi_dot([factor.to_scipy().toarray().astype(np.float64) for factor in factors])
    operator = FactoredOperator(factors)
    assert np.array_equal(operator.rows, np.flatnonzero(dense.any(axis=1)))
    assert np.array_equal(operator.columns, np.flatnonzero(dense.any(axis=0)))
    part = dense[np.ix_(operator.rows, operator.columns)]
    block = np.random.default_rng(0).standard_normal((part.shape[1], 4), dtype=np.float32)
    if not part.size:
        return
    np.testing.assert_allclose(operator.times(block) * operator.scale, part @ block, rtol=1e-4, atol=1e-5)
    operator.rescale(1000)
    squared = operator.gram_times(block) * operator.scale**2
    np.testing.assert_allclose(squared, part.T @ part @ block, rtol=1e-4, atol=1e-4)
    back = operator.transposed().times(operator.times(block)) * operator.scale**2
    np.testing.assert_allclose(back, part.T @ part @ block, rtol=1e-4, atol=1e-4)


def test_stored_zeros_are_ignored():
    zero = Csr(np.array([0, 2]), np.array([0, 1], np.int32), np.array([0, 3], np.float32), 2)
    operator = FactoredOperator([zero, Csr.from_scipy(scipy.sparse.eye_array(2, format="csr"))])
    assert operator.columns.tolist() == [1]
