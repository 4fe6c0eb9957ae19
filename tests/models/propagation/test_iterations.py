"""Half-steps, unit vectors and iterations against dense sums."""

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st

from coclick.arrays.csr import Csr
from coclick.jit.threads import set_threads
from coclick.models.propagation.iterations import (
    Propagation,
    initial_vectors,
    mean_cosine,
    propagate_once,
    propagate_through_units,
    random_pair_cosine,
)
from coclick.progress import quiet


def dense(matrix):
    return matrix.to_scipy().toarray().astype(np.float64)


def expected(sums, k):
    """Prune each row to its k largest entries, ties by smaller term; then normalise."""
    out = np.zeros_like(sums)
    for i, row in enumerate(sums):
        terms = [t for t in np.argsort(-row, kind="stable") if row[t] > 0][:k]
        out[i, terms] = row[terms] / np.linalg.norm(row[terms]) if terms else 0
    return out


def problem(seed, rows=None):
    """Small whole numbers, so that sums are exact in float32 and ties are real.

    Every third problem has many terms, because more than 64 sums are selected in another way.
    """
    random = np.random.default_rng(seed)
    count, others, terms = (int(n) for n in random.integers(1, 30, 3))
    terms += 150 * (seed % 3 == 0)

    def matrix(shape):
        drawn = scipy.sparse.random_array(shape, density=random.uniform(0, 0.6), rng=random)
        drawn.data = random.integers(1, 4, drawn.nnz).astype(np.float32)
        return Csr.from_scipy(drawn)

    weights, vectors = matrix((count, others)), matrix((others, terms))
    return weights, vectors, int(random.integers(1, 12 + terms // 4))


@settings(max_examples=150)
@given(st.integers(0, 10**6))
def test_half_step(seed):
    weights, vectors, k = problem(seed)
    ours = propagate_once(weights, vectors, k)
    np.testing.assert_allclose(dense(ours), expected(dense(weights) @ dense(vectors), k), atol=1e-6)
    assert ours.find_defect() is None
    for row in range(ours.rows):
        terms, _ = ours.row(row)
        assert (np.diff(terms) > 0).all(), "terms ascend"


def test_a_text_with_too_many_words_keeps_the_most_frequent():
    """A packed row has at most 65,535 entries: of 70,000 the last of the rarest are dropped."""
    counts = np.ones((2, 70_000), np.float32)
    counts[0, -1000:] = 3
    counts[1, 5:] = 0
    start = initial_vectors(Csr.from_scipy(scipy.sparse.csr_array(counts)))
    terms, values = start.row(0)
    assert terms.tolist() == [*range(64_535), *range(69_000, 70_000)]
    np.testing.assert_allclose(values[-1] / values[0], 3, rtol=1e-6)
    np.testing.assert_allclose(np.square(values, dtype=np.float64).sum(), 1, rtol=1e-5)
    np.testing.assert_allclose(start.row(1)[1], np.full(5, 5**-0.5), rtol=1e-6)
    assert propagate_once(Csr.from_scipy(scipy.sparse.csr_array([[1.0, 1.0]])), start, 3).nnz == 3


@pytest.mark.parametrize("most", [1, 9])
def test_many_entries_are_kept(most):
    """More than 256 are sorted in another way; with a `most` of 1 nearly all sums tie."""
    random = np.random.default_rng(0)

    def matrix(shape):
        drawn = scipy.sparse.random_array(shape, density=0.3, rng=random)
        drawn.data = random.integers(1, most + 1, drawn.nnz).astype(np.float32)
        return Csr.from_scipy(drawn)

    weights, vectors = matrix((20, 30)), matrix((30, 1500))
    ours = propagate_once(weights, vectors, 600)
    np.testing.assert_allclose(dense(ours), expected(dense(weights) @ dense(vectors), 600), atol=1e-6)
    assert ours.row_nnz().max() == 600


@settings(max_examples=60)
@given(st.integers(0, 10**6))
def test_unit_vectors(seed):
    weights, vectors, k = problem(seed)
    random = np.random.default_rng(seed)
    holds = random.random((int(random.integers(1, 20)), weights.rows)) < 0.3
    pattern = Csr.from_scipy(scipy.sparse.csr_array(holds.astype(np.float32)))
    arrays = pattern.indptr, pattern.indices
    ours = propagate_through_units(*arrays, weights, vectors, k, lambda rows: None)
    sums = holds.astype(np.float64) @ dense(weights) @ dense(vectors)
    np.testing.assert_allclose(dense(ours), expected(sums, k), atol=1e-6)


@pytest.mark.parametrize("seed", range(8))
def test_unit_vectors_in_blocks_of_a_few_edges(seed, monkeypatch):
    monkeypatch.setattr("coclick.models.propagation.iterations._EDGES_PER_BLOCK", 4)
    random = np.random.default_rng(seed)
    weights = Csr.from_scipy(scipy.sparse.random_array((12, 9), density=0.4, rng=random))
    vectors = Csr.from_scipy(scipy.sparse.random_array((9, 15), density=0.4, rng=random))
    holds = random.random((20, 12)) < 0.3
    pattern = Csr.from_scipy(scipy.sparse.csr_array(holds.astype(np.float32)))
    done = []
    ours = propagate_through_units(pattern.indptr, pattern.indices, weights, vectors, 5, done.append)
    sums = holds.astype(np.float64) @ dense(weights) @ dense(vectors)
    np.testing.assert_allclose(dense(ours), expected(sums, 5), atol=1e-6)
    assert len(done) > 1, "more than one block"


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_results_do_not_depend_on_threads(threads):
    random = np.random.default_rng(3)
    weights = Csr.from_scipy(scipy.sparse.random_array((3000, 2000), density=0.003, rng=random))
    vectors = Csr.from_scipy(scipy.sparse.random_array((2000, 500), density=0.03, rng=random))
    try:
        set_threads(1)
        alone = propagate_once(weights, vectors, 20)
        set_threads(threads)
        together = propagate_once(weights, vectors, 20)
    finally:
        set_threads(None)
    np.testing.assert_array_equal(alone.indptr, together.indptr)
    np.testing.assert_array_equal(alone.indices, together.indices)
    np.testing.assert_array_equal(alone.data, together.data)


@settings(max_examples=40)
@given(st.integers(0, 10**6), st.integers(1, 3))
def test_iterations_are_alternating_half_steps(seed, iterations):
    """Renumbering rows for locality must not change results. Weights are real numbers, to avoid ties."""
    random = np.random.default_rng(seed)
    texts, others, terms = (int(n) for n in random.integers(2, 25, 3))
    clicks = Csr.from_scipy(scipy.sparse.random_array((texts, others), density=0.3, rng=random))
    start = Csr.from_scipy(scipy.sparse.random_array((texts, terms), density=0.4, rng=random))
    result, stats = Propagation(clicks, 4).run(start, iterations, quiet)
    read = start
    for _ in range(iterations):
        before = read
        there = propagate_once(clicks.transpose(), read, 4)
        read = propagate_once(clicks, there, 4)
    np.testing.assert_allclose(dense(result.others), dense(there), atol=1e-5)
    np.testing.assert_allclose(dense(result.texts), dense(read), atol=1e-5)
    np.testing.assert_allclose(dense(result.previous), dense(before), atol=1e-5)
    assert [row["round"] for row in stats] == list(range(1, iterations + 1))


def test_cosines_by_hand():
    """Rows (1, 0), (0.6, 0.8) and an empty one."""
    rows = Csr.from_scipy(scipy.sparse.csr_array([[1, 0], [0.6, 0.8], [0, 0]]))
    turned = Csr.from_scipy(scipy.sparse.csr_array([[0.6, 0.8], [0.6, 0.8], [1, 0]]))
    assert mean_cosine(rows, turned) == pytest.approx((0.6 + 1) / 2)
    assert random_pair_cosine(rows) == pytest.approx(0.6), "there is one pair of rows that are not empty"
    assert random_pair_cosine(rows.take(np.array([0, 2]))) == 0
