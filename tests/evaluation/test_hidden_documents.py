"""Held-out queries with the clicks of some documents hidden: what stays in training, what is judged."""

import numpy as np
import pytest

import planted
from coclick.errors import UserError
from coclick.evaluation.holdout import hold_out
from coclick.evaluation.tasks import SEARCH
from coclick.graph.click_graph import ClickGraph

GRAPH = planted.graph()


def test_hidden_documents_have_no_clicks_in_training_and_are_judged():
    train, judgments, rule = hold_out(GRAPH, "documents:0.5")
    assert rule == "documents:0.5"
    clicked = {GRAPH.docs[row] for row in np.flatnonzero(GRAPH.clicks_by_doc.row_nnz() > 0).tolist()}
    kept = {train.docs[row] for row in np.flatnonzero(train.clicks_by_doc.row_nnz() > 0).tolist()}
    assert kept < clicked and len(train.docs) == len(GRAPH.docs)
    assert 0.2 < len(kept) / len(clicked) < 0.8
    judged = {doc for grades in judgments.grades.values() for doc in grades}
    assert judged & kept and judged - kept, "both kinds of documents are relevant"
    assert judgments.candidates == clicked
    assert "only the 30 documents with clicks are ranked" in judgments.notes[0]
    for query in judgments.queries:
        assert train.clicks.row(train.queries.id(query))[1].sum() == 0, "the query is unseen"
        docs, _ = GRAPH.clicks.row(GRAPH.queries.id(query))
        assert {GRAPH.docs[doc] for doc in docs} == {*judgments.grades[query]}


def test_rules_that_cannot_be_read():
    for rule in ("documents:half", "documents:2"):
        with pytest.raises(UserError):
            hold_out(GRAPH, rule)


def test_thin_logs_have_another_rule():
    """Three quarters of the planted documents have clicks; one of three here."""
    assert "documents:0.5" not in SEARCH.holdouts(GRAPH)
    thin = ClickGraph.from_clicks([("a", "x", 5)], {"y": "never", "z": "clicked"})
    assert SEARCH.holdouts(thin) == pytest.approx({"queries:0.2": 1 / 3, "documents:0.5": 2 / 3})
