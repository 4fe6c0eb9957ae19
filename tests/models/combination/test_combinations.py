"""Combinations: sums by hand from the scores of the parts, specifications, and errors."""

from collections import Counter
from typing import Any

import numpy as np
import pytest

import planted
from coclick import create, train
from coclick.errors import UserError
from coclick.graph.click_graph import ClickGraph
from coclick.models.combination.mix import Mix

GRAPH = ClickGraph.from_clicks(
    [("ny hotel", "a", 8), ("ny hotel", "b", 2), ("rare", "b", 1)],
    {"a": "grand hotel", "b": "hotel bar", "c": "bar bar grand"},
)


def test_a_mix_by_hand():
    """Clicks 8 and 2 divided by 8; popularity 8 and 3 divided by 8: 0.75 + 0.25 and 0.1875 + 0.09375."""
    model = train("0.75*clicks + 0.25*popularity", GRAPH)
    assert model.search("ny hotel").hits() == [("a", 1.0), ("b", pytest.approx(0.28125))]
    assert model.search("never seen").hits() == [("a", 0.25), ("b", pytest.approx(0.09375))]


def test_backoff_by_hand():
    """ "rare" has one click: weight 1/2; "ny hotel" has ten: 10/11. Popularity always has weight 1."""
    model = train("backoff(clicks + 0.5*popularity)", GRAPH)
    assert dict(model.search("rare").hits()) == {
        "a": pytest.approx(0.5),
        "b": pytest.approx(0.5 + 0.5 * 3 / 8),
    }
    assert dict(model.search("ny hotel").hits())["a"] == pytest.approx(10 / 11 + 0.5)
    assert model.confidence("nobody asked this") == 1.0, "the confidence is that of the best part"


def test_maxima_are_over_the_whole_collection():
    model: Any = train("0.8*clicks + 0.2*bm25", planted.graph())
    query = "hotel"
    [asked] = model._queries(query)
    bm25, clicks = model.parts_[1]._score_all(asked), model.parts_[0]._score_all(asked)
    expected = 0.8 * clicks / clicks.max() + 0.2 * bm25 / bm25.max()
    docs = list(model.graph_.docs)
    np.testing.assert_allclose(model.score([query], [docs])[0], expected, rtol=1e-6)
    np.testing.assert_allclose(model.score([query], [docs[5:6]])[0], expected[5:6], rtol=1e-6)


def test_similarities_are_added_like_scores():
    graph = planted.graph()
    first, second = train("vpcg", graph), train("vpcg(start=doc)", graph)
    mix = Mix("0.6*vpcg + 0.4*vpcg(start=doc)").assemble(graph, [first, second])
    found = dict(mix.similar_queries("hotel", 5).hits())
    ours, theirs = (dict(model.similar_queries("hotel", 1000).hits()) for model in (first, second))
    for query, score in found.items():
        one = 0.6 * ours.get(query, 0) / max(ours.values())
        other = 0.4 * theirs.get(query, 0) / max(theirs.values())
        assert score == pytest.approx(one + other, rel=1e-5)


def test_the_most_similar_query_of_a_mix_need_not_be_that_of_a_part():
    graph = planted.graph()
    parts = train("vpcg", graph), train("cos_clicks", graph)
    mix = Mix("0.6*vpcg + 0.4*cos_clicks").assemble(graph, parts)
    for query in graph.queries:
        total: Counter[str] = Counter()
        for weight, part in zip((0.6, 0.4), parts, strict=True):
            found = dict(part.similar_queries(query, 1000).hits())
            for other, score in found.items():
                total[other] += weight * score / max(found.values())
        [(_, best)] = mix.similar_queries(query, 1).hits()
        assert best == pytest.approx(max(total.values()), rel=1e-5), query


def test_other_parts_are_refused():
    with pytest.raises(UserError, match="is not made of bm25, clicks"):
        Mix("0.6*clicks + 0.4*bm25").assemble(GRAPH, [train("bm25", GRAPH), train("clicks", GRAPH)])


def test_an_explanation_names_the_query_the_document_and_the_parts():
    """Half of the clicks, 2 of 8, and half of the popularity, 3 of 8."""
    why = train("0.5*clicks + 0.5*popularity", GRAPH).explain("ny hotel", "b")
    assert (why.query, why.doc, why.score) == ("ny hotel", "b", pytest.approx(0.125 + 0.1875))
    assert [(part.kind, part.label) for part in why.parts] == [("model", "clicks"), ("model", "popularity")]
    assert [part.value for part in why.parts] == pytest.approx([0.125, 0.1875])


@pytest.mark.parametrize(
    ("spec", "name"),
    [
        ("0.8*clicks+.2*bm25", "0.8*clicks + 0.2*bm25"),
        ("bm25+vpcg( max_terms = 5 )", "bm25 + vpcg(max_terms=5)"),
        (
            "backoff( 1*bm25 + 0.50*vpcg(start=doc,max_terms=9) )",
            "backoff(bm25 + 0.5*vpcg(start=doc,max_terms=9))",
        ),
        ("0.5*(bm25)", None),
        ("0*bm25 + clicks", None),
        ("-1*bm25 + clicks", None),
        ("2*3*bm25 + clicks", None),
        ("bm25 +", None),
        ("x*bm25 + clicks", None),
        ("bm25 + clcks", None),
        ("backoff()x", None),
    ],
)
def test_specifications(spec, name):
    if name is None:
        with pytest.raises(UserError):
            create(spec)
    else:
        assert str(create(spec)) == name
        assert str(create(name)) == name


def test_a_part_with_unmet_requirements_is_refused(monkeypatch):
    from coclick.models.click_graph.clicks import Clicks

    monkeypatch.setattr(Clicks, "requires", ("sessions",))
    with pytest.raises(UserError, match="needs sessions"):
        train("bm25 + clicks", GRAPH)
