"""`CandidateModel`: scores, search and similar for models that list a few candidates per query.

A model of the click graph has scores for only a few documents per query. It lists those; arrays as long as
the collection are only made when the scores of all documents are requested.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from coclick.arrays.csr import Csr
from coclick.arrays.sparse_vector import SparseVector
from coclick.models.base import DocMask, Model, TopK
from coclick.results import padded, top_rows
from coclick.text.query import Query

_FEW = 64  # queries whose lists are kept
ClickWeight = Literal["log1p", "log", "clicks"]


class CandidateModel(Model):
    """A model that lists the documents with a score for a query; all others score 0."""

    evidence_names: tuple[str, ...] = ("support",)

    # -- hooks for subclasses --------------------------------------------------------------------------

    def _list_docs(self, query: Query) -> SparseVector:
        """List the documents that have a score for a query."""
        raise NotImplementedError  # abstract

    def _list_docs_of(self, queries: Sequence[Query]) -> list[SparseVector]:
        """List them for many queries; override it where there is a faster way."""
        return [self._list_docs(query) for query in queries]

    def _list_similar_queries(self, query: Query, k: int) -> SparseVector:
        """List queries similar to a query, at least the k most similar; itself may be among them."""
        raise NotImplementedError  # abstract

    def _list_similar_queries_of(self, queries: Sequence[Query], k: int) -> list[SparseVector]:
        """List them for many queries; override it where there is a faster way."""
        return [self._list_similar_queries(query, k) for query in queries]

    def _list_similar_docs(self, doc: int, k: int) -> SparseVector:
        """List documents similar to a document, at least the k most similar; itself may be among them."""
        raise NotImplementedError  # abstract

    # -- implemented with the hooks --------------------------------------------------------------------

    def _score(self, query: Query, docs: NDArray[np.int32]) -> NDArray[np.float32]:
        """Return the listed scores, 0 for all other documents."""
        [listed] = self._lists([query])
        return listed.at(docs).astype(np.float32)

    def _score_all(self, query: Query) -> NDArray[np.float32]:
        """Return the listed scores, 0 for all other documents."""
        scores = np.zeros(len(self.graph_.docs), np.float32)
        [listed] = self._lists([query])
        scores[listed.rows] = listed.values
        return scores

    def _score_all_of(self, queries: Sequence[Query]) -> NDArray[np.float32]:
        """Return the listed scores of each query, 0 for all other documents."""
        scores = np.zeros((len(queries), len(self.graph_.docs)), np.float32)
        for row, listed in zip(scores, self._list_docs_of(queries), strict=True):
            row[listed.rows] = listed.values
        return scores

    def _search(self, queries: Sequence[Query], k: int, mask: DocMask) -> TopK:
        """Return the best of the listed documents."""
        found = self._lists(queries)
        if mask is not None:
            found = [listed.only(mask[listed.rows] > 0) for listed in found]
        return _top_k(found, k)

    def _lists(self, queries: Sequence[Query]) -> list[SparseVector]:
        """The documents of each query; for a few queries, kept for the scores of a combination."""
        key = (id(self), "docs")
        if len(queries) == 1:
            return [queries[0].once(key, lambda: self._list_docs(queries[0]))]
        found = self._list_docs_of(queries)
        if len(queries) <= _FEW:
            for query, listed in zip(queries, found, strict=True):
                query.once(key, partial(SparseVector, *listed))
        return found

    def _similar_queries(self, queries: Sequence[Query], k: int) -> TopK:
        """Return the best of the listed queries."""
        return _top_k(self._list_similar_queries_of(queries, k), k)

    def _similar_docs(self, docs: NDArray[np.int32], k: int) -> TopK:
        """Return the best of the listed documents."""
        return _top_k([self._list_similar_docs(doc, k) for doc in docs.tolist()], k)

    def _evidence(self, query: Query) -> dict[str, float]:
        """Rate the evidence by the clicks of the query."""
        return {"support": self._support(query)}


def _top_k(found: list[SparseVector], k: int) -> TopK:
    """The k best of each list; ties are broken by row, in which lists are sorted."""
    rows, scores = padded(len(found), k)
    for i, listed in enumerate(found):
        best, values = top_rows(listed.values.astype(np.float32), k)
        rows[i, : len(best)], scores[i, : len(best)] = listed.rows[best], values
    return rows, scores


def weigh_clicks(clicks: NDArray[np.float32], weight: ClickWeight) -> NDArray[np.float32]:
    """Return ln(1 + clicks), ln(clicks) or the clicks themselves; a weight is at least 0."""
    if weight == "clicks":
        return clicks
    return np.log1p(clicks) if weight == "log1p" else np.maximum(np.log(clicks), np.float32(0))


def weighted_rows(edges: Csr, rows: NDArray[np.integer], weight: ClickWeight = "log1p") -> Csr:
    """Return the chosen rows of a click matrix as weights, without those that are 0."""
    taken = edges.take_checked(rows, "the clicks")  # of a mapped file, for products without bounds checks
    return taken.with_data(weigh_clicks(taken.data, weight)).positive()


def lengths(edges: Csr, weight: ClickWeight = "log1p") -> NDArray[np.float32]:
    """Return the Euclidean length of each row of weights."""
    return np.sqrt(edges.with_data(weigh_clicks(edges.data, weight) ** 2).row_sums()).astype(np.float32)


def cosines(
    rows: Sequence[int],
    edges: Csr,
    back: Csr,
    edge_lengths: NDArray[np.float32],
    weight: ClickWeight = "log1p",
) -> list[SparseVector]:
    """Return the cosines of each of `rows` with every row of `edges` that shares a column, none for row −1.

    `back` is the transpose of `edges`.
    """
    own = weighted_rows(edges, np.asarray(rows), weight).checked("the clicks")
    shared, place = np.unique(own.indices, return_inverse=True)
    among_shared = Csr(own.indptr, place.astype(np.int32), own.data, len(shared))
    others = weighted_rows(back, shared, weight).checked("the clicks")  # scipy does not check bounds
    dots = Csr.from_scipy(among_shared.to_scipy() @ others.to_scipy())
    found = []
    for i, row in enumerate(rows):
        similar, values = dots.row(i)
        found.append(
            SparseVector(similar, values.astype(np.float64) / (edge_lengths[similar] * edge_lengths[row]))
        )
    return found
