"""`rw`: a random walk on the click graph (Craswell & Szummer 2007; Wu, Li & Xu 2013 §5.3; Wu, Lu
& Li 2013 §6.1.1).

P_Q and P_D are the clicks C and Cᵀ with rows scaled to sum 1. The walk starts at q (x = e_q, y = 0) and takes
t steps

    x ← s x + (1 − s) P_Q y        y ← s y + (1 − s) P_D x        (both from the old x and y)

with s = `stay_probability` and t = `iterations`. This is the backward walk: the probability that a walk which
is here now started at q, if all starts are equally likely. Documents are ranked by y, similar queries by x.
The values of the papers, s = 0.9 and t = 5, move half a step on average; longer walks reach further. Vectors
stay sparse: each step starts from the `max_nodes` largest entries.
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
    """Score documents by the probability that a random walk from the query reaches them."""

    name = "rw"
    summary = "random walk on the click graph, from a seen query"
    capabilities = frozenset({"similar"})

    stay_probability: Annotated[float, Range(0, 1)] = 0.9  # s
    iterations: Annotated[int, Range(1)] = 5  # t, the number of steps
    max_nodes: Annotated[int, Range(1)] = 10_000  # entries of each side that a step starts from

    def _fit(self, graph: ClickGraph, progress: Progress) -> None:
        """Compute the sums that scale the transitions."""
        self.query_clicks_ = graph.clicks.row_sums()
        self.doc_clicks_ = graph.clicks_by_doc.row_sums()

    def _list_docs(self, query: Query) -> SparseVector:
        """List the documents that walks from the query reach."""
        return self._walk_from(query)[1]

    def _list_similar_queries(self, query: Query, k: int) -> SparseVector:
        """List the queries that walks from the query reach."""
        return self._walk_from(query)[0]

    def _list_similar_docs(self, doc: int, k: int) -> SparseVector:
        """List the documents that walks from the document reach."""
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
        """Stay here with probability s, or arrive from there; `clicks` holds the clicks of each node here."""
        arrived = weighted_sum(there.values, edges.take(there.rows))
        moved = (1 - self.stay_probability) * arrived.values / clicks[arrived.rows]
        return SparseVector.add_up(
            np.concatenate([here.rows, arrived.rows]),
            np.concatenate([self.stay_probability * here.values, moved]),
        )


def _at(row: int) -> SparseVector:
    return SparseVector(np.array([row], np.int32), np.ones(1))
