"""Statistics of the log that a model was trained on: the distribution of clicks, and what was rejected.

They take a pass over the whole graph, so `routes` caches them for each model.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from coclick.answers import describe_graph
from coclick.graph.click_graph import ClickGraph
from coclick.models.base import Model
from coclick.service.studio.clicks import Kind, node_of
from coclick.text.term_matrix import titles

N_POINTS = 60  # of a curve
N_TOP = 8  # queries and documents with the most clicks
N_EXAMPLES = 9
_SHARES = (0.5, 0.8, 0.9)  # of all clicks; how many queries have them?


def describe_log(model: Model) -> dict[str, Any]:
    """Return sizes, coverage, degree distributions, head and tail, build statistics and example queries."""
    graph = model.trained_on
    texts = titles(graph.texts)
    clicks = graph.clicks.row_sums()
    return {
        **describe_graph(graph),
        "docs_with_text": int((np.diff(texts.offsets) > 0).sum()) if texts else 0,
        "head": head_and_tail(clicks),
        "top": {
            "queries": _most_clicked(graph, "query", clicks),
            "docs": _most_clicked(graph, "doc", graph.clicks_by_doc.row_sums()),
        },
        "examples": [graph.queries[int(row)] for row in spread_rows(clicks, N_EXAMPLES)],
    }


def head_and_tail(clicks: NDArray[np.float64]) -> dict[str, Any]:
    """Return clicks and cumulative share by the rank of the query, at ranks evenly spaced on a log scale, and
    how many queries have 50 %, 80 % and 90 % of all clicks."""
    ordered = np.sort(clicks[clicks > 0])[::-1]
    if not len(ordered):
        return {"ranks": [], "shares": []}
    cumulative = np.cumsum(ordered) / ordered.sum()
    ranks = np.unique(np.geomspace(1, len(ordered), N_POINTS).round().astype(np.int64))
    counts = [int(np.searchsorted(cumulative, share - 1e-12)) + 1 for share in _SHARES]
    return {
        "ranks": [
            {"rank": int(rank), "clicks": float(ordered[rank - 1]), "share": float(cumulative[rank - 1])}
            for rank in ranks
        ],
        "shares": [{"share": share, "queries": count} for share, count in zip(_SHARES, counts, strict=True)],
    }


def _order(clicks: NDArray[np.float64]) -> NDArray[np.int64]:
    """Rows with clicks, most clicks first."""
    rows = np.flatnonzero(clicks > 0)
    return rows[np.argsort(-clicks[rows], kind="stable")]


def spread_rows(clicks: NDArray[np.float64], count: int) -> NDArray[np.int64]:
    """Return at most `count` rows from head to tail, at ranks evenly spaced on a log scale."""
    order = _order(clicks)
    if not len(order):
        return order
    return order[np.unique(np.geomspace(1, len(order), count).round().astype(np.int64)) - 1]


def _most_clicked(graph: ClickGraph, kind: Kind, clicks: NDArray[np.float64]) -> list[dict[str, Any]]:
    rows = _order(clicks)[:N_TOP].tolist()
    return [{**node_of(graph, kind, row), "clicks": float(clicks[row])} for row in rows]
