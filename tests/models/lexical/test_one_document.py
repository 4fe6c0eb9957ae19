"""Collections of one document: averages and sums have nothing but that document."""

import math

import pytest

from coclick import create
from coclick.graph.click_graph import ClickGraph


@pytest.mark.parametrize("spec", ["bm25", "bm25sd(word_weight=1,ordered_weight=0,unordered_weight=0)"])
def test_bm25(spec):
    """The document has the average length: tf 2, idf ln(1 + 0.5/1.5), k1 = 1.2."""
    model = create(spec).fit(ClickGraph.from_clicks([("hotel", "d", 1.0)], {"d": "hotel hotel bar"}))
    [(_, score)] = model.search("hotel").hits()
    assert score == pytest.approx(math.log(1 + 0.5 / 1.5) * 2 * 2.2 / (2 + 1.2), rel=1e-6)


def test_um():
    """The only word of the collection: P(t|d) = P(t|C) = 1, and ln(1 + 1) with λ = ½."""
    model = create("um").fit(ClickGraph.from_clicks([("hotel", "d", 1.0)], {"d": "hotel"}))
    assert model.search("hotel").hits() == [("d", pytest.approx(math.log(2)))]
