"""Re-ranking judged by held-out clicks: candidates are the documents that were shown."""

import numpy as np

from coclick.evaluation.inputs import EvaluationData
from coclick.evaluation.judgments import Judgments
from coclick.graph.click_graph import ClickGraph, PairStats
from coclick.recommendation.reranking import has_shown, with_shown

CLICKS = ClickGraph.from_clicks([("a", "x", 5), ("b", "z", 1), ("c", "y", 2)], {"w": "never clicked"})


def pairs(rows):
    """Documents with their impressions, for each query."""
    indptr = np.cumsum([0, *(len(row) for row in rows)])
    docs = np.array([CLICKS.docs.id(doc) for row in rows for doc, _ in row], np.int32)
    return PairStats(indptr, docs, np.array([count for row in rows for _, count in row], np.int32))


def test_shown_documents_without_clicks_are_not_relevant():
    """w was shown for a, and y was not (no impression is known); for b nothing else was shown."""
    shown = pairs([[("w", 3), ("x", 9), ("y", 0)], [("z", 2)], [("w", 1)]])
    graph = ClickGraph(CLICKS.queries, CLICKS.docs, CLICKS.clicks, CLICKS.texts, shown)
    assert has_shown(graph) and not has_shown(CLICKS)
    judgments = Judgments({"a": "a", "b": "b"}, {"a": {"x": 4}, "b": {"z": 4}})
    found = with_shown(graph, EvaluationData(graph, judgments, "held-out clicks"))
    assert found.judgments.queries == {"a": "a"}
    assert found.judgments.grades == {"a": {"x": 4, "w": 0}}
    only_b = EvaluationData(graph, judgments.only({"b"}), "held-out clicks")
    assert with_shown(graph, only_b) == only_b, "nothing to order: the data stays as it is"
