"""The leaderboard against measures worked out by hand."""

import math

import pytest

from coclick.errors import UserError
from coclick.evaluate.judgments import Judgments
from coclick.evaluate.leaderboard import leaderboard, measure
from coclick.graph import ClickGraph

GRAPH = ClickGraph.from_clicks([("a", "x", 5), ("a", "y", 3), ("b", "z", 1)], {"w": "never clicked"})


def test_measures_by_hand():
    """x (grade 1) first, y (grade 3) second: linear gain, (1 + 3/log₂3) / (3 + 1/log₂3)."""
    values = measure({"q": {"x": 1, "y": 3}}, {"q": {"x": 2.0, "y": 1.0}})["q"]
    assert values["nDCG@10"] == pytest.approx((1 + 3 / math.log2(3)) / (3 + 1 / math.log2(3)))
    assert values["AP"] == 1
    assert values["RR"] == 1


def test_a_query_without_results_counts_as_zero():
    values = measure({"q": {"x": 1}, "r": {"x": 1}}, {"q": {"x": 2.0}, "r": {}})
    assert values["q"]["nDCG@10"] == 1
    assert values["r"] == {"nDCG@10": 0, "AP": 0, "RR": 0, "R@100": 0}


def test_board():
    judgments = Judgments({"1": "A", "2": "b", "3": "unseen"}, {"1": {"y": 2}, "2": {"z": 1}, "3": {"w": 1}})
    board = leaderboard(GRAPH, judgments, ["clicks", "popularity"])
    assert board["protocol"]["queries"] == 3
    clicks, popularity = board["models"]
    assert clicks["name"] == "clicks"
    assert clicks["measures"]["RR"] == pytest.approx((1 / 2 + 1 + 0) / 3)
    assert clicks["breakdown"]["seen"] == pytest.approx(
        {"queries": 2, "RR": 0.75, "nDCG@10": (1 / math.log2(3) + 1) / 2, "AP": 0.75, "R@100": 1}
    )
    assert clicks["breakdown"]["unseen"]["queries"] == 1
    assert popularity["measures"]["RR"] == pytest.approx((1 / 2 + 1 / 3 + 0) / 3)


def test_judged_documents_that_are_not_in_the_graph():
    with pytest.raises(UserError, match="none of the 1 judged documents"):
        leaderboard(GRAPH, Judgments({"1": "a"}, {"1": {"nowhere": 1}}), ["clicks"])
