"""`neighbours`: a query borrows the clicks of the seen queries with the most similar wording.

    score(q, d) = Σ_n similarity(q, n)^power · ln(1 + clicks(n, d))

over the `n_neighbours` nearest queries n with clicks; `text_similarity` defines similarity. A seen query is
its own nearest neighbour, with similarity 1. The search for neighbours is exact. The model is not from a
paper.

The defaults were chosen on the development part of NFCorpus. Together with words, n-grams of 3–4 characters
rank as well as n-grams of 2–5, which are twice as many. Damping popular documents or queries with many clicks
gave no significant gain. The index takes 16 bytes per n-gram and word of each query, about 1 kB per query.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from coclick.arrays.kernels import values_at
from coclick.arrays.sparse_vector import SparseVector, weighted_sum
from coclick.graph.click_graph import ClickGraph
from coclick.index.sparse import VectorIndex
from coclick.kernels.sparse_product import dense_product
from coclick.models.click_graph._base import CandidateModel, cosines, lengths, weighted_rows
from coclick.models.click_graph.text_similarity import TextSimilarity
from coclick.models.registry import register
from coclick.models.spec import Range
from coclick.models.text_model import TextModel
from coclick.progress import Progress
from coclick.results import Click, Contribution, Explanation
from coclick.storage.layout import Index, Shape
from coclick.text.analyzer import Tokenizer
from coclick.text.query import Query


@register
@dataclass
class Neighbours(CandidateModel, TextModel):
    """Score documents by the clicks of similar queries."""

    name = "neighbours"
    summary = "clicks of the seen queries with the most similar wording"
    relative_cost = 2.0
    evidence_names = ("similarity", "support")
    capabilities = frozenset({"unseen_queries", "similar", "explain"})

    n_neighbours: Annotated[int, Range(1)] = 100
    power: Annotated[float, Range(0)] = 4.0
    word_weight: Annotated[float, Range(0, 1)] = 0.4  # share of words in the similarity
    min_n: Annotated[int, Range(1)] = 3  # characters per n-gram
    max_n: Annotated[int, Range(1)] = 4
    language: str = "auto"
    stem: bool = True
    remove_stop_words: bool = False
    tokenizer: Tokenizer = "pieces"

    clicked_: Annotated[NDArray[np.int32], Shape("clicked"), Index("queries")] = field(init=False)
    similarity_: Annotated[TextSimilarity, Shape("features")] = field(init=False)
    index_: Annotated[VectorIndex, Shape("clicked", "features")] = field(init=False)
    doc_lengths_: Annotated[NDArray[np.float32], Shape("docs")] = field(init=False)

    def _fit(self, graph: ClickGraph, progress: Progress) -> None:
        """Index the texts of the queries that have clicks."""
        self.clicked_ = np.flatnonzero(graph.clicks.row_nnz()).astype(np.int32)
        clicked = graph.queries.take(self.clicked_)
        with progress("wording"):
            learned = TextSimilarity.fit(clicked, self._analyzer, (self.min_n, self.max_n), self.word_weight)
            self.similarity_, vectors = learned
        with progress("index"):
            self.index_ = VectorIndex.build(vectors)
        self.doc_lengths_ = lengths(graph.clicks_by_doc)

    def _list_docs(self, query: Query) -> SparseVector:
        """List the documents that were clicked for the neighbours."""
        return self._borrowed_clicks(self._neighbours(query))

    def _list_docs_of(self, queries: Sequence[Query]) -> list[SparseVector]:
        """List them for many queries with one search of the index."""
        nearest = self._nearest(queries, self.n_neighbours)
        for query, neighbours in zip(queries, nearest, strict=True):
            query.remember(id(self), neighbours)
        return [self._borrowed_clicks(neighbours) for neighbours in nearest]

    def _score_all_of(self, queries: Sequence[Query]) -> NDArray[np.float32]:
        """Add up the clicks of all neighbours of all queries at once."""
        nearest = self._nearest(queries, self.n_neighbours)
        for query, neighbours in zip(queries, nearest, strict=True):
            query.remember(id(self), neighbours)
        indptr = np.concatenate([[0], np.cumsum([len(one.rows) for one in nearest])])
        rows, place = np.unique(np.concatenate([one.rows for one in nearest]), return_inverse=True)
        weights = np.concatenate([one.values for one in nearest]) ** self.power
        borrowed = weighted_rows(self.graph_.clicks, rows)
        return dense_product(indptr, place.astype(np.int32), weights, borrowed).astype(np.float32)

    def _list_similar_queries(self, query: Query, k: int) -> SparseVector:
        """List the k most similar queries with clicks, including the query itself if it has clicks."""
        return self._nearest([query], k)[0]

    def _list_similar_queries_of(self, queries: Sequence[Query], k: int) -> list[SparseVector]:
        """List them for many queries with one search of the index."""
        return self._nearest(queries, k)

    def _list_similar_docs(self, doc: int, k: int) -> SparseVector:
        """List documents by the cosine of their logarithmic clicks."""
        graph = self.graph_
        return cosines([doc], graph.clicks_by_doc, graph.clicks, self.doc_lengths_)[0]

    def _evidence(self, query: Query) -> dict[str, float]:
        """Rate the similarity of the nearest neighbour, and the clicks c of all neighbours as c / (c + 1)."""
        neighbours = self._neighbours(query)
        clicks = float(self.graph_.clicks.take(neighbours.rows).data.sum(dtype=np.float64))
        similarity = float(neighbours.values.max(initial=0.0))
        return {"similarity": similarity, "support": clicks / (clicks + 1)}

    def _evidence_of(self, queries: Sequence[Query]) -> list[dict[str, float]]:
        """Rate the evidence for each query; the clicks of neighbours are added up once."""
        nearest = [self._neighbours(query) for query in queries]
        rows, place = np.unique(np.concatenate([one.rows for one in nearest]), return_inverse=True)
        line = np.repeat(np.arange(len(nearest)), [len(one.rows) for one in nearest])
        of_rows = self.graph_.clicks.take(rows).row_sums()
        clicks = np.bincount(line, of_rows[place], len(nearest)).tolist()
        return [
            {"similarity": float(one.values.max(initial=0.0)), "support": total / (total + 1)}
            for one, total in zip(nearest, clicks, strict=True)
        ]

    def _known_text(self, query: Query) -> float:
        """Return the similarity of the nearest neighbour."""
        return float(self._neighbours(query).values.max(initial=0.0))

    def _explain(self, query: Query, doc: int, clicks: int | None) -> Explanation:
        """List the neighbours whose clicks add to the score."""
        neighbours, doc_id = self._neighbours(query), self.graph_.docs[doc]
        edges = self.graph_.clicks
        counts = values_at(edges.indptr, edges.indices, edges.data, neighbours.rows.astype(np.int32), doc)
        borrowed = neighbours.values**self.power * np.log1p(counts)
        parts = []
        for i in np.argsort(-borrowed, kind="stable")[: np.count_nonzero(borrowed)].tolist():
            name = self.graph_.queries[int(neighbours.rows[i])]
            parts.append(
                Contribution(
                    "borrowed query",
                    name,
                    float(borrowed[i]),
                    [Click(name, doc_id, float(counts[i]), 1.0)],
                    1,
                )
            )
        score = float(self._score(query, np.array([doc], np.int32))[0])
        return Explanation(query.text, doc_id, score, parts)

    def _neighbours(self, query: Query) -> SparseVector:
        """The neighbours of a query, computed once for scores, evidence and explanation."""
        return query.once(id(self), lambda: self._nearest([query], self.n_neighbours)[0])

    def _nearest(self, queries: Sequence[Query], k: int) -> list[SparseVector]:
        """The k nearest neighbours of each query."""
        vectors = self.similarity_.vectors([query.text for query in queries])
        found, similarities = self.index_.search(vectors, min(k, len(self.clicked_)))
        return [self._with_itself(*results, k) for results in zip(queries, found, similarities, strict=True)]

    def _with_itself(
        self, query: Query, found: NDArray[np.int32], similarities: NDArray[np.float32], k: int
    ) -> SparseVector:
        """The results of the index as rows of the graph, with the query itself."""
        rows, values = self.clicked_[found[found >= 0]], similarities[found >= 0].astype(np.float64)
        own = query.row
        if own >= 0 and len(self.graph_.clicks.row(own)[0]):
            others = np.flatnonzero(rows != own)[: k - 1]
            rows, values = np.append(rows[others], np.int32(own)), np.append(values[others], 1.0)
        return SparseVector.add_up(rows, np.minimum(values, 1.0))

    def _borrowed_clicks(self, neighbours: SparseVector) -> SparseVector:
        return weighted_sum(neighbours.values**self.power, weighted_rows(self.graph_.clicks, neighbours.rows))
