"""`clicks`: what the log itself remembers. A seen query's documents by their clicks, nothing else."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from coclick.graph.click_graph import ClickGraph
from coclick.models.base import Model, register
from coclick.progress import Progress


@register
@dataclass
class Clicks(Model):
    """Score of a pair: its clicks in the log."""

    name = "clicks"
    summary = "a seen query's documents by their clicks in the log"

    def _fit(self, graph: ClickGraph, progress: Progress) -> None:
        """Nothing: the graph that every model carries holds the answer."""

    def _score(self, query: str, docs: NDArray[np.int32]) -> NDArray[np.float32]:
        """The pairs' clicks."""
        row = self.graph_.queries.id(query)
        scores = np.zeros(len(self.graph_.docs), np.float32)
        if row >= 0:
            clicked, counts = self.graph_.clicks.row(row)
            scores[clicked] = counts
        return scores[docs]

    def evidence(self, query: str) -> dict[str, float]:
        """How many clicks the query has."""
        return {"support": self.graph_.support(query)}
