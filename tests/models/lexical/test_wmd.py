"""`wmd` against linear programming, its search against brute force."""

import math
import random
from typing import Any

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

import planted
from coclick import create
from coclick.arrays.csr import Csr
from coclick.graph.click_graph import ClickGraph
from coclick.models.lexical._transport import least_cost
from coclick.models.lexical._word_embeddings import learn_word_vectors


def by_linear_programming(costs, supply, demand):
    rows, columns = costs.shape
    sums = np.zeros((rows + columns, rows * columns))
    for i in range(rows):
        sums[i, i * columns : (i + 1) * columns] = 1
    for j in range(columns):
        sums[rows + j, j::columns] = 1
    answer = linprog(costs.ravel(), A_eq=sums, b_eq=np.concatenate([supply, demand]), method="highs")
    assert answer.success
    return answer.fun


@given(
    have=st.lists(st.integers(1, 9), min_size=1, max_size=7),
    want=st.lists(st.integers(1, 9), min_size=1, max_size=9),
    seed=st.integers(0, 1000),
    steps=st.sampled_from([2, 5, 1000]),  # few steps: many costs are equal
)
def test_transport_agrees_with_linear_programming(have, want, seed, steps):
    costs = np.random.default_rng(seed).integers(0, steps, (len(have), len(want))) / np.float32(steps)
    supply, demand = np.array(have) * sum(want), np.array(want) * sum(have)
    ours = least_cost(costs.astype(np.float32), supply, demand)
    assert ours == pytest.approx(by_linear_programming(costs, supply, demand), rel=1e-6, abs=1e-6)


def test_transport_by_hand():
    """Both demands are nearest to the first row, which has half of the supply."""
    costs = np.array([[0, 0.25], [1, 0.5]], np.float32)
    assert least_cost(costs, np.array([2, 2]), np.array([2, 2])) == pytest.approx(2 * 0 + 2 * 0.5)


def test_word_vectors_by_hand():
    """Two pairs of words that do not co-occur: each pair has one direction, orthogonal to the other."""
    queries = Csr.from_triples(np.array([0, 1]), np.array([0, 2]), np.ones(2), (2, 4))
    texts = Csr.from_triples(np.array([0, 1]), np.array([1, 3]), np.ones(2), (2, 4))
    clicks = Csr.from_triples(np.array([0, 1]), np.array([0, 1]), np.full(2, math.e - 1), (2, 2))
    vectors = learn_word_vectors(queries, texts, clicks, 10, 0)
    same, other = np.array([[1, 1], [1, 1]]), np.zeros((2, 2))
    np.testing.assert_allclose(vectors @ vectors.T, np.block([[same, other], [other, same]]), atol=1e-6)


def test_word_vectors_by_the_formula():
    """Their cosines, against dense matrices and numpy's singular vectors."""
    chance = np.random.default_rng(3)
    texts = Csr.from_triples(np.repeat(np.arange(60), 5), chance.integers(0, 30, 300), np.ones(300), (60, 30))
    clicks = Csr.empty(1, 60)
    dense = texts.with_data(np.ones(texts.nnz, np.float32)).to_scipy().toarray().astype(float)
    counts = dense.T @ dense
    totals = counts.sum(axis=1)
    with np.errstate(divide="ignore"):
        information = np.maximum(np.log(counts * totals.sum() / np.outer(totals, totals)), 0)
    left, values, _ = np.linalg.svd(information)
    expected = left[:, :8] * np.sqrt(values[:8])
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    ours = learn_word_vectors(Csr.empty(1, 30), texts, clicks, 8, 0)
    np.testing.assert_allclose(ours @ ours.T, expected @ expected.T, atol=1e-5)


@pytest.fixture(scope="module")
def model():
    """Three hundred documents of up to twelve words, queries of up to six."""
    chance = random.Random(4)
    words = [f"word{i}" for i in range(80)]

    def text(max_count):
        return " ".join(chance.choices(words, k=chance.randint(1, max_count)))

    docs = {f"d{i:03}": text(12) for i in range(300)}
    clicks = [(text(6), f"d{chance.randrange(300):03}", 1.0) for _ in range(200)]
    return create("wmd(dim=12,stem=false,tokenizer=words)").fit(ClickGraph.from_clicks(clicks, docs))


def queries_of(model):
    return [*model.graph_.queries.to_list(0, 40), "word1", "word1 word1 word2", "word3 unheard", "unheard"]


