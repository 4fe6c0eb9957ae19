"""`backoff`: a combination in which evidence decides, written `"backoff(neighbours + 0.5*bm25)"`.

Dividing scores by their maximum makes a faint signal as loud as a strong one: on a thin log an equal mix of
clicks and words can rank worse than words alone. Here each part counts as much as stands behind its scores
for the query at hand (`Model.evidence`): where the clicks have nothing to say, the words decide.
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
    summary = "a weighted sum of models that counts each by the evidence behind it for the query"

    parts: str = "vpcg + 0.5*bm25"

    def part_weight(self, part: Model, query: Query) -> float:
        """As much as the part itself says."""
        return part._confidence(query)

    def __str__(self) -> str:
        return f"backoff({self.parts})"
