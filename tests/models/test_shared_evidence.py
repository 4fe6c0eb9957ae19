"""Damped similarities, by hand and by a naive implementation."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coclick import ClickGraph, create
from coclick.models.shared_evidence import damp_similar, shared_evidence
from coclick.text.query import Query

ROWS = [
    ("cod mw3", "game", 9),
    ("mw3", "game", 30),
    ("baby monitor", "game", 1),
    ("mw3 guide", "game", 2),
    ("mw3 guide", "book", 5),
]


def test_one_shared_click_counts_less():
    """n / (n + 0.3); clicks and words shared with "cod mw3": mw3 9 + 1, mw3 guide 2 + 1, baby monitor 1."""
    model = create("cos_clicks").fit(ClickGraph.from_clicks(ROWS))
    plain = dict(model.similar_queries("cod mw3").hits())
    assert plain["baby monitor"] == plain["mw3"] == pytest.approx(1.0)
    damped = model.similar_queries("cod mw3", damped=True).hits()
    expected = {"mw3": 10 / 10.3, "baby monitor": 1 / 1.3, "mw3 guide": plain["mw3 guide"] * 3 / 3.3}
    assert dict(damped) == pytest.approx(expected)
    assert damped[0][0] == "mw3"


def test_a_query_without_clicks_is_damped_by_the_clicks_of_the_others():
    graph = ClickGraph.from_clicks(ROWS)
    rows = graph.queries.lookup(["mw3", "baby monitor"])[None]
    found = damp_similar(graph, [Query("new mw3", -1)], rows, np.array([[0.8, 0.8]], np.float32), 2)
    assert found[1][0] == pytest.approx([0.8 * 31 / 31.3, 0.8 / 1.3])


def test_ties_are_broken_by_clicks_and_a_pair_that_shares_nothing_stays():
    graph = ClickGraph.from_clicks([("a", "x", 1), ("b", "y", 2), ("c", "z", 7)])
    rows = graph.queries.lookup(["b", "c"])[None]
    [found], [scores] = damp_similar(graph, [Query("a", 0)], rows, np.ones((1, 2), np.float32), 5)
    assert [graph.queries[row] for row in found[:2].tolist()] == ["c", "b"]
    assert scores[:2] == pytest.approx([0.5] * 2) and found[2] == -1


edges = st.dictionaries(st.tuples(st.sampled_from("abcdef"), st.sampled_from("xyz")), st.integers(1, 9))


@given(edges.filter(bool), st.sampled_from("abcdefg"))
def test_shared_evidence_equals_a_naive_count(clicked, asked):
    graph = ClickGraph.from_clicks([(f"{q} w", d, n) for (q, d), n in clicked.items()])
    others = np.arange(len(graph.queries), dtype=np.int32)
    found = shared_evidence(graph, Query(f"{asked} w", graph.queries.id(f"{asked} w")), others)
    for row in others.tolist():
        other = graph.queries[row][0]
        pairs = [(clicked.get((asked, d), 0), clicked.get((other, d), 0)) for d in "xyz"]
        assert found.shared_clicks[row] == sum(min(pair) for pair in pairs)
        assert found.clicks[row] == sum(clicks for _, clicks in pairs)
        assert found.shared_words[row] == 1 + (other == asked)
