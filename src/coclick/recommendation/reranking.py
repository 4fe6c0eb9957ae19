"""Held-out clicks as a test of re-ranking: the candidates of a query are what the engine has shown for it."""

from __future__ import annotations

from coclick.evaluation.inputs import EvaluationData
from coclick.evaluation.judgments import Judgments
from coclick.graph.click_graph import ClickGraph


def has_shown(graph: ClickGraph) -> bool:
    """Whether the graph knows what was shown, also where nobody clicked."""
    return graph.pairs is not None and "impressions" in graph.provides


def with_shown(graph: ClickGraph, data: EvaluationData) -> EvaluationData:
    """Add the documents that were shown for a query, in the whole log, as not relevant (grade 0).

    Queries for which nothing else was shown than what was clicked are left out: any order of it is right.
    """
    pairs = graph.pairs
    assert pairs is not None and pairs.impressions is not None
    queries, grades = {}, {}
    names = list(data.judgments.queries)
    rows = graph.queries.lookup([data.judgments.queries[name] for name in names]).tolist()
    for name, row in zip(names, rows, strict=True):
        part = slice(int(pairs.indptr[row]), int(pairs.indptr[row + 1]))
        shown = pairs.docs[part][pairs.impressions[part] > 0]
        found = {graph.docs[doc]: 0 for doc in shown.tolist()} | data.judgments.grades[name]
        if not all(found.values()):
            queries[name], grades[name] = data.judgments.queries[name], found
    return data._replace(judgments=Judgments(queries, grades)) if queries else data
