"""The clicks of a query or document, and walks along them: query, document, query …

The cost depends on the clicks of the few nodes that are shown, not on the size of the graph.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from coclick.graph.click_graph import ClickGraph
from coclick.text.normalise import normalise

Kind = Literal["query", "doc"]

MAX_CLICKED = 20  # clicked documents of a query, or queries of a document
MAX_NEAR = 8  # neighbours of the start of a walk
MAX_FAR = 12  # neighbours of those neighbours


def row_of(graph: ClickGraph, kind: Kind, name: str) -> int:
    """Return the row of a query or document, −1 if it is not in the log."""
    return graph.queries.id(normalise(name)) if kind == "query" else graph.docs.id(name)


def node_of(graph: ClickGraph, kind: Kind, row: int) -> dict[str, Any]:
    """Describe a query or document by its name and title."""
    if kind == "query":
        return {"kind": kind, "name": graph.queries[row]}
    return {"kind": kind, "name": graph.docs[row], "title": graph.title(row)}


def clicks_of(graph: ClickGraph, kind: Kind, row: int) -> dict[str, Any]:
    """Return the clicked documents of a query, or the queries of a document, most clicks first."""
    others, clicks = _edges(graph, kind, row)
    order = _largest(clicks, MAX_CLICKED)
    total = float(clicks.sum(dtype=np.float64))
    return {
        "edges": len(others),
        "clicks": total,
        "results": [
            {**node_of(graph, _other(kind), int(others[i])), **_clicks_and_share(float(clicks[i]), total)}
            for i in order
        ],
    }


def walk(graph: ClickGraph, kind: Kind, name: str) -> dict[str, Any]:
    """Return a node, its neighbours with the most clicks, and where two steps of a random walk lead.

    `links` are the edges between `near` and `far`, by their positions there, with their clicks.
    """
    row = row_of(graph, kind, name)
    if row < 0:
        return {"kind": kind, "name": name, "known": False}
    others, clicks = _edges(graph, kind, row)
    total = float(clicks.sum(dtype=np.float64))
    order = _largest(clicks, MAX_NEAR)
    near = [int(others[i]) for i in order]
    further = [_edges(graph, _other(kind), other) for other in near]
    reach: dict[int, float] = {}
    for i, (rows, weights) in zip(order, further, strict=True):
        probability = float(clicks[i]) / total / float(weights.sum(dtype=np.float64))
        for j in _largest(weights, MAX_FAR + 1):
            if int(rows[j]) != row:
                reach[int(rows[j])] = reach.get(int(rows[j]), 0.0) + probability * float(weights[j])
    far = sorted(reach, key=lambda other: (-reach[other], other))[:MAX_FAR]
    links = [
        {"near": position, "far": far.index(int(rows[j])), "clicks": float(weights[j])}
        for position, (rows, weights) in enumerate(further)
        for j in np.flatnonzero(np.isin(rows, far))
    ]
    return {
        **node_of(graph, kind, row),
        "known": True,
        "edges": len(others),
        "clicks": total,
        "near": [
            {
                **node_of(graph, _other(kind), other),
                **_clicks_and_share(float(clicks[i]), total),
                "edges": len(rows),
            }
            for other, i, (rows, _) in zip(near, order, further, strict=True)
        ],
        "far": [{**node_of(graph, kind, other), "reach": reach[other]} for other in far],
        "links": links,
    }


def _other(kind: Kind) -> Kind:
    return "doc" if kind == "query" else "query"


def _edges(graph: ClickGraph, kind: Kind, row: int) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
    return (graph.clicks if kind == "query" else graph.clicks_by_doc).row(row)


def _clicks_and_share(clicks: float, total: float) -> dict[str, float]:
    return {"clicks": clicks, "share": clicks / total}


def _largest(weights: NDArray[np.float32], k: int) -> list[int]:
    """Positions of the k largest weights, ties in their order."""
    positions = np.arange(len(weights))
    if len(weights) > k:
        threshold = np.partition(weights, len(weights) - k)[len(weights) - k]
        positions = np.flatnonzero(weights >= threshold)
    return positions[np.argsort(-weights[positions], kind="stable")][:k].tolist()
