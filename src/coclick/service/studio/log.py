"""The log that a model was trained on, from what the model carries: how clicks are spread, what was left out.

Everything here reads the whole graph once, so `routes` keeps it for each model.
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

POINTS = 60  # of a curve
TOP = 8  # queries and documents with the most clicks that are listed
EXAMPLES = 9
_SHARES = (0.5, 0.8, 0.9)  # of all clicks: how many queries have them?


def describe_log(model: Model) -> dict[str, Any]:
    """Sizes, coverage, degree distributions, head and tail, what the build counted, queries to try."""
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
        "examples": [graph.queries[int(row)] for row in _spread(clicks)],
    }


def head_and_tail(clicks: NDArray[np.float64]) -> dict[str, Any]:
    """Clicks by the rank of their query, and the share of all clicks up to there, at ranks spread evenly on a
    logarithmic scale; how many queries have half of the clicks, four fifths, nine tenths."""
    found = np.sort(clicks[clicks > 0])[::-1]
    if not len(found):
        return {"ranks": [], "shares": []}
    together = np.cumsum(found) / found.sum()
    ranks = np.unique(np.geomspace(1, len(found), POINTS).round().astype(np.int64))
    enough = [int(np.searchsorted(together, share - 1e-12)) + 1 for share in _SHARES]
    return {
        "ranks": [
            {"rank": int(rank), "clicks": float(found[rank - 1]), "share": float(together[rank - 1])}
            for rank in ranks
        ],
        "shares": [{"share": share, "queries": count} for share, count in zip(_SHARES, enough, strict=True)],
    }


def _order(clicks: NDArray[np.float64]) -> NDArray[np.int64]:
    """Rows with clicks, the most first."""
    rows = np.flatnonzero(clicks > 0)
    return rows[np.argsort(-clicks[rows], kind="stable")]


def _spread(clicks: NDArray[np.float64]) -> NDArray[np.int64]:
    """Queries to try, from the head to the tail."""
    order = _order(clicks)
    if not len(order):
        return order
    return order[np.unique(np.geomspace(1, len(order), EXAMPLES).round().astype(np.int64)) - 1]


def _most_clicked(graph: ClickGraph, kind: Kind, clicks: NDArray[np.float64]) -> list[dict[str, Any]]:
    rows = _order(clicks)[:TOP].tolist()
    return [{**node_of(graph, kind, row), "clicks": float(clicks[row])} for row in rows]
