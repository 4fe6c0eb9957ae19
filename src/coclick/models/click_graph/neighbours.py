"""`neighbours`: a query borrows the clicks of the seen queries that are worded most like it.

    score(q, d) = Σ_n similarity(q, n)^power · ln(1 + clicks(n, d))

over the `nearest` queries n with clicks, their similarity by `text_similarity`. A seen query is its own
nearest neighbour, with similarity 1. The search for neighbours is exact. Ours, not from a paper.

Chosen on the development part of NFCorpus: n-grams of 3–4 characters rank, beside words, as well as those of
2–5, which are twice as many. Popular documents and queries with many clicks are not tempered: what did so
lost, or gained no more than chance might. The index takes 16 bytes for each n-gram and word of each query,
about 1 kB a query.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from coclick.arrays.kernels import values_at
from coclick.arrays.sparse_vector import SparseVector, weighted_sum
from coclick.graph.click_graph import ClickGraph
from coclick.index.sparse import VectorIndex
from coclick.models.click_graph._base import CandidateModel, cosines, lengths, log_clicks
from coclick.models.click_graph.text_similarity import TextSimilarity
from coclick.models.registry import register
from coclick.models.spec import Range
from coclick.progress import Progress
from coclick.results import Click, Contribution, Explanation
from coclick.text.analyzer import Analyzer
from coclick.text.query import Query


@register
@dataclass
class Neighbours(CandidateModel):
    """Clicks borrowed from similar queries."""

    name = "neighbours"
    summary = "clicks borrowed from the seen queries that are worded most alike"
    evidence_names = ("similarity", "support")
    capabilities = frozenset({"unseen_queries", "similar", "explain"})

    n_neighbours: Annotated[int, Range(1)] = 100
    power: Annotated[float, Range(0)] = 4.0
    word_weight: Annotated[float, Range(0, 1)] = (
        0.4  # their part of the similarity; the rest is for characters
    )
    min_n: Annotated[int, Range(1)] = 3  # characters of an n-gram
    max_n: Annotated[int, Range(1)] = 4
    language: str = "english"
    stem: bool = True
    remove_stop_words: bool = False  # true: leave them out

    def _fit(self, graph: ClickGraph, progress: Progress) -> None:
        """Index the wording of the queries that have clicks."""
        self.clicked_ = np.flatnonzero(graph.clicks.row_nnz()).astype(np.int32)
        clicked = graph.queries.take(self.clicked_)
        analyzer = Analyzer(self.language, self.stem, self.remove_stop_words)
        with progress("wording"):
            learned = TextSimilarity.fit(clicked, analyzer, (self.min_n, self.max_n), self.word_weight)
            self.similarity_, vectors = learned
        with progress("index"):
            self.index_ = VectorIndex.build(vectors)
        self.doc_lengths_ = lengths(graph.clicks_by_doc)

    def _list_docs(self, query: Query) -> SparseVector:
        """What the neighbours clicked."""
        return self._lent_by(self._neighbours(query))

    def _list_docs_of(self, queries: Sequence[Query]) -> list[SparseVector]:
        """The same; the index is searched for all queries at once."""
        return [self._lent_by(neighbours) for neighbours in self._nearest(queries, self.n_neighbours)]

    def _list_similar_queries(self, query: Query, k: int) -> SparseVector:
        """The k queries with clicks that are worded most alike; a query with clicks is one of its own."""
        return self._nearest([query], k)[0]

    def _list_similar_docs(self, doc: int, k: int) -> SparseVector:
        """The cosines of the documents' logarithmic clicks."""
        graph = self.graph_
        return cosines(doc, graph.clicks_by_doc, graph.clicks, self.doc_lengths_)

    def _evidence(self, query: Query) -> dict[str, float]:
        """How near the nearest neighbour is, and how many clicks all of them have, as c / (c + 1)."""
        neighbours = self._neighbours(query)
        clicks = float(self.graph_.clicks.take(neighbours.rows).data.sum(dtype=np.float64))
        similarity = float(neighbours.values.max(initial=0.0))
        return {"similarity": similarity, "support": clicks / (clicks + 1)}

    def _explain(self, query: Query, doc: int, clicks: int | None) -> Explanation:
        """The queries that clicks were borrowed from, and what each lent."""
        neighbours, doc_id = self._neighbours(query), self.graph_.docs[doc]
        edges = self.graph_.clicks
        counts = values_at(edges.indptr, edges.indices, edges.data, neighbours.rows.astype(np.int32), doc)
        lent = neighbours.values**self.power * np.log1p(counts)
        parts = []
        for i in np.argsort(-lent, kind="stable")[: np.count_nonzero(lent)].tolist():
            name = self.graph_.queries[int(neighbours.rows[i])]
            parts.append(
                Contribution(
                    "borrowed query", name, float(lent[i]), [Click(name, doc_id, float(counts[i]), 1.0)], 1
                )
            )
        score = float(self._score(query, np.array([doc], np.int32))[0])
        return Explanation(query.text, doc_id, score, parts)

    def _neighbours(self, query: Query) -> SparseVector:
        """The neighbours of a query, which scores, evidence and explanation share."""
        return query.once(id(self), lambda: self._nearest([query], self.n_neighbours)[0])

    def _nearest(self, queries: Sequence[Query], k: int) -> list[SparseVector]:
        """For each query its k nearest."""
        vectors = self.similarity_.vectors([query.text for query in queries])
        found, similarities = self.index_.search(vectors, min(k, len(self.clicked_)))
        return [self._with_itself(*of, k) for of in zip(queries, found, similarities, strict=True)]

    def _with_itself(
        self, query: Query, found: NDArray[np.int32], similarities: NDArray[np.float32], k: int
    ) -> SparseVector:
        """What the index found, as rows of the graph, and the query itself."""
        rows, values = self.clicked_[found[found >= 0]], similarities[found >= 0].astype(np.float64)
        own = query.row
        if own >= 0 and len(self.graph_.clicks.row(own)[0]):
            others = np.flatnonzero(rows != own)[: k - 1]
            rows, values = np.append(rows[others], np.int32(own)), np.append(values[others], 1.0)
        return SparseVector.add_up(rows, np.minimum(values, 1.0))

    def _lent_by(self, neighbours: SparseVector) -> SparseVector:
        return weighted_sum(neighbours.values**self.power, log_clicks(self.graph_.clicks, neighbours.rows))
