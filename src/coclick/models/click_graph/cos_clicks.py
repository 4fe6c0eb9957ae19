"""`cos_clicks`: cosine similarity of logarithmic clicks (Cos_B; Wu, Li & Xu 2013 §5.2).

    similarity(q, r) = cos(ln(1 + C_q), ln(1 + C_r))

for the rows of the clicks C, and the same for documents with its columns. The score of a document for a seen
query is its entry in the query's row, scaled to unit length. The paper has ln C, for which a single click is
none (`weight=log`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from coclick.arrays.sparse_vector import SparseVector
from coclick.graph.click_graph import ClickGraph
from coclick.models.click_graph._base import CandidateModel, ClickWeight, cosines, lengths, weighted_rows
from coclick.models.presets import Preset
from coclick.models.registry import register
from coclick.progress import Progress
from coclick.storage.layout import Shape
from coclick.text.query import Query


@register
@dataclass
class CosClicks(CandidateModel):
    """Queries are similar if the same documents were clicked for them."""

    name = "cos_clicks"
    summary = "cosine similarity of click vectors: queries that share clicked documents"
    capabilities = frozenset({"similar"})
    presets = {
        "wu2013b": Preset("Wu, Li & Xu 2013", weight=("log", "§5.1: vectors of log click-numbers")),
    }

    weight: ClickWeight = "log1p"

    query_lengths_: Annotated[NDArray[np.float32], Shape("queries")] = field(init=False)
    doc_lengths_: Annotated[NDArray[np.float32], Shape("docs")] = field(init=False)

    def _fit(self, graph: ClickGraph, progress: Progress) -> None:
        """Compute the lengths of rows and columns."""
        self.query_lengths_ = lengths(graph.clicks, self.weight)
        self.doc_lengths_ = lengths(graph.clicks_by_doc, self.weight)

    def _list_docs(self, query: Query) -> SparseVector:
        """List the clicked documents of the query."""
        own = weighted_rows(self.graph_.clicks, np.array([query.row]), self.weight)
        return SparseVector(own.indices, own.data / self.query_lengths_[query.row].astype(np.float64))

    def _list_similar_queries(self, query: Query, k: int) -> SparseVector:
        """List queries that share a clicked document."""
        return self._list_similar_queries_of([query], k)[0]

    def _list_similar_queries_of(self, queries: Sequence[Query], k: int) -> list[SparseVector]:
        """List them for many queries with one product of sparse matrices."""
        graph, rows = self.graph_, [query.row for query in queries]
        return cosines(rows, graph.clicks, graph.clicks_by_doc, self.query_lengths_, self.weight)

    def _list_similar_docs(self, doc: int, k: int) -> SparseVector:
        """List documents that share a query."""
        graph = self.graph_
        return cosines([doc], graph.clicks_by_doc, graph.clicks, self.doc_lengths_, self.weight)[0]
