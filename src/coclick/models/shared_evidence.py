"""Damping of similar queries by what the pair shares.

One click is enough for two queries to have the same vector: a single click on a game after a search for
"baby monitor" makes that as similar to "cod mw3" as any spelling of the game. So a similarity counts as far
as there is evidence for it:

    damped(q, r) = similarity(q, r) · n / (n + λ),    n = max(Σ_d min(C_qd, C_rd) + |words(q) ∩ words(r)|, λ)

with the clicks C and λ = 0.3. For a query without clicks n has all clicks of r. A pair that shares nothing
keeps half: models find such pairs over several clicks. Ties are broken by clicks. docs/evaluation.md has
figures with and without.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coclick.graph.click_graph import ClickGraph
from coclick.results import padded
from coclick.text.query import Query

_LAMBDA = 0.3
_TIE = 6  # decimals of scores that are compared


class SharedEvidence(NamedTuple):
    """What a query shares with each of some others, and the clicks of these."""

    shared_clicks: NDArray[np.float64]  # 0 for a query without clicks
    shared_words: NDArray[np.int64]
    clicks: NDArray[np.float64]


def depth_for(k: int) -> int:
    """Return how many similar queries to damp so that the k best are among them: many have equal scores."""
    return max(10 * k, 1000)


def shared_evidence(graph: ClickGraph, query: Query, others: NDArray[np.int32]) -> SharedEvidence:
    """Return what a query shares with others, given by their rows."""
    taken = graph.clicks.take(others)
    line = np.repeat(np.arange(len(others)), taken.row_nnz())
    common = np.zeros(taken.nnz)
    if query.row >= 0 and taken.nnz:
        docs, clicks = graph.clicks.row(query.row)
        if len(docs):
            place = np.minimum(np.searchsorted(docs, taken.indices), len(docs) - 1)
            common = np.where(docs[place] == taken.indices, np.minimum(clicks[place], taken.data), 0.0)
    own = set(query.text.split())
    words = [len(own.intersection(graph.queries[row].split())) for row in others.tolist()]
    shared, clicks_of = (
        np.bincount(line, values, len(others)).astype(np.float64) for values in (common, taken.data)
    )
    return SharedEvidence(shared, np.array(words, np.int64), clicks_of)


def damp_similar(
    graph: ClickGraph,
    queries: Sequence[Query],
    rows: NDArray[np.int32],
    scores: NDArray[np.float32],
    k: int,
) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
    """Damp the similarities of each query and return its k best."""
    best_rows, best_scores = padded(len(queries), k)
    for i, query in enumerate(queries):
        others = rows[i][rows[i] >= 0]
        found = shared_evidence(graph, query, others)
        seen = query.row >= 0 and len(graph.clicks.row(query.row)[0]) > 0
        n = np.maximum((found.shared_clicks if seen else found.clicks) + found.shared_words, _LAMBDA)
        damped = scores[i][: len(others)] * (n / (n + _LAMBDA))
        order = np.lexsort((others, -found.clicks, -np.round(damped, _TIE)))[:k]
        best_rows[i, : len(order)], best_scores[i, : len(order)] = others[order], damped[order]
    return best_rows, best_scores
