"""`Calibration`: what a combination learns from held-out clicks, and how it adds up the scores of its parts.

    score(q, d) = base(q, d) + Σ_i w_i(q, d) · map_i(s_i(q, d))

`map_i` turns the score of a part into log-odds of a click: it rises, is 0 at a score of 0, linear between
knots, and goes on with its last slope. The weights and the base depend on evidence alone: whether the query
has clicks in the log, and whether the document has. So a document without clicks is rated by what is known
about such documents, not as one that was never clicked in spite of being shown. A document that no part finds
scores 0. `learning` learns all numbers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coclick.storage.state import stored

Floats = NDArray[np.float64]
EVIDENCE = ("without clicks", "with clicks")  # of a query, of a document


@stored
@dataclass(frozen=True)
class Calibration:
    """Maps for each part; weights and base by query (without and with clicks) and document (the same)."""

    knots: list[list[float]]  # for each part, rising scores above 0
    heights: list[list[float]]  # for each part, its map at the knots
    weights: list[list[list[float]]]  # [query][document][part]
    base: list[list[float]]  # [query][document]

    def find_defect(self) -> str | None:
        """Return what is wrong with the numbers, or None."""
        try:
            maps = [*zip(self.knots, self.heights, strict=True)]
            cells = [cell for by_doc in self.weights for cell in by_doc]
            if [len(self.base), *map(len, self.base), *map(len, self.weights)] != [2] * 5:
                return "not one row for each kind of evidence"
            if any(len(knots) != len(heights) or not knots for knots, heights in maps):
                return "knots and heights do not match"
            if any(len(cell) != len(maps) for cell in cells):
                return "not one weight for each part"
            if not all(_rises(values) for both in maps for values in both):
                return "a map does not rise"
            if not all(_is_number(value) for row in (*cells, *self.base) for value in row):
                return "a weight is not a number of at least 0"
        except (TypeError, ValueError):
            return "not lists of numbers"
        return None

    @property
    def n_parts(self) -> int:
        """The number of parts."""
        return len(self.knots)

    def log_odds(self, part: int, scores: NDArray[Any]) -> Floats:
        """Return the map of a part at these scores."""
        knots, heights = [0.0, *self.knots[part]], [0.0, *self.heights[part]]
        slope = (heights[-1] - heights[-2]) / (knots[-1] - knots[-2])
        beyond = np.maximum(scores - knots[-1], 0)
        return np.interp(scores, knots, heights) + slope * beyond

    def contributions(
        self, scores: Sequence[NDArray[Any]], seen: bool, clicked: NDArray[np.bool_]
    ) -> tuple[Floats, Floats]:
        """Return the base of each document, and what each part adds to it (parts × documents).

        Parameters: `scores` of the documents for each part; `seen`, whether the query has clicks; `clicked`,
        which of the documents have.
        """
        cell = clicked.astype(np.intp)
        weights = np.array(self.weights[seen])
        added = np.stack([weights[cell, i] * self.log_odds(i, part) for i, part in enumerate(scores)])
        found = added.any(axis=0)
        return np.where(found, np.array(self.base[seen])[cell], 0.0), added

    def total(
        self, scores: Sequence[NDArray[Any]], seen: bool, clicked: NDArray[np.bool_]
    ) -> NDArray[np.float32]:
        """Return the scores of documents; parameters as of `contributions`."""
        base, added = self.contributions(scores, seen, clicked)
        for part in added:  # one after the other, so that a score does not depend on the other documents
            base += part
        return base.astype(np.float32)

    def explain(
        self, scores: Sequence[NDArray[Any]], seen: bool, clicked: NDArray[np.bool_], parts: Sequence[str]
    ) -> tuple[tuple[str, float], list[float], list[str]]:
        """Return the base of one document with its label, what each part adds, and labels of the parts.

        The label of a part has its weight and its calibrated score. Parameters as of `contributions`, and the
        names of the parts.
        """
        [base], added = self.contributions(scores, seen, clicked)
        weights = self.weights[seen][int(clicked[0])]
        values = added[:, 0].tolist()
        labels = [
            f"{name} = {weight:g} × {float(self.log_odds(i, score)[0]):.4g}"
            for i, (name, weight, score) in enumerate(zip(parts, weights, scores, strict=True))
        ]
        label = f"query {EVIDENCE[seen]}, document {EVIDENCE[int(clicked[0])]}"
        return (label, float(base)), values, labels

    def describe(self, parts: Sequence[str]) -> dict[str, dict[str, float]]:
        """Return the weights by evidence and part, for people."""
        return {
            f"query {EVIDENCE[seen]}, document {EVIDENCE[clicked]}": {
                **dict(zip(parts, self.weights[seen][clicked], strict=True)),
                "base": self.base[seen][clicked],
            }
            for seen in (0, 1)
            for clicked in (0, 1)
        }


def _rises(values: list[float]) -> bool:
    return all(_is_number(value) for value in values) and all(
        low < high for low, high in zip([0.0, *values], values, strict=False)
    )


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and math.isfinite(value) and value >= 0
