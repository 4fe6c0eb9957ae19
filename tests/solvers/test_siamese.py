"""The loss of s2net and its gradient, against a plain loop over pairs."""

import math

import numpy as np
import pytest
import scipy.sparse

from coclick.arrays.csr import Csr
from coclick.solvers.siamese import (
    DEFAULTS,
    RankingExamples,
    fit_adagrad,
    fit_lbfgs,
    loss_and_gradient,
    mean_loss,
)

GAMMA = 10.0


def random_examples(seed=0, queries=7, docs=9, words=12, pairs=15, others=3):
    random = np.random.default_rng(seed)

    def rows(count):
        return Csr.from_scipy(scipy.sparse.random(count, words, 0.4, "csr", np.float32, random))

    asked = np.sort(random.integers(0, queries, pairs)).astype(np.int32)
    compared = random.integers(0, docs, (pairs, 1 + others)).astype(np.int32)
    return RankingExamples(rows(queries), rows(docs), asked, compared)


def naive_loss(projection, examples):
    """Eq. 21 for each comparison, on dense rows; ε = 0.1."""
    queries, docs = examples.queries.to_scipy().toarray(), examples.docs.to_scipy().toarray()

    def cosine(query, doc):
        one, other = queries[query] @ projection, docs[doc] @ projection
        return one @ other / math.sqrt(one @ one + 0.01) / math.sqrt(other @ other + 0.01)

    losses = [
        math.log1p(math.exp(-GAMMA * (cosine(query, clicked) - cosine(query, other))))
        for query, (clicked, *others) in zip(examples.asked, examples.compared, strict=True)
        for other in others
    ]
    return sum(losses) / len(losses)


def test_the_gradient_is_that_of_finite_differences():
    examples = random_examples()
    projection = np.random.default_rng(1).standard_normal((12, 4))
    loss, gradient = loss_and_gradient(projection, examples)
    assert loss == pytest.approx(naive_loss(projection, examples), rel=1e-9)
    assert mean_loss(projection, examples) == pytest.approx(loss, rel=1e-12)
    expected = np.empty_like(projection)
    for place in np.ndindex(projection.shape):
        step = np.zeros_like(projection)
        step[place] = 1e-5
        up, down = naive_loss(projection + step, examples), naive_loss(projection - step, examples)
        expected[place] = (up - down) / 2e-5
    np.testing.assert_allclose(gradient, expected, rtol=1e-5, atol=1e-8)


def test_float32_matches_float64():
    examples = random_examples(2)
    projection = np.random.default_rng(3).standard_normal((12, 4))
    loss, gradient = loss_and_gradient(projection, examples)
    small_loss, small = loss_and_gradient(projection.astype(np.float32), examples)
    assert small.dtype == np.float32
    assert small_loss == pytest.approx(loss, rel=1e-5)
    np.testing.assert_allclose(small, gradient, atol=1e-5)


def test_rows_without_words_have_no_gradient():
    rows = Csr.from_scipy(scipy.sparse.csr_array(np.array([[0, 0], [1, 1]], np.float32)))
    examples = RankingExamples(rows, rows, np.array([0, 1], np.int32), np.array([[0, 1], [1, 0]], np.int32))
    loss, gradient = loss_and_gradient(np.eye(2), examples)
    cosine = 2 / 2.01  # (1, 1) with itself
    assert loss == pytest.approx((math.log(2) + math.log1p(math.exp(-10 * cosine))) / 2)
    assert np.isfinite(gradient).all()


def test_a_document_compared_with_itself_has_no_gradient():
    examples = random_examples(4, others=1)
    itself = RankingExamples(
        examples.queries, examples.docs, examples.asked, np.repeat(examples.compared[:, :1], 2, axis=1)
    )
    loss, gradient = loss_and_gradient(np.random.default_rng(5).standard_normal((12, 3)), itself)
    assert loss == pytest.approx(math.log(2))
    np.testing.assert_allclose(gradient, 0, atol=1e-12)


@pytest.mark.parametrize("optimiser", ["lbfgs", "adagrad"])
def test_the_loss_decreases(optimiser):
    examples = random_examples(6)
    start = np.random.default_rng(7).standard_normal((12, 4)).astype(np.float32)

    def validate(projection):
        return mean_loss(projection, examples)

    if optimiser == "lbfgs":
        stop = fit_lbfgs(start, examples, DEFAULTS, validate, 20, 20, lambda rows: None)
    else:
        stop = fit_adagrad(
            start, examples.queries, examples.docs, examples.asked, lambda: examples.compared, DEFAULTS,
            validate, 20, 20, 0.1, np.random.default_rng(8).permutation, lambda rows: None,
        )  # fmt: skip
    before, after = naive_loss(start, examples), naive_loss(stop.best[0], examples)
    assert after < 0.5 * before
    assert stop.curve[stop.best_epoch - 1]["validation"] == pytest.approx(after, rel=1e-3)
    assert after == pytest.approx(min(row["validation"] for row in stop.curve), rel=1e-3)
