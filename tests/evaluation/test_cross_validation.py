"""Cross-validation over two halves, with values by hand."""

import itertools

import pytest

import planted
from coclick.errors import UserError
from coclick.evaluation.cross_validation import cross_validate, halve, weight_grid
from coclick.evaluation.judgments import Judgments
from coclick.evaluation.protocol import ModelResult
from coclick.evaluation.tune import tune

FIRST, SECOND = halve("abcdef", seed=3)


def result(name, values, measure="nDCG@10"):
    rankings = {query: [f"{name} for {query}"] for query in values}
    return ModelResult(name, rankings, {query: {measure: value} for query, value in values.items()}, 2.0)


def variant(name, on_first, on_second):
    return result(name, {q: on_first if q in FIRST else on_second for q in "abcdef"})


def test_each_half_is_measured_with_the_choice_of_the_other():
    """x is best on the first half, y on the second: the first half gets y's .2, the second x's .1."""
    found = cross_validate([variant("x", 0.9, 0.1), variant("y", 0.2, 0.8), variant("z", 0.5, 0.5)], seed=3)
    assert found.chosen == ("x", "y")
    assert {q: found.result.by_query[q]["nDCG@10"] for q in FIRST} == dict.fromkeys(FIRST, 0.2)
    assert {q: found.result.by_query[q]["nDCG@10"] for q in SECOND} == dict.fromkeys(SECOND, 0.1)
    assert found.result.values().mean() == pytest.approx(0.15)
    assert found.result.rankings[FIRST[0]] == [f"y for {FIRST[0]}"]
    assert (found.result.name, found.result.seconds) == ("x | y", 6.0)
    assert list(found.result.by_query) == list("abcdef"), "in the order of the judgments"


def test_one_variant_is_itself_and_the_first_of_equal_ones_is_chosen():
    alone = cross_validate([variant("x", 0.3, 0.7)], name="only")
    assert alone.result.by_query == cross_validate([variant("x", 0.3, 0.7)]).result.by_query
    assert (alone.result.name, alone.chosen) == ("only", ("x", "x"))
    assert cross_validate([variant("b", 0.5, 0.5), variant("a", 0.5, 0.5)]).chosen == ("b", "b")


def test_another_measure_chooses():
    good, bad = (result(name, dict.fromkeys("abcd", value), "AP") for name, value in (("g", 0.9), ("b", 0.1)))
    assert cross_validate([bad, good], measure="AP").chosen == ("g", "g")


def test_halves_are_disjoint_complete_and_do_not_depend_on_the_order():
    for n, seed in itertools.product((4, 5, 11), range(3)):
        ids = [f"q{i}" for i in range(n)]
        first, second = halve(ids, seed)
        assert sorted(first + second) == sorted(ids)
        assert 0 <= len(first) - len(second) <= 1
        assert halve(reversed(ids), seed) == (first, second)
    assert halve(map(str, range(40)), 1) != halve(map(str, range(40)), 2)


def test_what_cannot_be_cross_validated_is_refused():
    with pytest.raises(UserError, match="no variants"):
        cross_validate([])
    with pytest.raises(UserError, match="same queries"):
        cross_validate([variant("x", 1, 1), result("y", dict.fromkeys("abcde", 0.5))])
    with pytest.raises(UserError, match="too few"):
        cross_validate([result("x", dict.fromkeys("abc", 0.5))])


def test_the_grid_of_weights():
    grid = weight_grid("rw", "bm25(k1=2)")
    assert grid[0] == "0.1*rw + 0.9*bm25(k1=2)"
    assert grid[7] == "0.8*rw + 0.2*bm25(k1=2)"
    assert len(grid) == 9


def test_tuning_with_cross_validation_tests_on_all_queries():
    judgments = Judgments(
        {topic: topic for topic in planted.TOPICS},
        {topic: {doc: int(topic in doc) for doc in planted.docs()} for topic in planted.TOPICS},
    )
    spec = "0.1*clicks + 0.9*popularity"
    found = tune(planted.graph(), spec, qrels=judgments, trials=4, cross_validate=True)
    assert len(found.chosen) == 2 and found.best in found.chosen
    assert (found.n_selection_queries, found.n_test_queries) == (3, 5)
    assert len(found.trials) == 8
    assert found.to_dict()["chosen"] == list(found.chosen)
    once = tune(planted.graph(), spec, qrels=judgments, trials=4)
    assert once.chosen == (once.best,)
    assert once.best == found.chosen[0]


def test_texts_are_not_tuned():
    judgments = Judgments({t: t for t in planted.TOPICS}, {t: {f"{t}-0": 1} for t in planted.TOPICS})
    found = tune(planted.graph(), "cos_words", qrels=judgments, trials=8)
    assert not any(name in spec for spec, _ in found.trials for name in ("fields", "language"))
