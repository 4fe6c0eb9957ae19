"""`mix`: the papers' linear combinations, written `"0.8*rw + 0.2*bm25"` (papers 000 Table 1, 001, 002)."""

from __future__ import annotations

from dataclasses import dataclass

from coclick.models.base import Model
from coclick.models.combination._base import Combination
from coclick.models.registry import register
from coclick.text.query import Query


@register
@dataclass
class Mix(Combination):
    """A weighted sum of scores, each divided by its maximum for the query; all parts are trusted alike."""

    name = "mix"
    summary = "a weighted sum of other models' scores, as the papers combine them"

    parts: str = "0.8*vpcg + 0.2*bm25"

    def part_weight(self, part: Model, query: Query) -> float:
        """Fully."""
        return 1.0

    def __str__(self) -> str:
        return self.parts if len(self.weights) > 1 else f"mix({self.parts})"
