"""`bltm_pr`: the bilingual topic model with posterior regularisation (paper 001 §3.2, App. A).

Like `bltm`, but in every clicked pair the query and the title must have the same fractions of their words in
each topic, on expectation: the posteriors of each round are projected onto the nearest that do. Otherwise the
longer text alone decides on the topics of the pair.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from coclick.models.base import register
from coclick.models.likelihood._topics import TopicModel


@register
@dataclass
class BLTMPR(TopicModel):
    """Topics on which each query and its title agree."""

    name = "bltm_pr"
    summary = "bltm in which a query and its title must agree on their topics"
    most_docs = 500_000

    rounds: int = 16

    def options(self) -> dict[str, Any]:
        """Regularised."""
        return {"regularise": True}
