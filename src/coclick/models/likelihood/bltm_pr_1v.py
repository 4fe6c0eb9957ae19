"""`bltm_pr_1v`: `bltm_pr` over a merged vocabulary (paper 001 §5.2).

Queries and titles speak one language: each topic has one distribution of words for both.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from coclick.models.base import register
from coclick.models.likelihood._topics import TopicModel


@register
@dataclass
class BLTMPR1V(TopicModel):
    """Topics on which each query and its title agree, in one language."""

    name = "bltm_pr_1v"
    summary = "bltm_pr in which queries and titles share their words"
    most_docs = 500_000

    rounds: int = 16

    def options(self) -> dict[str, Any]:
        """Regularised, with one distribution a topic."""
        return {"regularise": True, "shared": True}
