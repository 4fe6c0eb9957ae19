"""`cos_clicks`: the cosine of two queries' logarithmic clicks (Cos_B; paper 000 §5.2).

    similarity(q, r) = cos(ln(1 + C_q), ln(1 + C_r))

for rows of the clicks C, and the same for documents with its columns. A document's score for a seen query is
its entry in the query's row, scaled to unit length.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from coclick.arrays.sparse_vector import SparseVector
from coclick.graph.click_graph import ClickGraph
from coclick.models.click_graph._base import CandidateModel, cosines, lengths, log_clicks
from coclick.models.registry import register
from coclick.progress import Progress
from coclick.text.query import Query


@register
@dataclass
class CosClicks(CandidateModel):
    """Queries are alike if the same documents were clicked for them."""

    name = "cos_clicks"
    summary = "queries are alike if the same documents were clicked for them"
    capabilities = frozenset({"similar"})

    def _fit(self, graph: ClickGraph, progress: Progress) -> None:
        """The lengths of rows and columns."""
        self.query_lengths_ = lengths(graph.clicks)
        self.doc_lengths_ = lengths(graph.clicks_by_doc)

    def _list_docs(self, query: Query) -> SparseVector:
        """The query's own clicks."""
        own = log_clicks(self.graph_.clicks, np.array([query.row]))
        return SparseVector(own.indices, own.data / self.query_lengths_[query.row].astype(np.float64))

    def _list_similar_queries(self, query: Query, k: int) -> SparseVector:
        """Those that share a clicked document."""
        if query.row < 0:
            return SparseVector.none()
        return cosines(query.row, self.graph_.clicks, self.graph_.clicks_by_doc, self.query_lengths_)

    def _list_similar_docs(self, doc: int, k: int) -> SparseVector:
        """Those that share a query."""
        return cosines(doc, self.graph_.clicks_by_doc, self.graph_.clicks, self.doc_lengths_)
