"""`WindowModel`: BM25 over words, ordered pairs and unordered pairs, in one or several fields (003 §4.2).

    score(q, d)   = Σ_field w_field Σ_{f ∈ T,O,U} λ_f Σ_{x ∈ f(q)} bm25(x, d)
    bm25(x, d)    = idf(x) · tf · (k₁ + 1) / (tf + k₁ (1 − b + b |d| / avg))
    idf(x)        = ln(1 + (N − df + ½) / (df + ½))

T are the words of the query, O its pairs of neighbouring words standing directly one behind the other in the
document, U the same pairs in any order within a window. tf and df count x itself, word or window, in this
field; avg is the average length of the documents that have the field.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from coclick.arrays.csr import Csr
from coclick.arrays.strings import Strings, Vocab
from coclick.models.base import TextModel
from coclick.models.lexical._window_kernels import (
    ROW_SHIFT,
    Matches,
    match_ordered,
    match_twice,
    match_unordered,
    match_word,
)
from coclick.models.spec import Range
from coclick.results import Contribution, Explanation
from coclick.storage.state import stored
from coclick.text.analyzer import Analyzer, Tokens
from coclick.text.query import Query
from coclick.text.term_matrix import TermMatrix, joined_fields

WINDOW = 8  # positions in which an unordered pair must stand


@stored
@dataclass(frozen=True)
class WindowIndex:
    """For each term its places in ascending order, with their weights: see `_window_kernels`.

    A document's text is made of passages: its content is one passage, the queries clicked for it are one
    each. Windows do not reach from one passage into another. A word or window counts with the weight of its
    passage, so a query clicked often counts more than one clicked once.
    """

    terms: Vocab
    indptr: NDArray[np.int64]
    places: NDArray[np.int64]
    weights: NDArray[np.float32]
    lengths: NDArray[np.float32]  # of each document, divided by the average of those that have any text

    @classmethod
    def of_fields(cls, texts: dict[str, Strings], analyzer: Analyzer) -> WindowIndex:
        """Index documents by text fields, joined: each document is one passage."""
        words = TermMatrix.fit(joined_fields(texts, list(texts)), analyzer)
        docs = len(words.tokens)
        return cls._build(words.terms, words.tokens, np.arange(docs), np.ones(docs), docs)

    @classmethod
    def of_clicked_queries(cls, queries: Strings, clicks_by_doc: Csr, analyzer: Analyzer) -> WindowIndex:
        """Index documents by the queries clicked for them, each weighing log(1 + clicks)."""
        words = TermMatrix.fit(queries, analyzer)
        docs = np.repeat(np.arange(clicks_by_doc.rows), clicks_by_doc.row_nnz())
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


Summand = tuple[str, str, NDArray[np.int64], NDArray[np.float64]]  # kind, label, rows, values


@dataclass
class WindowModel(TextModel):
    """A subclass learns indexes of its fields and says how much each weighs."""

    requires = ("texts",)
    capabilities = frozenset({"unseen_queries", "unseen_docs", "explain"})

    k1: Annotated[float, Range(0)] = 1.2
    b: Annotated[float, Range(0, 1)] = 0.75
    word_weight: Annotated[float, Range(0)] = 0.8  # λ of single words
    ordered_weight: Annotated[float, Range(0)] = 0.15  # λ of pairs, one word behind the other
    unordered_weight: Annotated[float, Range(0)] = 0.05  # λ of pairs within a window
    fields: str = "all"  # of the content: "all", or names joined with +
    language: str = "english"
    stem: bool = True
    remove_stop_words: bool = False  # true: leave them out

    def weighted_fields(self) -> Iterator[tuple[str, float, WindowIndex]]:
        """(name, weight, index) of each field."""
        raise NotImplementedError  # abstract

    def _score_all(self, query: Query) -> NDArray[np.float32]:
        """The sum over fields and windows; the documents of each are found through the index."""
        scores = np.zeros(len(self.trained_on.docs))
        for _, weight, index in self.weighted_fields():
            for _, _, rows, values in self._summands(index, query):
                scores[rows] += weight * values
        return scores.astype(np.float32)

    def _score(self, query: Query, docs: NDArray[np.int32]) -> NDArray[np.float32]:
        """The same for some documents: in how many a window occurs must be counted in all of them anyway."""
        return self._score_all(query)[docs]

    def _explain(self, query: Query, doc: int, clicks: int | None) -> Explanation:
        """What each word and each pair of words contributes, by field."""
        fields = []
        for name, weight, index in self.weighted_fields():
            parts = [
                Contribution(kind, label, weight * float(values[rows == doc][0]))
                for kind, label, rows, values in self._summands(index, query)
                if doc in rows
            ]
            parts.sort(key=lambda part: -part.value)
            fields.append(Contribution("field", name, sum(part.value for part in parts), parts=parts))
        score = float(self._score_all(query)[doc])
        parts = fields if len(fields) > 1 else fields[0].parts
        return Explanation(query.text, self.graph_.docs[doc], score, parts)

    def _summands(self, index: WindowIndex, query: Query) -> Iterator[Summand]:
        """What every word and pair of the query adds to the scores of which documents."""
        words = query.words(self._analyzer)
        terms = index.terms.lookup(self._analyzer.stems(words)).tolist()
        written = dict(zip(terms, words, strict=True))
        for term, count in Counter(terms).items():
            if term >= 0 and self.word_weight:
                factor = count * self.word_weight
                yield "word", written[term], *self._weigh(index, index.word(term), factor)
        for (left, right), count in Counter(pairwise(terms)).items():
            if left < 0 or right < 0:  # a word that no document holds parts its neighbours
                continue
            label = f"{written[left]} {written[right]}"
            if self.ordered_weight:
                factor = count * self.ordered_weight
                yield "ordered pair", label, *self._weigh(index, index.ordered(left, right), factor)
            if self.unordered_weight:
                factor = count * self.unordered_weight
                yield "unordered pair", label, *self._weigh(index, index.unordered(left, right), factor)

    def _weigh(self, index: WindowIndex, matches: Matches, factor: float) -> Matches:
        rows, tf = matches
        idf = np.log1p((len(index.lengths) - len(rows) + 0.5) / (len(rows) + 0.5))
        saturation = tf + self.k1 * (1 - self.b + self.b * index.lengths[rows])
        return rows, factor * idf * tf * (self.k1 + 1) / saturation
