"""Excludes: documents that nearly everybody passes over, in favour of results further down.

A click below a document that was not clicked itself is a vote against it for that query (Joachims 2002),
and a click on it is one for it. A graph without positions has no such votes.
"""

from __future__ import annotations

import numpy as np

from coclick.arrays.csr import Csr
from coclick.graph.click_graph import ClickGraph
from coclick.graph.split import clicks_of
from coclick.rules.rule import Rule, with_evidence

_MIN_SHARE = 0.97  # lower end of the interval: with 125 votes, all must be against the document


def find_excludes(graph: ClickGraph, min_clicks: float) -> list[Rule]:
    """Return an exclude for each document that enough clicks for a query passed over."""
    skips = graph.skips
    if skips is None or not len(skips.skipped):
        return []
    rows = np.repeat(np.arange(len(graph.queries)), np.diff(skips.indptr))
    shape = (len(graph.queries), len(graph.docs))
    against = Csr.from_triples(rows, skips.skipped, skips.count.astype(np.float64), shape)
    for_it = clicks_of(graph.clicks, against)
    query_of = np.repeat(np.arange(against.rows), against.row_nnz())
    rules = []
    enough = (against.data >= min_clicks) & (against.data >= _MIN_SHARE * (against.data + for_it))
    for entry in np.flatnonzero(enough).tolist():
        votes, doc = float(against.data[entry]), int(against.indices[entry])
        query, total = graph.queries[int(query_of[entry])], votes + float(for_it[entry])
        rule = with_evidence("exclude", query, graph.docs[doc], votes, total, graph.title(doc))
        if rule.interval[0] >= _MIN_SHARE:
            rules.append(rule)
    return rules
