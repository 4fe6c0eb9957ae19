"""`rw`: a random walk on the click graph (Craswell & Szummer 2007; papers 000 §5.3, 002 §6.1.1).

With P_Q and P_D the clicks C and Cᵀ, rows scaled to sum 1, and a walker at q (x = e_q, y = 0), t times

    x ← s x + (1 − s) P_Q y        y ← s y + (1 − s) P_D x        (both from the old x and y)

which is the backward walk: how likely was q the start of a walk that is here now, if all starts were equally
likely. Documents rank by y, similar queries by x. The papers' s = 0.9 and t = 5 make half a move on average;
longer walks reach further. Vectors stay sparse: after each step the `keep` largest entries go on.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from coclick.arrays.csr import Csr
from coclick.arrays.sparse_vector import SparseVector, weighted_sum
from coclick.graph.click_graph import ClickGraph
from coclick.models.click_graph._base import CandidateModel
from coclick.models.registry import register
from coclick.models.spec import Range
from coclick.progress import Progress
from coclick.text.query import Query


@register
@dataclass
class RandomWalk(CandidateModel):
    """Documents that walks from the query reach."""

    name = "rw"
    summary = "a random walk along the clicks, from a seen query"
    capabilities = frozenset({"similar"})

    stay_probability: Annotated[float, Range(0, 1)] = 0.9  # the chance of staying
    iterations: Annotated[int, Range(1)] = 5  # steps
    max_nodes: Annotated[int, Range(1)] = 10_000  # entries of each side that a step begins with

    def _fit(self, graph: ClickGraph, progress: Progress) -> None:
        """The sums by which transitions are scaled."""
        self.query_clicks_ = graph.clicks.row_sums()
        self.doc_clicks_ = graph.clicks_by_doc.row_sums()

    def _list_docs(self, query: Query) -> SparseVector:
        """Where walks from the query are among documents."""
        return self._walk_from(query)[1]

    def _list_similar_queries(self, query: Query, k: int) -> SparseVector:
        """Where walks from the query are among queries."""
        return self._walk_from(query)[0]

    def _list_similar_docs(self, doc: int, k: int) -> SparseVector:
        """Where walks from the document are among documents."""
        return self._walk(SparseVector.none(), _at(doc))[1]

    def _walk_from(self, query: Query) -> tuple[SparseVector, SparseVector]:
        nothing = SparseVector.none()
        return self._walk(_at(query.row), nothing) if query.row >= 0 else (nothing, nothing)

    def _walk(self, queries: SparseVector, docs: SparseVector) -> tuple[SparseVector, SparseVector]:
        graph = self.graph_
        for _ in range(self.iterations):
            queries, docs = queries.largest(self.max_nodes), docs.largest(self.max_nodes)
            queries, docs = (
                self._step(queries, docs, graph.clicks_by_doc, self.query_clicks_),
                self._step(docs, queries, graph.clicks, self.doc_clicks_),
            )
        return queries, docs

    def _step(
        self, here: SparseVector, there: SparseVector, edges: Csr, clicks: NDArray[np.float64]
    ) -> SparseVector:
        """Stay here with chance s, or come from there; `clicks` are those of each node here."""
        came = weighted_sum(there.values, edges.take(there.rows))
        came_values = (1 - self.stay_probability) * came.values / clicks[came.rows]
        return SparseVector.add_up(
            np.concatenate([here.rows, came.rows]),
            np.concatenate([self.stay_probability * here.values, came_values]),
        )


def _at(row: int) -> SparseVector:
    return SparseVector(np.array([row], np.int32), np.ones(1))
