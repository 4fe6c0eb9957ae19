"""Steps of stochastic gradient descent against the formulas on dense rows."""

import math

import numpy as np
import pytest
import scipy.sparse

from coclick.arrays.csr import Csr
from coclick.solvers.pairwise import csr_arrays, hinge_epoch, logistic_epoch, squared_epoch

WORDS, WIDTH = 8, 3


def random_problem(seed=0, dtype=np.float64):
    random = np.random.default_rng(seed)
    sides = [
        Csr.from_scipy(scipy.sparse.random(count, WORDS, 0.5, "csr", np.float32, random)) for count in (4, 6)
    ]
    mappings = [random.standard_normal((WORDS, WIDTH)).astype(dtype) for _ in sides]
    preferences = tuple(random.integers(0, n, 10).astype(np.int32) for n in (4, 6, 6))
    return sides, mappings, preferences, random.permutation(10)


def dense(rows):
    return rows.to_scipy().toarray().astype(np.float64)


def test_hinge_by_the_formula():
    (queries, docs), (left, right), preferences, order = random_problem(1)
    u, v = left.T.copy(), right.T.copy()  # the paper's U and V: dimensions × words
    losses = []
    for i in order:
        q = dense(queries)[preferences[0][i]]
        z = dense(docs)[preferences[1][i]] - dense(docs)[preferences[2][i]]
        loss = max(0.0, 1 - q @ (u.T @ v + np.eye(WORDS)) @ z)
        losses.append(loss)
        if loss > 0:
            u, v = u + 0.1 * np.outer(v @ z, q), v + 0.1 * np.outer(u @ q, z)
    loss = hinge_epoch(csr_arrays(queries), csr_arrays(docs), preferences, order, left, right, 0.1)
    assert loss == pytest.approx(np.mean(losses), rel=1e-6)
    np.testing.assert_allclose(left, u.T, rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(right, v.T, rtol=1e-5, atol=1e-7)


def test_hinge_by_hand():
    """One word: f = (U V + 1) q d, U = 2, V = 0.1, q = 0.5; better contains the word once, worse does not."""
    half, one = (
        csr_arrays(Csr.from_scipy(scipy.sparse.csr_array(np.array([[value], [0.0]], np.float32))))
        for value in (0.5, 1.0)
    )
    left, right = np.array([[2.0]]), np.array([[0.1]])
    zero = np.zeros(1, np.int32)
    preferences = (zero, zero, zero + 1)
    loss = hinge_epoch(half, one, preferences, np.zeros(1, np.int64), left, right, 0.5)
    assert loss == pytest.approx(0.4)  # 1 − (0.2 + 1) · 0.5
    assert left[0, 0] == pytest.approx(2.025)  # 2 + 0.5 · 0.1 · 0.5
    assert right[0, 0] == pytest.approx(0.6)  # 0.1 + 0.5 · 2 · 0.5, from the old value
    assert hinge_epoch(half, one, preferences, np.zeros(1, np.int64), left, right, 0.5) == 0


def test_squared_by_the_formula():
    (queries, docs), (left, right), preferences, order = random_problem(2)
    targets = np.random.default_rng(3).standard_normal(10)
    query_bias, doc_bias = np.linspace(-1, 1, WORDS), np.linspace(1, 0, WORDS)
    p, r, b_q, b_d = left.copy(), right.copy(), query_bias.copy(), doc_bias.copy()
    rate, decay, mean = 0.05, 0.3, 0.7
    losses = []
    for i in order:
        x, z = dense(queries)[preferences[0][i]], dense(docs)[preferences[1][i]]
        error = targets[i] - (mean + b_q @ x + b_d @ z + (x @ p) @ (z @ r))
        losses.append(error**2 / 2)
        holds, held = (x != 0)[:, None], (z != 0)[:, None]
        p, r = (
            p + rate * (error * np.outer(x, z @ r) - decay * p * holds),
            r + rate * (error * np.outer(z, x @ p) - decay * r * held),
        )
        b_q = b_q + rate * (error * x - decay * b_q * (x != 0))
        b_d = b_d + rate * (error * z - decay * b_d * (z != 0))
    loss = squared_epoch(
        csr_arrays(queries), csr_arrays(docs), preferences[:2], targets, order, left, right,
        query_bias, doc_bias, mean, rate, decay,
    )  # fmt: skip
    assert loss == pytest.approx(np.mean(losses), rel=1e-6)
    for ours, expected in ((left, p), (right, r), (query_bias, b_q), (doc_bias, b_d)):
        np.testing.assert_allclose(ours, expected, rtol=1e-5, atol=1e-7)


def test_squared_by_hand():
    """ŷ = 1 + 0.5 + 0.25 + 2 · 3 = 7.75, y = 8.75, so the error is 1; nothing shrinks."""
    one = csr_arrays(Csr.from_scipy(scipy.sparse.csr_array(np.array([[1.0]], np.float32))))
    left, right, b_q, b_d = np.array([[2.0]]), np.array([[3.0]]), np.array([0.5]), np.array([0.25])
    zero = np.zeros(1, np.int32)
    loss = squared_epoch(
        one, one, (zero, zero), np.array([8.75]), np.zeros(1, np.int64), left, right, b_q, b_d, 1.0, 0.1, 0.0
    )
    assert loss == pytest.approx(0.5)
    assert (left[0, 0], right[0, 0], b_q[0], b_d[0]) == pytest.approx((2.3, 3.2, 0.6, 0.35))


def logistic(queries, docs, preferences, i, p, r, b):
    x = dense(queries)[preferences[0][i]]
    z = dense(docs)[preferences[1][i]] - dense(docs)[preferences[2][i]]
    return math.log1p(math.exp(-((x @ p) @ (z @ r) + b @ z)))


def test_logistic_by_finite_differences():
    """Without decay, a step is minus the rate times the gradient of ln(1 + exp(−Δ))."""
    (queries, docs), (left, right), preferences, _ = random_problem(4)
    bias = np.linspace(-1, 1, WORDS)
    old = left.copy(), right.copy(), bias.copy()
    first = np.zeros(1, np.int64)
    loss = logistic_epoch(
        csr_arrays(queries), csr_arrays(docs), preferences, first, left, right, bias, 0.1, 0.0
    )
    assert loss == pytest.approx(logistic(queries, docs, preferences, 0, *old), rel=1e-9)
    for which, moved in enumerate((left, right, bias)):
        for place in np.ndindex(moved.shape):
            values = []
            for step in (1e-5, -1e-5):
                nudged = [array.copy() for array in old]
                nudged[which][place] += step
                values.append(logistic(queries, docs, preferences, 0, *nudged))
            slope = (values[0] - values[1]) / 2e-5
            assert moved[place] - old[which][place] == pytest.approx(-0.1 * slope, abs=1e-7)


def test_a_logistic_step_shrinks_the_parameters_it_reads():
    one = csr_arrays(Csr.from_scipy(scipy.sparse.csr_array(np.array([[1.0, 0], [0, 0]], np.float32))))
    left, right, bias = np.zeros((2, 1)), np.full((2, 1), 4.0), np.full(2, 2.0)
    zero = np.zeros(1, np.int32)
    logistic_epoch(one, one, (zero, zero, zero + 1), np.zeros(1, np.int64), left, right, bias, 0.1, 0.5)
    push = 0.1 / (1 + math.exp(2.0))
    assert left[:, 0] == pytest.approx([push * 4, 0])
    assert right[:, 0] == pytest.approx([0.95 * 4, 4])
    assert bias == pytest.approx([0.95 * 2 + push, 2])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_rate_of_zero_changes_nothing(dtype):
    (queries, docs), (left, right), preferences, order = random_problem(5, dtype)
    bias, targets = np.ones(WORDS, dtype), np.ones(10, dtype)
    before = left.copy(), right.copy(), bias.copy()
    sides = csr_arrays(queries), csr_arrays(docs)
    hinge_epoch(*sides, preferences, order, left, right, 0.0)
    logistic_epoch(*sides, preferences, order, left, right, bias, 0.0, 0.1)
    squared_epoch(*sides, preferences[:2], targets, order, left, right, bias, bias, 0.0, 0.0, 0.1)
    for array, old in zip((left, right, bias), before, strict=True):
        assert np.array_equal(array, old)
