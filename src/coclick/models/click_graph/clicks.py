"""`clicks`: what the log itself remembers. A seen query's documents by their clicks, nothing else."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from coclick.arrays.sparse_vector import SparseVector
from coclick.graph.click_graph import ClickGraph
from coclick.models.click_graph._base import CandidateModel
from coclick.models.registry import register
from coclick.progress import Progress
from coclick.text.query import Query


@register
@dataclass
class Clicks(CandidateModel):
    """Score of a pair: its clicks in the log."""

    name = "clicks"
    summary = "a seen query's documents by their clicks in the log"

    def _fit(self, graph: ClickGraph, progress: Progress) -> None:
        """Nothing: the graph that every model carries holds the answer."""

    def _list_docs(self, query: Query) -> SparseVector:
        """The query's clicked documents."""
        clicked = self.graph_.clicks.take(np.array([query.row]))
        return SparseVector(clicked.indices, clicked.data.astype(np.float64))
