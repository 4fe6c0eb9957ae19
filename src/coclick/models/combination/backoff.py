"""`backoff`: a combination weighted by evidence, written `"backoff(neighbours + vpcg + bm25)"`.

On a sparse log an equal mix of clicks and words can rank worse than words alone. So the weights that a
`backoff` learns depend on whether the query and the document have clicks (`calibration`): words decide where
there are none. If weights are written (`"backoff(neighbours + 0.5*bm25)"`), the weight of a part is
multiplied by the product of its evidence for the query (`Model.evidence`) instead.
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
    """A sum of scores with weights by evidence."""

    name = "backoff"
    summary = "sum of models, weighted by the evidence for query and document"

    # Own words and characters of vpcg would repeat what bm25 says: docs/models.md.
    parts: str = "neighbours + vpcg(units=words,own_weight=0) + bm25"

    def _part_weight(self, part: Model, query: Query) -> float:
        """Return the evidence of the part, for weights that are written."""
        return part._evidence_product(query)

    def __str__(self) -> str:
        return f"backoff({self.parts})"
