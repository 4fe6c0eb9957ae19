"""Tasks: what is ranked, by which hold-outs, and a task of one's own on a leaderboard."""

import pytest

from coclick.errors import UserError
from coclick.evaluation.judgments import Judgments
from coclick.evaluation.leaderboard import leaderboard
from coclick.evaluation.protocol import Protocol
from coclick.evaluation.tasks import SEARCH, SearchTask, find_task
from coclick.graph.click_graph import ClickGraph

GRAPH = ClickGraph.from_clicks([("a", "x", 5), ("a", "y", 3), ("b", "x", 2), ("c", "z", 1)])


class QueryTask(SearchTask):
    """Ranks queries that share clicked documents."""

    name, ranked = "queries", "query"

    def vocabulary(self, graph):
        return graph.queries

    def rank(self, model, queries, k):
        return model.similar_queries(queries, k)


def test_a_graph_without_days_is_split_by_queries_only():
    assert SEARCH.holdouts(GRAPH) == {"queries:0.2": 1.0}
    assert find_task("search") is SEARCH
    with pytest.raises(UserError, match="no task is called 'dance'"):
        find_task("dance")


def test_a_task_decides_what_is_ranked():
    """a and b share the document x: b is the only query like a, c is like none."""
    judgments = Judgments({"1": "a", "2": "c"}, {"1": {"b": 1}, "2": {"a": 1}})
    board = leaderboard(GRAPH, judgments, ["cos_clicks"], protocol=Protocol(task=QueryTask()))
    assert board.results[0].rankings == {"1": ["b"], "2": []}
    found = board.to_dict()
    assert found["protocol"]["task"] == "queries"
    assert found["models"][0]["measures"]["nDCG@10"] == 0.5
    assert "document" not in found["models"][0]["breakdown"]


def test_judged_names_must_be_what_the_task_ranks():
    judgments = Judgments({"1": "a"}, {"1": {"x": 1}})
    with pytest.raises(UserError, match="none of the 1 judged queries is in the graph"):
        Protocol(task=QueryTask()).check(GRAPH, judgments)
    with pytest.raises(UserError, match="ranks no given candidates"):
        Protocol("judged", task=QueryTask()).check(GRAPH, judgments)
