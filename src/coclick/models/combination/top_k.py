"""Exact search of a sum through the indexes of its parts, without scoring every document.

Each part finds its best m documents, and the sum is computed for those of all parts. Any other document
scores at most the m-th score of each part, so its sum is at most the sum of those: the threshold algorithm of
Fagin, Lotem & Naor 2003. If the k-th sum found is above that bound, no other document is among the best k. If
not, m grows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from coclick.models.base import DocMask, Model, TopK
from coclick.results import padded, top_rows
from coclick.text.query import Query

FIRST_DEPTH, GROWTH = 64, 4  # m at first, and its factor
BLOCK = 64  # queries that are searched together
MARGIN = 1 + 1e-6  # of the bound, for rounding errors

Scores = NDArray[np.float32]


def search_sum(
    parts: Sequence[Model],
    queries: Sequence[Query],
    k: int,
    mask: DocMask,
    total: Callable[[Query, NDArray[np.int32]], Scores],
    bound: Callable[[Query, Sequence[float]], float],
) -> TopK:
    """Find the k documents with the largest sums for each query; ties go to the smaller row.

    Parameters: `parts`, `queries`, `k` and `mask` as of `Model._search`; `total` returns the sums of some
    documents; `bound` the largest possible sum if no score of a part is larger than the given ones.
    """
    rows, scores = padded(len(queries), k)
    for first in range(0, len(queries), BLOCK):
        block = queries[first : first + BLOCK]
        if len(queries) > 1:  # what parts keep with a query is released after its block
            block = [Query(query.text, query.row) for query in block]
        _search_block(parts, block, mask, total, bound, rows[first:], scores[first:])
    return rows, scores


def _search_block(
    parts: Sequence[Model],
    queries: Sequence[Query],
    mask: DocMask,
    total: Callable[[Query, NDArray[np.int32]], Scores],
    bound: Callable[[Query, Sequence[float]], float],
    rows: NDArray[np.int32],
    scores: Scores,
) -> None:
    """Fill the first rows of the results."""
    n_docs, k = len(parts[0].graph_.docs), rows.shape[1]
    left, depth = [*range(len(queries))], max(FIRST_DEPTH, 2 * k)
    while left:
        depth = min(depth, n_docs)
        asked = [queries[i] for i in left]
        found = [part._search(asked, depth, mask) for part in parts]
        unfinished = []
        for place, i in enumerate(left):
            docs = np.unique(np.concatenate([part_rows[place] for part_rows, _ in found]))
            docs = docs[docs >= 0]
            best, values = top_rows(total(queries[i], docs), k)
            last = [float(part_scores[place, -1]) for _, part_scores in found]  # 0 if there are fewer
            complete = depth == n_docs or not any(last)
            if complete or (len(best) == k and values[-1] > MARGIN * bound(queries[i], last)):
                rows[i, : len(best)], scores[i, : len(best)] = docs[best], values
            else:
                unfinished.append(i)
        left, depth = unfinished, depth * GROWTH
