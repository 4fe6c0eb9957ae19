"""Groups of queries at the limits of their bins, and measures of seen and unseen documents, by hand."""

import math

import pytest

from coclick.evaluation.breakdown import measure_by_document, measure_groups, query_groups
from coclick.evaluation.judgments import Judgments
from coclick.graph.click_graph import ClickGraph

CLICKS = {"one": 1, "ten": 10, "eleven": 11, "hundred": 100, "more": 101, "thousand": 1000, "most": 1001}
GRAPH = ClickGraph.from_clicks([(text, "d", float(clicks)) for text, clicks in CLICKS.items()])


def test_limits_of_the_bins():
    """A limit belongs to its bin; queries are normalised before they are looked up."""
    texts = {**{f"q{clicks}": text.upper() for text, clicks in CLICKS.items()}, "new": "never seen"}
    texts |= {f"w{n}": " ".join("abcdefg"[:n]) for n in (3, 4, 5, 7)}
    groups = query_groups(GRAPH, Judgments(texts, {query: {"d": 1} for query in texts}))
    absent = ["new", "w3", "w4", "w5", "w7"]
    seen = [f"q{clicks}" for clicks in CLICKS.values()]
    assert groups == {
        "query": {"seen": seen, "unseen": absent},
        "clicks": {
            "none": absent,
            "≤10": ["q1", "q10"],
            "≤100": ["q11", "q100"],
            "≤1000": ["q101", "q1000"],
            ">1000": ["q1001"],
        },
        "words": {"1": seen, "2": ["new"], "3": ["w3"], "4": ["w4"], "5+": ["w5", "w7"]},
    }


def test_means_of_groups():
    values = {"a": {"nDCG@10": 0.5}, "b": {"nDCG@10": 1.0}, "c": {"nDCG@10": 0.1}}
    found = measure_groups({"query": {"seen": ["a", "b"], "unseen": ["c"]}}, values)
    assert found["query"]["seen"] == {"queries": 2, "nDCG@10": pytest.approx(0.75)}
    assert found["query"]["unseen"] == {"queries": 1, "nDCG@10": pytest.approx(0.1)}


def test_measures_of_clicked_documents_and_of_the_others():
    """Only `d` has clicks; `x` and `y` have none, and are ranked in the wrong order behind it.

    Query b has no relevant document with clicks, so it does not count among the seen.
    """
    judgments = Judgments(
        {"a": "one", "b": "ten"}, {"a": {"d": 1, "x": 2, "y": 1}, "b": {"d": 0, "x": 1, "y": 0}}
    )
    rankings = {"a": ["d", "y", "x"], "b": ["d", "x"]}
    found = measure_by_document(GRAPH, judgments, rankings, "linear")
    assert found["seen"] == {"queries": 1, "nDCG@10": pytest.approx(1)}
    wrong = (1 + 2 / math.log2(3)) / (2 + 1 / math.log2(3))
    assert found["unseen"] == {"queries": 2, "nDCG@10": pytest.approx((wrong + 1) / 2)}
    exponential = measure_by_document(GRAPH, judgments, rankings, "exponential")
    wrong = (1 + 3 / math.log2(3)) / (3 + 1 / math.log2(3))
    assert exponential["unseen"]["nDCG@10"] == pytest.approx((wrong + 1) / 2)
