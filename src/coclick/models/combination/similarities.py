"""Weighted sums of the similarities that the parts of a combination find.

The similarities of a part are divided by the largest that it usually has, that of a query (or document) with
itself: the median over a sample of those with clicks. It is 1 for a cosine. So parts of any scale can be
added, and a part that finds nothing close to a query has little influence on its results. Division by the
best similarity of the same query would lose that: unseen queries of zerozero were ranked much worse with it,
all other logs about as well.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from coclick.arrays.csr import Csr
from coclick.arrays.sparse_vector import SparseVector
from coclick.models.hooks import TopK
from coclick.results import padded, top_rows

_SAMPLE = 32  # queries or documents


def sample_rows(clicks: Csr) -> NDArray[np.int32]:
    """Return some rows that have clicks, evenly spread."""
    rows = np.flatnonzero(clicks.row_nnz()).astype(np.int32)
    return rows[np.unique(np.linspace(0, len(rows) - 1, _SAMPLE).astype(int))]


def usual_best(found: TopK) -> float:
    """Return the median of the best similarities, 1 if there are none."""
    best = found[1][:, 0]
    return float(np.median(best[best > 0])) if (best > 0).any() else 1.0


def sum_similarities(found: Sequence[tuple[Sequence[float], TopK]], k: int) -> TopK:
    """Return the k best of the weighted sums of several results, each with a weight for each line."""
    rows, scores = padded(len(found[0][0]), k)
    for i in range(len(rows)):
        listed = [part_rows[i][part_rows[i] >= 0] for _, (part_rows, _) in found]
        values = [
            weights[i] * part_scores[i][: len(own)]
            for own, (weights, (_, part_scores)) in zip(listed, found, strict=True)
        ]
        total = SparseVector.add_up(np.concatenate(listed), np.concatenate(values))
        best, sums = top_rows(total.values.astype(np.float32), k)
        rows[i, : len(best)], scores[i, : len(best)] = total.rows[best], sums
    return rows, scores
