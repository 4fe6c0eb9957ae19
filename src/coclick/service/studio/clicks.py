"""The clicks of a query or a document, and a walk along them: query, document, query …

Work is bounded by the clicks of the few nodes that are shown, whatever the size of the graph.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from coclick.graph.click_graph import ClickGraph
from coclick.text.normalise import normalise

Kind = Literal["query", "doc"]

SHOWN = 20  # clicked documents of a query, or queries of a document
NEAR = 8  # neighbours of the node in the middle of a walk
FAR = 12  # neighbours of those


def row_of(graph: ClickGraph, kind: Kind, name: str) -> int:
    """The row of a query or a document, −1 if the log does not have it."""
    return graph.queries.id(normalise(name)) if kind == "query" else graph.docs.id(name)


def node_of(graph: ClickGraph, kind: Kind, row: int) -> dict[str, Any]:
    """A query or a document, with what a page calls it by."""
    if kind == "query":
        return {"kind": kind, "name": graph.queries[row]}
    return {"kind": kind, "name": graph.docs[row], "title": graph.title(row)}


def clicks_of(graph: ClickGraph, kind: Kind, row: int) -> dict[str, Any]:
    """What was clicked for a query, or for what a document was clicked: the most first, with shares."""
    others, clicks = _edges(graph, kind, row)
    order = _heaviest(clicks, SHOWN)
    total = float(clicks.sum(dtype=np.float64))
    return {
        "edges": len(others),
        "clicks": total,
        "results": [
            {**node_of(graph, _other(kind), int(others[i])), **_weighed(float(clicks[i]), total)}
            for i in order
        ],
    }


def walk(graph: ClickGraph, kind: Kind, name: str) -> dict[str, Any]:
    """A node, its heaviest neighbours, and where two steps of a random walk lead from there.

    `links` are the edges between the two: places in `near` and `far`, with their clicks.
    """
    row = row_of(graph, kind, name)
    if row < 0:
        return {"kind": kind, "name": name, "known": False}
    others, clicks = _edges(graph, kind, row)
    total = float(clicks.sum(dtype=np.float64))
    order = _heaviest(clicks, NEAR)
    near = [int(others[i]) for i in order]
    beyond = [_edges(graph, _other(kind), other) for other in near]
    reach: dict[int, float] = {}
    for i, (rows, weights) in zip(order, beyond, strict=True):
        arriving = float(clicks[i]) / total / float(weights.sum(dtype=np.float64))
        for j in _heaviest(weights, FAR + 1):
            if int(rows[j]) != row:
                reach[int(rows[j])] = reach.get(int(rows[j]), 0.0) + arriving * float(weights[j])
    far = sorted(reach, key=lambda other: (-reach[other], other))[:FAR]
    links = [
        {"near": place, "far": far.index(int(rows[j])), "clicks": float(weights[j])}
        for place, (rows, weights) in enumerate(beyond)
        for j in np.flatnonzero(np.isin(rows, far))
    ]
    return {
        **node_of(graph, kind, row),
        "known": True,
        "edges": len(others),
        "clicks": total,
        "near": [
            {**node_of(graph, _other(kind), other), **_weighed(float(clicks[i]), total), "edges": len(rows)}
            for other, i, (rows, _) in zip(near, order, beyond, strict=True)
        ],
        "far": [{**node_of(graph, kind, other), "reach": reach[other]} for other in far],
        "links": links,
    }


def _other(kind: Kind) -> Kind:
    return "doc" if kind == "query" else "query"


def _edges(graph: ClickGraph, kind: Kind, row: int) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
    return (graph.clicks if kind == "query" else graph.clicks_by_doc).row(row)


def _weighed(clicks: float, total: float) -> dict[str, float]:
    return {"clicks": clicks, "share": clicks / total}


def _heaviest(weights: NDArray[np.float32], most: int) -> list[int]:
    """The places of the largest weights, equal ones in their order."""
    places = np.arange(len(weights))
    if len(weights) > most:
        least = np.partition(weights, len(weights) - most)[len(weights) - most]
        places = np.flatnonzero(weights >= least)
    return places[np.argsort(-weights[places], kind="stable")][:most].tolist()