def test_a_score_is_that_of_the_linear_program(model):
    vectors = {term: model.vectors_[i].astype(float) for i, term in enumerate(model.terms_)}
    for query in queries_of(model)[:12]:
        asked = [word for word in query.split() if word in vectors]
        for doc in range(0, 300, 23):
            held = model.graph_.title(doc).split()
            costs = np.array([[np.linalg.norm(vectors[a] - vectors[b]) for b in held] for a in asked])
            shares = np.full(len(asked), 1 / len(asked)), np.full(len(held), 1 / len(held))
            expected = 1 / (1 + by_linear_programming(costs, *shares))
            [[ours]] = model.score([query], [[f"d{doc:03}"]])
            assert ours == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("k", [1, 10, 299])
def test_search_by_bounds_equals_brute_force(model, k):
    docs = list(model.graph_.docs)
    for query in queries_of(model):
        [scores] = model.score([query], [docs])
        best = np.lexsort((np.arange(len(docs)), -scores))[:k]
        expected = [(docs[i], float(scores[i])) for i in best if scores[i] > 0]
        assert model.search(query, k).hits() == expected


def test_no_score_exceeds_its_bound(model):
    for query in queries_of(model):
        [asked] = model._queries(query)
        assert (model._score_all(asked) <= model._upper_bounds(asked) + 1e-6).all()


def test_words_that_no_title_has_are_near_their_topic():
    """ "trainers" is in no title; queries with it were clicked on titles with "shoe"."""
    model = create("wmd").fit(planted.graph())
    assert [planted.topic_of(doc) for doc, _ in model.search("trainers jogging", 5).hits()] == ["shoe"] * 5


def test_without_titles_the_first_field_is_used():
    docs = {doc: {"body": title} for doc, title in planted.docs().items()}
    model = create("wmd").fit(ClickGraph.from_clicks(planted.clicks(), docs))
    titled = create("wmd").fit(planted.graph())
    assert model.search("cheap hotel").hits() == titled.search("cheap hotel").hits()


def test_word_vectors_count_queries_texts_and_clicks():
    """The formula in dense matrices: within queries and texts, and across clicks. One word is unused."""
    chance = np.random.default_rng(5)
    asked = chance.random((20, 12)) < 0.2
    held = chance.random((15, 12)) < 0.3
    asked[:, 11] = held[:, 11] = False
    clicked = np.round(chance.random((20, 15)) * 4) * (chance.random((20, 15)) < 0.2)
    queries, texts = (Csr.from_scipy(scipy.sparse.csr_array(m.astype(np.float32) * 3)) for m in (asked, held))
    clicks = Csr.from_scipy(scipy.sparse.csr_array(clicked.astype(np.float32)))
    a, h = asked.astype(float), held.astype(float)
    across = a.T @ np.log1p(clicked) @ h
    counts = across + across.T + a.T @ a + h.T @ h
    totals = counts.sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        information = np.log(counts * totals.sum() / np.outer(totals, totals))
    information = np.where(counts > 0, np.maximum(information, 0), 0)
    left, values, _ = np.linalg.svd(information)
    expected = left[:, :4] * np.sqrt(values[:4])
    expected[:11] /= np.linalg.norm(expected[:11], axis=1, keepdims=True)
    expected[11] = 0
    ours = learn_word_vectors(queries, texts, clicks, 4, 0)
    np.testing.assert_allclose(ours @ ours.T, expected @ expected.T, atol=1e-4)


def test_blocks_do_not_change_scores(model, monkeypatch):
    docs, queries = list(model.graph_.docs), queries_of(model)[:5]
    whole = model.score(queries, [docs] * 5)
    monkeypatch.setattr("coclick.models.lexical.wmd._BLOCK", 7)
    np.testing.assert_array_equal(model.score(queries, [docs] * 5), whole)


def test_fields_are_those_that_are_named():
    docs = {"a": {"title": "hat", "body": "sock shoe"}, "b": {"title": "sock", "body": "hat"}}
    graph = ClickGraph.from_clicks([("hat", "a", 1), ("sock", "b", 1)], docs)
    words = {"short": [1, 1], "title": [1, 1], "body": [2, 1], "all": [3, 2]}
    for fields, count in words.items():
        model: Any = create(f"wmd(fields={fields},stem=false)").fit(graph)
        assert model.docs_.row_nnz().tolist() == count
        nearest = {"short": "a", "title": "a", "body": "b"}.get(fields)
        assert nearest is None or model.search("hat", 1).hits() == [(nearest, 1.0)]
