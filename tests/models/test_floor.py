"""The floor that everything must beat, by hand."""

import pytest

from coclick import create
from coclick.graph import ClickGraph

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
