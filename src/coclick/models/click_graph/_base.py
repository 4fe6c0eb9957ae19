"""`ListModel`: what follows, for scores, search and similar, from listing what has a score at all.

A model of the click graph knows something about few of the documents. It lists those with their scores; no
array is as long as the collection unless somebody asks for the scores of all documents.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from coclick.arrays.csr import Csr
from coclick.arrays.sparse_vector import SparseVector, weighted_sum
from coclick.models.base import DocMask, Model, TopK, as_list
from coclick.results import Run, padded, top_rows
from coclick.text.analyzer import normalise


class CandidateModel(Model):
    """A model that lists the documents of a query, and perhaps what is similar to a query or a document."""

    # -- for the models to write -----------------------------------------------------------------------

    def list_docs(self, query: str) -> SparseVector:
        """The documents that have a score for a normalised query."""
        raise NotImplementedError  # abstract

    def list_docs_of(self, queries: Sequence[str]) -> list[SparseVector]:
        """The same for many queries; a model with a faster way has its own."""
        return [self.list_docs(query) for query in queries]

    def list_queries(self, query: str, k: int) -> SparseVector:
        """Queries like a normalised query, itself or not, the k most similar among them."""
        self._cannot("find similar queries", "can_similar")

    def list_similar_docs(self, doc: int, k: int) -> SparseVector:
        """Documents like a document, itself or not, the k most similar among them."""
        self._cannot("find similar documents", "can_similar")

    # -- what follows ----------------------------------------------------------------------------------

    def _score(self, query: str, docs: NDArray[np.int32]) -> NDArray[np.float32]:
        """What is not listed scores 0."""
        return self._score_all(query)[docs]

    def _score_all(self, query: str) -> NDArray[np.float32]:
        """What is not listed scores 0."""
        scores = np.zeros(len(self.graph_.docs), np.float32)
        listed = self.list_docs(query)
        scores[listed.rows] = listed.values
        return scores

    def _search(self, queries: Sequence[str], k: int, allowed: DocMask) -> TopK:
        """The best of those listed."""
        found = self.list_docs_of(queries)
        if allowed is not None:
            found = [listed.only(allowed[listed.rows] > 0) for listed in found]
        return _ranked(found, k)

    def similar_queries(self, queries: str | Sequence[str], k: int = 10) -> Run:
        """The best of those listed, without the query itself."""
        texts = [normalise(query) for query in as_list(queries)]
        k = self._clip(k, len(self.trained_on.queries))
        found = [self.list_queries(text, k + 1) for text in texts]
        own = self.graph_.queries.lookup(texts)
        return Run(*_ranked(_without(found, own), k), self.graph_.queries)

    def similar_docs(self, docs: str | Sequence[str], k: int = 10) -> Run:
        """The best of those listed, without the document itself."""
        k = self._clip(k, len(self.trained_on.docs))
        own = self.rows_of_docs(as_list(docs))
        found = [self.list_similar_docs(row, k + 1) for row in own.tolist()]
        return Run(*_ranked(_without(found, own), k), self.graph_.docs)


def _without(found: list[SparseVector], own: NDArray[np.int32]) -> list[SparseVector]:
    return [listed.only(listed.rows != row) for listed, row in zip(found, own.tolist(), strict=True)]


def _ranked(found: list[SparseVector], k: int) -> TopK:
    """The k best of each list; ties by row, in which lists are sorted."""
    rows, scores = padded(len(found), k)
    for i, listed in enumerate(found):
        best, values = top_rows(listed.values.astype(np.float32), k)
        rows[i, : len(best)], scores[i, : len(best)] = listed.rows[best], values
    return rows, scores


def log_clicks(edges: Csr, rows: NDArray[np.integer]) -> Csr:
    """The chosen rows of a matrix of clicks, ln(1 + clicks) each."""
    taken = edges.take(rows)
    return taken.with_data(np.log1p(taken.data))


def lengths(edges: Csr) -> NDArray[np.float32]:
    """The Euclidean length of each row of logarithmic clicks."""
    return np.sqrt(edges.with_data(np.log1p(edges.data) ** 2).row_sums()).astype(np.float32)


def cosines(row: int, edges: Csr, back: Csr, edge_lengths: NDArray[np.float32]) -> SparseVector:
    """All rows of `edges` that share a column with one of them, by their cosine; `back` is the transpose."""
    own = log_clicks(edges, np.array([row]))
    dots = weighted_sum(own.data, log_clicks(back, own.indices))
    return SparseVector(dots.rows, dots.values / (edge_lengths[dots.rows] * edge_lengths[row]))
