"""`wmd`: the word mover's distance (Kusner et al. 2015; paper 003 §4.2) on word vectors learned from the log.

    distance(q, d) = min_F Σ_ij F_ij ‖x_i − x_j‖    with Σ_j F_ij = q_i, Σ_i F_ij = d_j
    score(q, d)    = 1 / (1 + distance)

q and d are shares of words, without stop words and words without a vector (`_word_embeddings`). A text of
which nothing is left scores 0.

A document is no nearer than if each of its words could move to the nearest word of the query: the relaxed
bound. Search sorts by it, solves exactly, and stops where the bound excludes the rest: its answer is exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from coclick.arrays.csr import Csr
from coclick.graph.click_graph import ClickGraph
from coclick.models.base import DocMask, TextModel, TopK
from coclick.models.lexical._transport import distances, least_costs, relaxed_costs
from coclick.models.lexical._word_embeddings import word_vectors
from coclick.models.registry import register
from coclick.models.spec import Range
from coclick.progress import Progress
from coclick.results import padded, top_rows
from coclick.text.query import Query, look_up_terms
from coclick.text.term_matrix import TermMatrix, choose_fields, count_terms, each_text, joined_fields, titles

_BLOCK = 1024  # documents solved at a time
_MOST = 1 << 20  # occurrences of a word in a text: sums of their products stay in 64 bits
_DOTS = 2e-5  # float32 dot products of unit vectors are at most so far off
_SLACK = 1e-6  # scores nearer than this to the bound are solved rather than excluded


@register
@dataclass
class WMD(TextModel):
    """Documents by how far the query's words have to move to become theirs."""

    name = "wmd"
    max_docs = 100_000
    summary = "word mover's distance between query and text, on word vectors learned from the log"
    requires = ("texts",)
    capabilities = frozenset({"unseen_queries", "unseen_docs"})

    dim: Annotated[int, Range(1)] = 100
    fields: str = "short"  # the title or, without titles, the first field; "all"; names joined with +
    language: str = "english"
    stem: bool = True
    remove_stop_words: bool = True  # true: leave them out
    seed: Annotated[int, Range(0)] = 0

    def _fit(self, graph: ClickGraph, progress: Progress) -> None:
        """Learn vectors of words, and count the documents' words that have one."""
        short = titles(graph.texts) if self.fields == "short" else None
        read = {"short": short} if short else graph.texts
        with progress("words"):
            docs = joined_fields(read, choose_fields(read, "all" if short else self.fields))
            words = TermMatrix.fit(chain(each_text(graph.queries), docs), self._analyzer)
            counts = words.counts()
        queries = counts.take(np.arange(len(graph.queries)))
        texts = counts.take(np.arange(len(graph.queries), counts.rows))
        with progress("word vectors"):
            vectors = word_vectors(queries, texts, graph.clicks, self.dim, self.seed)
        self.terms_, self.vectors_ = words.terms, vectors
        self.docs_ = self._with_vectors(texts)

    def _score(self, query: Query, docs: NDArray[np.int32]) -> NDArray[np.float32]:
        """Solved exactly for each document."""
        words, asked = self._count_words(query)
        scores = np.zeros(len(docs), np.float32)
        if len(words):
            for first in range(0, len(docs), _BLOCK):
                block = self.docs_.take_checked(docs[first : first + _BLOCK], "the documents' words")
                used, columns = np.unique(block.indices, return_inverse=True)
                costs = distances(self.vectors_, words, used)
                counts = np.clip(block.data, 1, _MOST).astype(np.int64)
                moved = least_costs(block.indptr, columns, counts, costs, asked)
                scores[first : first + _BLOCK] = 1 / (1 + moved)
        return scores

    def _search(self, queries: Sequence[Query], k: int, mask: DocMask) -> TopK:
        """Exact: only documents that the relaxed bound excludes are not solved."""
        rows, scores = padded(len(queries), k)
        for i, query in enumerate(queries):
            bounds = self.highest_scores(query)
            if mask is not None:
                bounds[mask == 0] = 0
            best, values = self._best(query, bounds, k)
            rows[i, : len(best)], scores[i, : len(best)] = best, values
        return rows, scores

    def highest_scores(self, query: Query) -> NDArray[np.float64]:
        """For each document a score that it does not exceed: the relaxed bound."""
        words, _ = self._count_words(query)
        if not len(words):
            return np.zeros(self.docs_.rows)
        closest = np.full(len(self.vectors_), -1, np.float32)
        for word in words:
            np.maximum(closest, self.vectors_ @ self.vectors_[word], out=closest)
        nearest = np.sqrt(np.maximum(2 - 2 * closest - np.float32(_DOTS), 0))
        return 1 / (1 + relaxed_costs(self.docs_.indptr, self.docs_.indices, self.docs_.data, nearest))

    def _best(
        self, query: Query, bounds: NDArray[np.float64], k: int
    ) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
        """The k best documents, by falling bound until no bound reaches the k-th score."""
        order = np.argsort(-bounds, kind="stable")[: np.count_nonzero(bounds)].astype(np.int32)
        scores = np.zeros(len(bounds), np.float32)
        first, size = 0, k
        while first < len(order):
            kth = np.partition(scores, len(scores) - k)[len(scores) - k]
            if bounds[order[first]] < kth - _SLACK:
                break
            some = order[first : first + size]
            scores[some] = self._score(query, some)
            first, size = first + len(some), 2 * size
        return top_rows(scores, k)

    def _count_words(self, query: Query) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """The query's words that have a vector, and how often each occurs."""
        tokens = look_up_terms([query], self._analyzer, self.terms_)
        words, counts = self._with_vectors(count_terms(tokens, len(self.terms_))).row(0)
        return words, counts.astype(np.int64)

    def _with_vectors(self, counts: Csr) -> Csr:
        """Without the words that have no vector."""
        known = self.vectors_[counts.indices].any(axis=1)
        return counts.with_data(np.where(known, counts.data, 0)).positive()
