"""Exact search of a sum through the indexes of its parts, without scoring every document.

Each part finds its best documents, m at first, and the sum is computed for those of all parts. Any other
document scores at most the last score that each part found, so its sum is at most the sum of those: the
threshold algorithm of Fagin, Lotem & Naor 2003. If the k-th sum found is above that bound, no other document
is among the best k. If not, the part that lowers the bound fastest finds more.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from coclick.models.base import DocMask, Model, TopK
from coclick.results import padded, top_rows
from coclick.text.query import Query

FIRST_DEPTH, GROWTH = 128, 4  # m at first, and its factor
BLOCK = 64  # queries that are searched together
MARGIN = 1 + 1e-6  # of the bound, for rounding errors
_TINY = 1e-6  # of a bound: if nothing lowers it, the part that found least goes on

Scores = NDArray[np.float32]


class Sum(Protocol):
    """A sum of the scores of parts."""

    parts_: list[Model]

    def _score(self, query: Query, docs: NDArray[np.int32]) -> Scores:
        """Return the sums of documents."""

    def _bound(self, query: Query, highest: Sequence[float]) -> float:
        """Return the largest possible sum of documents whose scores are not above these."""


def search_sum(model: Sum, queries: Sequence[Query], k: int, mask: DocMask) -> TopK:
    """Find the k documents with the largest sums for each query; ties go to the smaller row."""
    rows, scores = padded(len(queries), k)
    depth = min(max(FIRST_DEPTH, 2 * k), len(model.parts_[0].graph_.docs))
    for first in range(0, len(queries), BLOCK):
        block = queries[first : first + BLOCK]
        if len(queries) > 1:  # what parts keep with a query is released after its block
            block = [Query(query.text, query.row) for query in block]
        found = [part._search(block, depth, mask) for part in model.parts_]
        for i, query in enumerate(block):
            best, values = _search_one(model, query, [(one[0][i], one[1][i]) for one in found], k, mask)
            rows[first + i, : len(best)], scores[first + i, : len(best)] = best, values
    return rows, scores


def _search_one(
    model: Sum, query: Query, found: list[tuple[NDArray[np.int32], Scores]], k: int, mask: DocMask
) -> tuple[NDArray[np.int32], Scores]:
    """The best k documents, given the best of each part."""
    n_docs = len(model.parts_[0].graph_.docs)
    docs, sums = np.empty(0, np.int32), np.empty(0, np.float32)
    while True:
        new = np.unique(np.concatenate([rows for rows, _ in found]))
        new = new[new >= 0]
        if len(docs):
            new = np.setdiff1d(new, docs, assume_unique=True)
        docs, sums = np.concatenate([docs, new]), np.concatenate([sums, model._score(query, new)])
        if len(new) < len(docs):
            order = np.argsort(docs)
            docs, sums = docs[order], sums[order]
        best, values = top_rows(sums, k)
        # The last score of a part that has found all its documents is 0.
        last = [float(scores[-1]) if len(scores) < n_docs else 0.0 for _, scores in found]
        if not any(last) or (len(best) == k and values[-1] > MARGIN * model._bound(query, last)):
            return docs[best], values
        i = _fastest(model, query, found, last)
        depth = min(len(found[i][0]) * GROWTH, n_docs)
        rows, scores = model.parts_[i]._search([query], depth, mask)
        found[i] = rows[0], scores[0]


def _fastest(
    model: Sum, query: Query, found: list[tuple[NDArray[np.int32], Scores]], last: list[float]
) -> int:
    """The part, of those with more to find, whose documents so far lowered the bound most, for each."""
    bound, drops = model._bound(query, last), []
    for i, (_, scores) in enumerate(found):
        before = [*last[:i], float(scores[len(scores) // GROWTH - 1]), *last[i + 1 :]]
        drop = model._bound(query, before) - bound
        drops.append((drop + _TINY) / len(scores) if last[i] else -1.0)
    return int(np.argmax(drops))
