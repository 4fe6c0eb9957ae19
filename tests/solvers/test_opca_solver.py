"""Oriented PCA against dense matrices built pair by pair and solved by LAPACK."""

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse
import scipy.sparse.linalg

from coclick.arrays.csr import Csr
from coclick.solvers import opca
from coclick.solvers.opca import SecondMoments, oriented_pca
from coclick.text.term_matrix import unit_rows


def random_pairs(seed, queries, docs, words, pairs) -> tuple[Csr, Csr, Csr]:
    random = np.random.default_rng(seed)

    def rows(count):
        return unit_rows(
            Csr.from_scipy(scipy.sparse.random(count, words, 6 / words, "csr", np.float32, random))
        )

    edges = random.integers(0, queries, pairs), random.integers(0, docs, pairs)
    weights = Csr.from_triples(*edges, random.random(pairs) + 0.1, (queries, docs))
    return rows(queries), rows(docs), weights


def moments_by_pair(queries, docs, weights):
    """S and N of the solver's docstring, summed over clicked pairs."""
    q, d = (rows.to_scipy().toarray().astype(np.float64) for rows in (queries, docs))
    edges = weights.to_scipy().tocoo()
    size = queries.columns
    signal, noise = np.zeros((size, size)), np.zeros((size, size))
    for row, column, weight in zip(edges.row, edges.col, edges.data.astype(np.float64), strict=True):
        signal += weight / 2 * (np.outer(q[row], q[row]) + np.outer(d[column], d[column]))
        noise += weight * np.outer(q[row] - d[column], q[row] - d[column])
    return signal / edges.data.sum(dtype=np.float64), noise / edges.data.sum(dtype=np.float64)


def test_operators_match_dense_matrices():
    pairs = random_pairs(0, 20, 30, 25, 60)
    signal, noise = moments_by_pair(*pairs)
    moments = SecondMoments(*pairs, 0.5)
    ridge = 0.5 * noise.diagonal().mean()
    every = np.eye(25)
    np.testing.assert_allclose(moments.signal(every), signal, atol=1e-7)
    np.testing.assert_allclose(moments.noise(every), noise + ridge * every, atol=1e-7)
    np.testing.assert_allclose(moments.noise_diagonal, noise.diagonal(), atol=1e-7)


def test_the_dense_solver_matches_lapack():
    pairs = random_pairs(1, 40, 50, 30, 120)
    signal, noise = moments_by_pair(*pairs)
    whole = noise + 0.5 * noise.diagonal().mean() * np.eye(30)
    values, vectors = scipy.linalg.eigh(signal, whole)
    found = oriented_pca(*pairs, 5, ridge=0.5)
    np.testing.assert_allclose(found.values, values[::-1][:5], rtol=1e-5)
    agreement = np.abs(found.vectors.T @ whole @ vectors[:, ::-1][:, :5])
    np.testing.assert_allclose(agreement, np.eye(5), atol=1e-4)
    assert all(column[np.abs(column).argmax()] > 0 for column in found.vectors.T)


def test_the_iterative_solver_matches_the_dense_one(monkeypatch):
    pairs = random_pairs(2, 300, 300, 200, 900)
    exact = oriented_pca(*pairs, 8, ridge=0.3)
    monkeypatch.setattr(opca, "_MAX_DENSE", 0)
    found = oriented_pca(*pairs, 8, ridge=0.3)
    np.testing.assert_allclose(found.values, exact.values, rtol=1e-3)
    gram = found.vectors.T @ SecondMoments(*pairs, 0.3).noise(found.vectors)
    np.testing.assert_allclose(gram, np.eye(8), atol=1e-3)
    again = oriented_pca(*pairs, 8, ridge=0.3)
    assert np.array_equal(found.vectors, again.vectors)


def test_more_components_than_columns():
    found = oriented_pca(*random_pairs(3, 10, 10, 7, 20), 50)
    assert found.vectors.shape == (7, 7)


@pytest.mark.parametrize("seed", [4, 5])
def test_pairs_are_closer_than_by_their_words(seed):
    """Queries and documents have different words; only the pairs relate them."""
    random = np.random.default_rng(seed)
    topic = np.arange(60) % 6

    def one_word_of_two(first):
        words = np.zeros((60, 24), np.float32)
        words[np.arange(60), first + topic * 2 + random.integers(0, 2, 60)] = 1
        return Csr.from_scipy(scipy.sparse.csr_array(words))

    queries, docs = one_word_of_two(0), one_word_of_two(12)
    found = oriented_pca(queries, docs, Csr.from_scipy(scipy.sparse.eye_array(60)), 6)
    x, y = (rows.to_scipy() @ found.vectors for rows in (queries, docs))
    x, y = (image / np.linalg.norm(image, axis=1, keepdims=True) for image in (x, y))
    cosines = x @ y.T
    same = topic[:, None] == topic[None, :]
    assert cosines[same].min() > cosines[~same].max()
