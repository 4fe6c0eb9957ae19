"""Held-out clicks as judgments: the split, and grades computed by hand."""

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


def test_holds_out_queries_if_the_log_has_no_days():
    graph = ClickGraph.from_clicks(planted.clicks(), planted.docs())
    held = hold_out(graph)
    assert held.rule == "queries:0.2"
    for query, grades in held.judgments.grades.items():
        row = graph.queries.id(query)
        assert not held.train.clicks.row_nnz()[row]
        assert set(grades) == {graph.docs[int(doc)] for doc in graph.clicks.row(row)[0]}


def test_holds_out_time_if_the_log_has_days(tmp_path):
    """All planted clicks are of day 100, so day 101 has none to evaluate on."""
    with pytest.raises(UserError, match="no clicks to evaluate on"):
        hold_out(planted.graph())


@pytest.mark.parametrize("rule", ["time:x", "weather:0.2", "queries:2", "queries:0"])
def test_invalid_rules(rule):
    with pytest.raises(UserError):
        hold_out(planted.graph(), rule)
