"""`mix`: a linear combination, written `"0.8*rw + 0.2*bm25"`.

Wu, Li & Xu 2013 (Table 1), Gao et al. 2011 and Wu, Lu & Li 2013 combine models in this way. Without weights
(`"rw + bm25"`) they are learned, as those of a `backoff` are.
"""

from __future__ import annotations

from dataclasses import dataclass

from coclick.models.base import Model
from coclick.models.combination._base import Combination
from coclick.models.registry import register
from coclick.text.query import Query


@register
@dataclass
class Mix(Combination):
    """A weighted sum of scores."""

    name = "mix"
    summary = "weighted sum of the scores of other models"

    parts: str = "0.8*vpcg + 0.2*bm25"

    def _part_weight(self, part: Model, query: Query) -> float:
        """Return 1: the weight does not depend on the query."""
        return 1.0

    def __str__(self) -> str:
        return self.parts if len(self.weights) > 1 else f"mix({self.parts})"
