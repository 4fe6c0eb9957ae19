"""`rw`: a random walk on the click graph (Craswell & Szummer 2007).

Wu, Li & Xu 2013 (§5.3) and Wu, Lu & Li 2013 (§6.1.1) use it as a baseline. P_Q and P_D are the clicks C and
Cᵀ with rows scaled to sum 1. x belongs to the queries, y to the documents. From x = e_q, y = 0, both change t
times:

    x ← s x + (1 − s) P_Q y        y ← s y + (1 − s) P_D x        (both from the old x and y)

with s = `stay_probability` and t = `iterations`. x and y are then the probabilities of reaching q in t steps
from each query and each document. This is the backward walk: if all starts are equally likely, a walk that is
now at q started at a node with a probability proportional to its entry. Documents are ranked by y, similar
queries by x. The values of the papers, s = 0.9 and t = 5, move half a step on average; longer walks reach
further. Vectors stay sparse: each step starts from the `max_nodes` largest entries.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from coclick.arrays.csr import Csr
from coclick.arrays.sparse_vector import SparseVector, weighted_sum
from coclick.graph.click_graph import ClickGraph
from coclick.models.click_graph._base import CandidateModel
from coclick.models.presets import Preset
from coclick.models.registry import register
from coclick.models.spec import Range
from coclick.progress import Progress
from coclick.storage.layout import Shape
from coclick.text.query import Query


@register
@dataclass
class RandomWalk(CandidateModel):
    """Score documents by the probability that a random walk which is now at the query started there."""

    name = "rw"
    summary = "random walk on the click graph, back from a seen query"
    relative_cost = 2.0
    capabilities = frozenset({"similar"})
    presets = {
        name: Preset(
            source,
            stay_probability=(0.9, f"{section}: as in Craswell & Szummer 2007"),
            iterations=(5, f"{section}: no improvement after five steps"),
            max_nodes=(2**31 - 1, "nothing is pruned"),
        )
        for name, source, section in (
            ("wu2013b", "Wu, Li & Xu 2013", "§5.3"),
            ("wu2013", "Wu, Lu & Li 2013", "§6.2"),
            ("wu2012", "Wu, Lu & Li 2012", "§5.1–5.2"),
        )
    }

    stay_probability: Annotated[float, Range(0, 1)] = 0.9  # s
    iterations: Annotated[int, Range(1)] = 5  # t, the number of steps
    max_nodes: Annotated[int, Range(1)] = 10_000  # entries of each side that a step starts from

    query_clicks_: Annotated[NDArray[np.float64], Shape("queries")] = field(init=False)
    doc_clicks_: Annotated[NDArray[np.float64], Shape("docs")] = field(init=False)

    def _fit(self, graph: ClickGraph, progress: Progress) -> None:
        """Compute the sums that scale the transitions."""
        self.query_clicks_ = graph.clicks.row_sums()
        self.doc_clicks_ = graph.clicks_by_doc.row_sums()

    def _list_docs(self, query: Query) -> SparseVector:
        """List the documents from which walks reach the query."""
        return self._walk_back(query)[1]

    def _list_similar_queries(self, query: Query, k: int) -> SparseVector:
        """List the queries from which walks reach the query."""
        return self._walk_back(query)[0]

    def _list_similar_docs(self, doc: int, k: int) -> SparseVector:
        """List the documents from which walks reach the document."""
        return self._walk(SparseVector.none(), _at(doc))[1]

    def _walk_back(self, query: Query) -> tuple[SparseVector, SparseVector]:
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
        """Stay here with probability s, or move there first; `clicks` holds the clicks of each node here."""
        reached = weighted_sum(there.values, edges.take(there.rows))
        moved = (1 - self.stay_probability) * reached.values / clicks[reached.rows]
        return SparseVector.add_up(
            np.concatenate([here.rows, reached.rows]),
            np.concatenate([self.stay_probability * here.values, moved]),
        )


def _at(row: int) -> SparseVector:
    return SparseVector(np.array([row], np.int32), np.ones(1))
