"""Measures of flat scores: against ir-measures, and by hand."""

import math

import numpy as np
import pytest

from coclick.evaluation.judgments import Judgments
from coclick.evaluation.measures import measure
from reproduce.judged import Judged

GRADES = {"q1": {"a": 3, "b": 0, "c": 1}, "q2": {"a": 0, "d": 0}, "q3": {"e": 2, "f": 4, "g": 0, "h": 2}}
QUERIES = {"q1": "One", "q2": "two", "q3": "three"}


@pytest.fixture
def judged():
    return Judged.of(Judgments(QUERIES, GRADES))


def scores_of(judged, wanted):
    return np.array([wanted[doc] for docs in judged.docs for doc in docs], np.float32)


def test_queries_without_a_relevant_document_are_left_out(judged):
    assert judged.texts == ["one", "three"]
    assert [sorted(docs) for docs in judged.docs] == [["a", "b", "c"], ["e", "f", "g", "h"]]
    assert judged.starts.tolist() == [0, 3, 7]


def test_ndcg_by_hand(judged):
    """q1 ranks c, a, b: gains 1, 7, 0 against 7, 1, 0."""
    scores = scores_of(judged, {"c": 3, "a": 2, "b": 1, "f": 9, "e": 5, "h": 4, "g": 0})
    log3 = math.log2(3)
    expected = (1 + 7 / log3) / (7 + 1 / log3)
    assert judged.measure(scores, "nDCG@3") == pytest.approx([expected, 1.0])
    assert judged.measure(scores, "nDCG@1") == pytest.approx([1 / 7, 1.0])


def test_average_precision_by_hand(judged):
    """Relevant are a, and e, f, h. q1 ranks it second: 1/2. q3 ranks g first: (1/2 + 2/3 + 3/4) / 3."""
    scores = scores_of(judged, {"c": 3, "a": 2, "b": 1, "g": 9, "e": 5, "f": 4, "h": 1})
    assert judged.measure(scores, "AP") == pytest.approx([0.5, (1 / 2 + 2 / 3 + 3 / 4) / 3])


@pytest.mark.parametrize("name", ["nDCG@1", "nDCG@3", "nDCG@10"])
def test_ndcg_agrees_with_ir_measures(name):
    rng = np.random.default_rng(3)
    grades = {
        f"q{i:02}": {f"d{j}": int(rng.integers(5)) for j in range(int(rng.integers(2, 15)))}
        for i in range(40)
    }
    grades = {query: found for query, found in grades.items() if any(found.values())}
    judged = Judged.of(Judgments({query: query for query in grades}, grades))
    scores = rng.permutation(len(judged.grades)).astype(np.float32)
    rankings = {}
    for i, query in enumerate(judged.texts):
        part = scores[judged.starts[i] : judged.starts[i + 1]]
        rankings[query] = [judged.docs[i][j] for j in np.argsort(-part)]
    expected = measure(grades, rankings, (name,), "exponential")
    assert judged.measure(scores, name) == pytest.approx([expected[query][name] for query in judged.texts])


def test_ties_do_not_follow_the_names_of_documents():
    grades = {f"q{i:02}": {"a": 1, "b": 0} for i in range(50)}
    judged = Judged.of(Judgments({query: query for query in grades}, grades))
    first = judged.measure(np.zeros(100, np.float32), "nDCG@1").mean()
    assert 0.3 < first < 0.7


def test_dividing_by_the_maximum(judged):
    scores = scores_of(judged, {"a": 2, "b": 1, "c": 0, "e": -1, "f": 0, "g": -2, "h": 0})
    scaled = judged.divide_by_maximum(scores)
    assert scaled[:3].tolist() == (scores[:3] / 2).tolist()
    assert not scaled[3:].any()  # without a positive score


def test_half_of_the_queries_is_for_tuning():
    grades = {f"q{i}": {"a": 1, "b": 0} for i in range(41)}
    judged = Judged.of(Judgments({query: query for query in grades}, grades))
    assert judged.halves().sum() == 20
    assert (judged.halves() == judged.halves()).all()
