"""`WindowIndex`: where each word stands in each document, so that words standing together can be counted.

A document's text is made of passages: its content is one passage, the queries clicked for it are one each.
Windows do not reach from one passage into another. A passage has a weight, and a word or window in it counts
with that weight: a query clicked often counts more than one clicked once.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from coclick.arrays.csr import Csr
from coclick.arrays.strings import Strings, Vocab
from coclick.models.lexical._window_kernels import (
    ROW_SHIFT,
    Matches,
    match_ordered,
    match_twice,
    match_unordered,
    match_word,
)
from coclick.storage.state import stored
from coclick.text.analyzer import Analyzer, Tokens
from coclick.text.term_matrix import Words, joined_fields

WINDOW = 8  # positions in which an unordered pair must stand


@stored
@dataclass(frozen=True)
class WindowIndex:
    """For each term its places in ascending order, with their weights: see `_window_kernels`."""

    terms: Vocab
    indptr: NDArray[np.int64]
    places: NDArray[np.int64]
    weights: NDArray[np.float32]
    lengths: NDArray[np.float32]  # of each document, divided by the average of those that have any text

    @classmethod
    def of_fields(cls, texts: dict[str, Strings], analyzer: Analyzer) -> WindowIndex:
        """Index documents by text fields, joined: each document is one passage."""
        words = Words.of(joined_fields(texts, list(texts)), analyzer)
        docs = len(words.tokens)
        return cls._build(words.terms, words.tokens, np.arange(docs), np.ones(docs), docs)

    @classmethod
    def of_clicked_queries(cls, queries: Strings, clicks_by_doc: Csr, analyzer: Analyzer) -> WindowIndex:
        """Index documents by the queries clicked for them, each weighing log(1 + clicks)."""
        words = Words.of(queries, analyzer)
        docs = np.repeat(np.arange(clicks_by_doc.rows), clicks_by_doc.lengths())
        passages = _take(words.tokens, clicks_by_doc.indices)
        return cls._build(words.terms, passages, docs, np.log1p(clicks_by_doc.data), clicks_by_doc.rows)

    @classmethod
    def _build(
        cls,
        terms: Vocab,
        passages: Tokens,
        doc_of_passage: NDArray[np.int64],
        weight_of_passage: NDArray[np.floating],
        docs: int,
    ) -> WindowIndex:
        """Passages stand in the order of their documents, a window apart from each other."""
        sizes = np.diff(passages.indptr)
        starts = passages.indptr[:-1] + WINDOW * np.arange(len(passages))
        starts -= starts[np.searchsorted(doc_of_passage, doc_of_passage)]  # a document starts at 0
        positions = np.arange(passages.indptr[-1]) + np.repeat(starts - passages.indptr[:-1], sizes)
        rows = np.repeat(doc_of_passage, sizes)
        weights = np.repeat(weight_of_passage, sizes)
        by_term = np.argsort(passages.terms, kind="stable")
        lengths = np.bincount(rows, weights, docs)
        average = lengths.sum() / max(np.count_nonzero(lengths), 1)
        return cls(
            terms,
            np.searchsorted(passages.terms[by_term], np.arange(len(terms) + 1)),
            ((rows << ROW_SHIFT) + positions)[by_term],
            weights[by_term].astype(np.float32),
            (lengths / max(average, 1e-30)).astype(np.float32),
        )

    def word(self, term: int) -> Matches:
        """The documents that hold a word, and how often."""
        return match_word(*self._occurrences(term))

    def ordered(self, term: int, following: int) -> Matches:
        """The documents in which a word is directly followed by another, and how often."""
        return match_ordered(*self._occurrences(term), self._occurrences(following)[0])

    def unordered(self, term: int, other: int) -> Matches:
        """The documents in which two words share a window, and how often."""
        if term == other:
            return match_twice(*self._occurrences(term), WINDOW)
        return match_unordered(*self._occurrences(term), self._occurrences(other)[0], WINDOW)

    def _occurrences(self, term: int) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        of_term = slice(self.indptr[term], self.indptr[term + 1])
        return self.places[of_term], self.weights[of_term]


def _take(tokens: Tokens, texts: NDArray[np.int32]) -> Tokens:
    """The tokens of the chosen texts, in that order."""
    sizes = np.diff(tokens.indptr)[texts]
    indptr = np.concatenate([[0], np.cumsum(sizes)])
    source = np.repeat(tokens.indptr[:-1][texts] - indptr[:-1], sizes) + np.arange(indptr[-1])
    return Tokens(indptr, tokens.terms[source])
