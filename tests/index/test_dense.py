"""The exact index of dense vectors against numpy, for one query and for blocks of them."""

import numpy as np
import pytest
from threadpoolctl import threadpool_info

from coclick.index import dense
from coclick.index.dense import DenseIndex
from coclick.jit.threads import set_threads


def drawn(rows, seed):
    return np.random.default_rng(seed).standard_normal((rows, 24)).astype(np.float32)


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("n_queries", [1, 2, 7])
def test_finds_the_largest_products(n_queries, threads):
    vectors, queries = drawn(500, 0), drawn(n_queries, 1)
    set_threads(threads)
    try:
        rows, scores = DenseIndex.build(vectors).search(queries, 5)
    finally:
        set_threads(None)
    products = queries.astype(np.float64) @ vectors.T.astype(np.float64)
    assert rows.tolist() == np.argsort(-products, axis=1)[:, :5].tolist()
    np.testing.assert_allclose(scores, -np.sort(-products, axis=1)[:, :5], rtol=1e-5)


def test_no_queries():
    rows, _ = DenseIndex.build(drawn(500, 0)).search(drawn(0, 1), 5)
    assert rows.shape == (0, 5)


@pytest.mark.parametrize("n_queries", [1, 9])
def test_blas_does_not_start_threads_in_a_search(n_queries, monkeypatch):
    found = []
    real = dense.candidates

    def record(*arguments):
        found.extend(one["num_threads"] for one in threadpool_info() if "numpy" in one["filepath"])
        return real(*arguments)

    monkeypatch.setattr(dense, "candidates", record)
    DenseIndex.build(drawn(500, 0)).search(drawn(n_queries, 1), 5)
    assert set(found) == {1}
