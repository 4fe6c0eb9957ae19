"""Judgments from held-out clicks: what is cut, and grades by hand."""

import numpy as np
import pytest

import planted
from coclick.errors import UserError
from coclick.evaluation.holdout import grades_from_clicks, hold_out
from coclick.graph.click_graph import ClickGraph


def test_grades_by_hand():
    """log 2 / log 8 = 1/3 → ⌈4/3⌉ = 2; log 4 / log 8 = 2/3 → 3; the most clicked gets 4."""
    assert grades_from_clicks(np.array([1.0, 3.0, 7.0])).tolist() == [2, 3, 4]
    assert grades_from_clicks(np.array([5.0])).tolist() == [4]
    assert grades_from_clicks(np.array([1.0, 1000.0])).tolist() == [1, 4]


def test_by_queries_where_the_log_has_no_days():
    graph = ClickGraph.from_clicks(planted.clicks(), planted.docs())
    held = hold_out(graph)
    assert held.rule == "queries:0.2"
    for query, grades in held.judgments.grades.items():
        row = graph.queries.id(query)
        assert not held.train.clicks.row_nnz()[row]
        assert set(grades) == {graph.docs[int(doc)] for doc in graph.clicks.row(row)[0]}


def test_by_time_where_it_has(tmp_path):
    """Planted clicks are all of day 100, so nothing of day 101 is left to judge by."""
    with pytest.raises(UserError, match="nothing to judge by"):
        hold_out(planted.graph())


@pytest.mark.parametrize("rule", ["time:x", "weather:0.2", "queries:2", "queries:0"])
def test_rules_that_cannot_be_read(rule):
    with pytest.raises(UserError):
        hold_out(planted.graph(), rule)
