"""`backoff`: a combination weighted by evidence, written `"backoff(neighbours + 0.5*bm25)"`.

Dividing scores by their maximum gives weak evidence the same influence as strong evidence: on a sparse log an
equal mix of clicks and words can rank worse than words alone. Here the weight of a part is its confidence for
the query (`Model.confidence`), so that words decide where there are no clicks.
"""

from __future__ import annotations

from dataclasses import dataclass

from coclick.models.base import Model
from coclick.models.combination._base import Combination
from coclick.models.registry import register
from coclick.text.query import Query


@register
@dataclass
class Backoff(Combination):
    """A weighted sum of scores, each divided by its maximum and multiplied by the part's confidence."""

    name = "backoff"
    summary = "weighted sum of models, each scaled by its evidence for the query"

    parts: str = "vpcg + 0.5*bm25"

    def _part_weight(self, part: Model, query: Query) -> float:
        """Return the confidence of the part."""
        return part._confidence(query)

    def __str__(self) -> str:
        return f"backoff({self.parts})"
