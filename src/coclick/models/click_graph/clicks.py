"""`clicks`: documents of a seen query ranked by their clicks in the log."""

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
    """Score a pair by its clicks in the log."""

    name = "clicks"
    summary = "documents clicked for a seen query, ranked by clicks"

    def _fit(self, graph: ClickGraph, progress: Progress) -> None:
        """Learn nothing: every model carries the graph."""

    def _list_docs(self, query: Query) -> SparseVector:
        """List the clicked documents of the query."""
        clicked = self.graph_.clicks.take(np.array([query.row]))
        return SparseVector(clicked.indices, clicked.data.astype(np.float64))
