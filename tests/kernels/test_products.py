"""Products of sparse and dense matrices compared with scipy."""

import numpy as np
import pytest
import scipy.sparse

from coclick.arrays.csr import Csr
from coclick.jit.threads import set_threads
from coclick.kernels.products import times_dense


def random_rows(rows, columns, density, seed):
    return Csr.from_scipy(scipy.sparse.random(rows, columns, density, "csr", np.float32, seed))


@pytest.mark.parametrize("rows, columns, width", [(1, 1, 1), (50, 30, 7), (3, 400, 33), (700, 5, 16)])
def test_times_dense_equals_scipy(rows, columns, width):
    matrix = random_rows(rows, columns, 0.2, rows)
    dense = np.random.default_rng(width).standard_normal((columns, width)).astype(np.float32)
    expected = matrix.to_scipy().astype(np.float64) @ dense
    np.testing.assert_allclose(times_dense(matrix, dense), expected, rtol=1e-5, atol=1e-5)
    out = np.full((rows, width), np.nan, np.float32)
    assert times_dense(matrix, np.asfortranarray(dense), out) is out
    np.testing.assert_allclose(out, expected, rtol=1e-5, atol=1e-5)


def test_results_do_not_depend_on_threads():
    matrix = random_rows(500, 300, 0.05, 1)
    dense = np.random.default_rng(2).standard_normal((300, 40)).astype(np.float32)
    results = []
    for count in (1, 2, 5):
        set_threads(count)
        results.append(times_dense(matrix, dense))
    set_threads(None)
    assert all(np.array_equal(results[0], other) for other in results[1:])


def test_mismatched_shapes_are_refused():
    with pytest.raises(ValueError, match="do not fit"):
        times_dense(Csr.empty(2, 3), np.zeros((4, 1), np.float32))
