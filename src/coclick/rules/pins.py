"""Pins: queries whose users nearly all click one document."""

from __future__ import annotations

import numpy as np

from coclick.graph.click_graph import ClickGraph
from coclick.rules.rule import Rule, with_evidence

_MIN_SHARE = 0.7  # lower end of the interval: below, the query has several good documents


def find_pins(graph: ClickGraph, min_clicks: float) -> list[Rule]:
    """Return a pin for each query with enough clicks, nearly all on one document."""
    clicks = graph.clicks
    totals = clicks.row_sums()
    rules = []
    for row in np.flatnonzero(totals >= min_clicks).tolist():
        docs, counts = clicks.row(row)
        best = int(counts.argmax())
        if counts[best] < _MIN_SHARE * totals[row]:
            continue
        doc = int(docs[best])
        rule = with_evidence(
            "pin",
            graph.queries[row],
            graph.docs[doc],
            float(counts[best]),
            float(totals[row]),
            graph.title(doc),
        )
        if rule.interval[0] >= _MIN_SHARE:
            rules.append(rule)
    return rules
