"""What `coclick explain` shows people: all that a score is made of, and nothing that has no part in it."""

import re

import pytest

from coclick.cli.tables import BAR, Bar
from coclick.graph.click_graph import ClickGraph


@pytest.fixture
def explain(run, graph, tmp_path):
    def explained(spec, query="cheap hotel", doc="hotel-0"):
        assert run("train", spec, graph, "-o", tmp_path / "model").code == 0
        return run("explain", tmp_path / "model", query, doc).out

    return explained


def test_a_bar_has_the_length_of_its_value():
    assert Bar(1.0, 1.0).drawn() == "█" * BAR
    assert Bar(0.0, 1.0).drawn() == Bar(-0.3, 1.0).drawn() == Bar(1.0, 0.0).drawn() == ""


def test_topics_and_the_collection_are_named(explain):
    shown = explain("bltm(n_topics=3)")
    assert re.search(r"topic \d: \w+", shown)
    assert "the document's own hotel" in shown and "of its probability, the same for all" in shown


def test_translating_words_are_named(explain):
    assert "translated from hotel" in explain("wtm")


def test_biases_and_the_mean_are_named(explain):
    shown = explain("svdfeature(dim=4,iterations=2)")
    assert "the mean of the training data" in shown
    assert "bias of query words: hotel" in shown and "bias of document words: hotel" in shown


def test_views_with_spaces_of_their_own_do_not_meet(explain):
    shown = explain("mpls(dim=5)", "hotel")
    words, clicks = shown.partition("its click on")[::2]
    assert "its click for" not in words and clicks
    assert "its click for" in clicks and not re.search(r"with [a-z]+ -?\d", clicks)


def test_a_borrowed_click_is_all_there_is(explain, graph):
    clicks = ClickGraph.open(graph)
    clicked = clicks.queries[0], clicks.docs[int(clicks.clicks.row(0)[0][0])]
    shown = explain("neighbours", *clicked)
    assert "100.0%" in shown and "more;" not in shown
