"""The simplest baselines, by hand."""

import math

import pytest

from coclick import create
from coclick.graph.click_graph import ClickGraph

ROWS = [("a", "x", 5), ("a", "y", 7), ("b", "y", 1), ("b", "z", 20)]


def test_popularity_by_hand():
    model = create("popularity").fit(ClickGraph.from_clicks(ROWS, {"never": "clicked"}))
    assert model.search("whatever").hits() == [("z", 20.0), ("y", 8.0), ("x", 5.0)]


def test_clicks_by_hand():
    model = create("clicks").fit(ClickGraph.from_clicks(ROWS))
    assert model.search("A ").hits() == [("y", 7.0), ("x", 5.0)]
    assert model.search("b").hits() == [("z", 20.0), ("y", 1.0)]
    assert model.search("c").hits() == []
    assert model.score(["a"], [["z", "x"]])[0].tolist() == pytest.approx([0, 5])


def test_cos_clicks_by_hand():
    """a and b share the document y: ln 8 · ln 2 over the lengths of both rows."""
    model = create("cos_clicks").fit(ClickGraph.from_clicks(ROWS))
    a, b = math.hypot(math.log(6), math.log(8)), math.hypot(math.log(2), math.log(21))
    assert dict(model.search("a").hits()) == pytest.approx({"y": math.log(8) / a, "x": math.log(6) / a})
    assert model.search("c").hits() == []
    assert dict(model.similar_queries("a").hits()) == pytest.approx(
        {"b": math.log(8) * math.log(2) / (a * b)}
    )
    y = math.hypot(math.log(8), math.log(2))
    assert dict(model.similar_docs("x").hits()) == pytest.approx({"y": math.log(8) / y})
    assert model.evidence("a") == {"support": 12 / 13}


def test_cos_clicks_with_the_papers_weights():
    """ln of the clicks: the single click of b on y has no weight, so a and b share nothing."""
    model = create("cos_clicks(preset=wu2013b)").fit(ClickGraph.from_clicks([*ROWS, ("c", "y", 1)]))
    a = math.hypot(math.log(5), math.log(7))
    assert dict(model.search("a").hits()) == pytest.approx({"y": math.log(7) / a, "x": math.log(5) / a})
    assert model.search("b").hits() == [("z", 1.0)]
    assert model.search("c").hits() == model.similar_queries("c").hits() == []
    assert model.similar_queries("a").hits() == []
    assert dict(model.similar_docs("x").hits()) == pytest.approx({"y": 1.0})


def test_cos_clicks_with_raw_clicks():
    model = create("cos_clicks(weight=clicks)").fit(ClickGraph.from_clicks(ROWS))
    a, b = math.hypot(5, 7), math.hypot(1, 20)
    assert dict(model.similar_queries("a").hits()) == pytest.approx({"b": 7 / (a * b)})
