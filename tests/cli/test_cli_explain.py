"""The output of `coclick explain`: all parts of a score, and nothing else."""

import re

import pytest

from coclick.cli.terminal import BAR, Bar
from coclick.graph.click_graph import ClickGraph


@pytest.fixture
def explain(run, graph, tmp_path):
    def explained(spec, query="cheap hotel", doc="hotel-0"):
        assert run("train", spec, graph, "-o", tmp_path / "model").code == 0
        return run("explain", tmp_path / "model", query, doc, "--parts", 0).out

    return explained


def test_bar_length():
    assert Bar(1.0, 1.0).draw() == "█" * BAR
    assert Bar(0.0, 1.0).draw() == Bar(-0.3, 1.0).draw() == Bar(1.0, 0.0).draw() == ""


def test_topics_and_collection_are_labelled(explain):
    shown = explain("bltm(n_topics=3)")
    assert re.search(r"topic \d: \w+", shown)
    assert "the document's own hotel" in shown and "of its probability, the same for all" in shown


def test_translations_are_labelled(explain):
    assert "translated from hotel" in explain("wtm")


def test_biases_and_mean_are_labelled(explain):
    shown = explain("svdfeature(dim=4,iterations=2)")
    assert "mean of the training data" in shown
    assert "bias of query words: hotel" in shown and "bias of document words: hotel" in shown


def test_views_with_separate_spaces_share_no_parts(explain):
    shown = explain("mpls(dim=5)", "hotel")
    words, clicks = shown.partition("clicked document")[::2]
    assert "clicked for" not in words and clicks
    assert "clicked for" in clicks and not re.search(r"with [a-z]+ -?\d", clicks)


def test_a_single_click_has_the_whole_share(explain, graph):
    clicks = ClickGraph.open(graph)
    clicked = clicks.queries[0], clicks.docs[int(clicks.clicks.row(0)[0][0])]
    shown = explain("neighbours", *clicked)
    assert "100.0%" in shown and "more;" not in shown


def test_the_number_of_parts(run, explain, tmp_path):
    def tops(*options):
        shown = run("explain", tmp_path / "model", "cheap hotel", "hotel-0", *options).out
        return [line for line in shown.splitlines() if line[:4] in ("├── ", "└── ")]

    explain("pls(dim=5)")
    *parts, rest = tops()
    assert len(parts) == 10 and rest.endswith("; --parts 0 shows all")
    everything = tops("--parts", 0)
    assert f"and {len(everything) - 10} more" in rest
    values = [float(re.search(r"-?\d\.\d{4}$", line)[0]) for line in everything[10:]]
    assert float(re.search(r"more: (-?[\d.]+)", rest)[1]) == pytest.approx(
        sum(values), abs=1e-4 * len(values)
    )
    assert len(tops("--parts", 2)) == 3
