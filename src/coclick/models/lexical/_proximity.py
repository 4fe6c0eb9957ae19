"""`WindowModel`: BM25 over words, ordered pairs and unordered pairs, in one or several fields.

    score(q, d)   = Σ_field w_field Σ_{f ∈ T,O,U} λ_f Σ_{x ∈ f(q)} bm25(x, d)
    bm25(x, d)    = idf(x) · tf · (k₁ + 1) / (tf + k₁ (1 − b + b |d| / avg))
    idf(x)        = ln(1 + (N − df + ½) / (df + ½))

T are the words of the query, O its pairs of adjacent words that are adjacent in the document in the same
order, U the same pairs in any order within a window (Jiang et al. 2016 §4.2). tf and df count x itself, a
word or a pair, in this field; avg is the average length of the documents that have the field.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Annotated, ClassVar

import numpy as np
from numpy.typing import NDArray

from coclick.arrays.content_checks import is_within
from coclick.arrays.csr import Csr
from coclick.arrays.sparse_vector import SparseVector
from coclick.arrays.strings import Strings, Vocab
from coclick.models.hooks import DocMask, TopK
from coclick.models.lexical._window_kernels import (
    ROW_SHIFT,
    Matches,
    match_ordered,
    match_twice,
    match_unordered,
    match_word,
)
from coclick.models.spec import Range
from coclick.models.text_model import TextModel
from coclick.results import Contribution, Explanation, padded, top_rows
from coclick.storage.layout import Pointers, Shape
from coclick.storage.state import stored
from coclick.text.analyzer import Analyzer, Tokenizer, Tokens
from coclick.text.query import Query, known_share, lookup_query_terms
from coclick.text.term_matrix import TermMatrix

WINDOW = 8  # positions that an unordered pair may span


@stored
@dataclass(frozen=True)
class WindowIndex:
    """A positional index: for each term its places in ascending order, with weights (`_window_kernels`).

    The text of a document consists of passages: its content is one passage, and each query clicked for it is
    one. Windows do not cross passages. A match counts with the weight of its passage, so a query that was
    clicked often counts more than one that was clicked once.
    """

    dimensions: ClassVar = ("docs",)
    terms: Annotated[Vocab, Shape("terms")]
    indptr: Annotated[NDArray[np.int64], Pointers("terms", "places")]
    places: Annotated[NDArray[np.int64], Shape("places")]
    weights: Annotated[NDArray[np.float32], Shape("places")]
    # Of each document, divided by the average of non-empty documents.
    lengths: Annotated[NDArray[np.float32], Shape("docs")]

    def find_defect(self) -> str | None:
        """Return whether a place is in a document that does not exist."""
        inside = is_within(self.places, 0, len(self.lengths) << ROW_SHIFT)
        return None if inside else "a place is out of bounds"

    @classmethod
    def from_fields(cls, texts: dict[str, Strings], analyzer: Analyzer) -> WindowIndex:
        """Index the joined text fields of documents: each document is one passage."""
        words = TermMatrix.fit_collection(None, texts, list(texts), analyzer)
        docs = len(words.tokens)
        return cls._build(words.terms, words.tokens, np.arange(docs), np.ones(docs), docs)

    @classmethod
    def from_clicked_queries(cls, queries: Strings, clicks_by_doc: Csr, analyzer: Analyzer) -> WindowIndex:
        """Index documents by the queries clicked for them, each with weight log(1 + clicks)."""
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
        """Index passages, sorted by document; passages of a document are a window apart."""
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

    @cached_property
    def n_filled(self) -> int:
        """The number of documents that have a text."""
        return int(np.count_nonzero(self.lengths))

    def word(self, term: int) -> Matches:
        """Return the documents that contain a word, with term frequencies."""
        return match_word(*self._occurrences(term))

    def ordered(self, term: int, following: int) -> Matches:
        """Return the documents in which a word directly follows another, with frequencies."""
        return match_ordered(*self._occurrences(term), self._occurrences(following)[0])

    def unordered(self, term: int, other: int) -> Matches:
        """Return the documents in which two words share a window, with frequencies."""
        if term == other:
            return match_twice(*self._occurrences(term), WINDOW)
        return match_unordered(*self._occurrences(term), self._occurrences(other)[0], WINDOW)

    def word_weights(self, k1: float, b: float, n_docs: int) -> Csr:
        """Return BM25 of every word in every document; idf counts `n_docs` documents."""
        term = np.repeat(np.arange(len(self.terms)), np.diff(self.indptr))
        tf = Csr.from_triples(
            self.places >> ROW_SHIFT, term, self.weights, (len(self.lengths), len(self.terms))
        )
        df = np.bincount(tf.indices, minlength=tf.columns)
        idf = np.log1p((n_docs - df + 0.5) / (df + 0.5))[tf.indices]
        length = np.repeat(self.lengths, tf.row_nnz())
        weights = idf * tf.data * (k1 + 1) / (tf.data + k1 * (1 - b + b * length))
        return tf.with_data(weights.astype(np.float32))

    def _occurrences(self, term: int) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        entries = slice(self.indptr[term], self.indptr[term + 1])
        return self.places[entries], self.weights[entries]


def _take(tokens: Tokens, texts: NDArray[np.int32]) -> Tokens:
    """The tokens of the chosen texts, in that order."""
    sizes = np.diff(tokens.indptr)[texts]
    indptr = np.concatenate([[0], np.cumsum(sizes)])
    source = np.repeat(tokens.indptr[:-1][texts] - indptr[:-1], sizes) + np.arange(indptr[-1])
    return Tokens(indptr, tokens.terms[source])


Matched = tuple[str, str, NDArray[np.int64], NDArray[np.float64]]  # kind, label, rows, scores


@dataclass
class WindowModel(TextModel):
    """A model that sums BM25 over the positional indexes of its fields."""

    requires = ("texts",)
    capabilities = frozenset({"unseen_queries", "unseen_docs", "explain"})

    k1: Annotated[float, Range(0)] = 1.2
    b: Annotated[float, Range(0, 1)] = 0.75
    word_weight: Annotated[float, Range(0)] = 0.8  # λ_T
    ordered_weight: Annotated[float, Range(0)] = 0.15  # λ_O
    unordered_weight: Annotated[float, Range(0)] = 0.05  # λ_U
    fields: str = "all"  # of the content: "all", or names joined with +
    language: str = "auto"
    stem: bool = True
    remove_stop_words: bool = False
    tokenizer: Tokenizer = "pieces"

    def _weighted_fields(self) -> Iterator[tuple[str, float, WindowIndex]]:
        """Yield (name, weight, index) of each field."""
        raise NotImplementedError  # abstract

    def _n_docs(self, index: WindowIndex) -> int:
        """Return the number of documents that idf counts."""
        return len(index.lengths)

    def _list_docs(self, query: Query) -> SparseVector:
        """List the documents with words or pairs of the query: the sum over fields, words and pairs."""
        rows, values = [np.empty(0, np.int64)], [np.empty(0)]
        for _, weight, index in self._weighted_fields():
            for _, _, matched, scores in self._matches(index, query):
                rows.append(matched)
                values.append(weight * scores)
        return SparseVector.add_up(np.concatenate(rows), np.concatenate(values))

    def _score_all(self, query: Query) -> NDArray[np.float32]:
        """Return the listed scores, 0 for all other documents."""
        scores = np.zeros(len(self.trained_on.docs), np.float32)
        listed = self._list_docs(query)
        scores[listed.rows] = listed.values
        return scores

    def _score_all_of(self, queries: Sequence[Query]) -> NDArray[np.float32]:
        """Look up the words of all queries at once, then score them one by one."""
        for _, _, index in self._weighted_fields():
            tokens = lookup_query_terms(queries, self._analyzer, index.terms)
            for i, query in enumerate(queries):
                query.remember((id(self), id(index)), tokens[i].tolist())
        return super()._score_all_of(queries)

    def _search(self, queries: Sequence[Query], k: int, mask: DocMask) -> TopK:
        """Return the best of the listed documents; the list of a single query is kept for its scores."""
        rows, scores = padded(len(queries), k)
        for i, query in enumerate(queries):
            listed = query.recall((id(self), "docs")) or self._list_docs(query)
            if len(queries) == 1:
                query.remember((id(self), "docs"), listed)
            if mask is not None:
                listed = listed.only(mask[listed.rows] > 0)
            best, values = top_rows(listed.values.astype(np.float32), k)
            rows[i, : len(best)], scores[i, : len(best)] = listed.rows[best], values
        return rows, scores

    def _score(self, query: Query, docs: NDArray[np.int32]) -> NDArray[np.float32]:
        """List all documents, because df needs them, and return the scores of the chosen ones."""
        listed = query.recall((id(self), "docs")) or self._list_docs(query)
        return listed.at(docs).astype(np.float32)

    def _known_text(self, query: Query) -> float:
        """Return the share of known words, of the field that knows most."""
        fields = self._weighted_fields()
        return max(known_share(query, self._analyzer, index.terms) for _, _, index in fields)

    def _explain(self, query: Query, doc: int, clicks: int | None) -> Explanation:
        """List the contributions of words and pairs, by field."""
        fields = []
        for name, weight, index in self._weighted_fields():
            parts = [
                Contribution(kind, label, weight * float(values[rows == doc][0]))
                for kind, label, rows, values in self._matches(index, query)
                if doc in rows
            ]
            parts.sort(key=lambda part: -part.value)
            fields.append(Contribution("field", name, sum(part.value for part in parts), parts=parts))
        score = float(self._score_all(query)[doc])
        parts = fields if len(fields) > 1 else fields[0].parts
        return Explanation(query.text, self.graph_.docs[doc], score, parts)

    def _matches(self, index: WindowIndex, query: Query) -> Iterator[Matched]:
        """The scores that each word and pair of the query adds to its documents."""
        words = query.words(self._analyzer)
        terms: list[int] = query.once(
            (id(self), id(index)), lambda: index.terms.lookup(self._analyzer.stems(words)).tolist()
        )
        labels = dict(zip(terms, words, strict=True))
        for term, count in Counter(terms).items():
            if term >= 0 and self.word_weight:
                factor = count * self.word_weight
                yield "word", labels[term], *self._bm25(index, index.word(term), factor)
        for (left, right), count in Counter(pairwise(terms)).items():
            if left < 0 or right < 0:  # an unknown word separates its neighbours
                continue
            label = f"{labels[left]} {labels[right]}"
            if self.ordered_weight:
                factor = count * self.ordered_weight
                yield "ordered pair", label, *self._bm25(index, index.ordered(left, right), factor)
            if self.unordered_weight:
                factor = count * self.unordered_weight
                yield "unordered pair", label, *self._bm25(index, index.unordered(left, right), factor)

    def _bm25(self, index: WindowIndex, matches: Matches, factor: float) -> Matches:
        rows, tf = matches
        idf = np.log1p((self._n_docs(index) - len(rows) + 0.5) / (len(rows) + 0.5))
        saturation = tf + self.k1 * (1 - self.b + self.b * index.lengths[rows])
        return rows, factor * idf * tf * (self.k1 + 1) / saturation
