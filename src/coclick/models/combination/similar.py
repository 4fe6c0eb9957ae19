"""Add up similar queries, or similar documents, of several models."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from coclick.models.base import TopK
from coclick.results import padded, top_rows


def sum_top_k(found: Sequence[tuple[Sequence[float], TopK]], names: int, k: int) -> TopK:
    """Return the weighted sum of several results for the same queries, each divided by its best score."""
    rows, scores = padded(len(found[0][0]), k)
    for i in range(len(rows)):
        total = np.zeros(names, np.float32)
        for weights, (part_rows, part_scores) in found:
            valid = part_rows[i] >= 0
            if valid.any():
                total[part_rows[i][valid]] += weights[i] * part_scores[i][valid] / part_scores[i][0]
        best, values = top_rows(total, k)
        rows[i, : len(best)], scores[i, : len(best)] = best, values
    return rows, scores
