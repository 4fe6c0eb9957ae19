"""`LikelihoodModel`: documents ranked by the likelihood that they bring forth the query (paper 001 §3.3).

    P(q|d) = Π_t [ λ₁ P(t|C) + (1 − λ₁) (λ₂ P(t|d) + (1 − λ₂) P_model(t|d)) ]                    (Eq. 14–16)

with λ₁ = `background` and λ₂ = `own`; P(t|d) and P(t|C) are the shares of a word in the document and in the
collection, and P_model is what a subclass learns from clicks. What is scored is ln P(q|d) without the part
that is the same for all documents, ln Π λ₁ P(t|C):

    score(q, d) = Σ_t ln(1 + (1 − λ₁) P_mixed(t|d) / (λ₁ P(t|C)))

which is never negative, and 0 where the document explains no word of the query. With λ₂ = 1 it is `um`. A
word that no document holds has the share that it has among the words of queries for P(t|C), so that what the
model knows of it can count; what neither side holds is skipped.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coclick.arrays.csr import Csr, vstack
from coclick.arrays.kernels import values_at
from coclick.arrays.strings import Strings, Vocab
from coclick.errors import UserError
from coclick.graph.click_graph import ClickGraph
from coclick.kernels.dense import candidates
from coclick.kernels.search import EVERYTHING
from coclick.models.base import DocMask, TextModel, TopK
from coclick.models.spec import Range
from coclick.progress import Progress
from coclick.results import Contribution, Explanation, padded, top_rows
from coclick.text.query import Query, look_up_terms
from coclick.text.term_matrix import TermMatrix, choose_fields, count_terms, each_text, joined_fields

Terms = NDArray[np.int32]
_BLOCK = 1 << 14  # documents that are scored at a time
_SCORES = 1 << 22  # that are in memory at a time


class Counts(NamedTuple):
    """How often queries and documents hold each word of one vocabulary."""

    queries: Csr
    docs: Csr


class Reason(NamedTuple):
    """What a part of P_model(t|d) comes from: a topic, a word that translates."""

    kind: str
    label: str
    probability: float


@dataclass
class _Parameters(TextModel):
    """What all of these models can be told."""

    lambda_collection: Annotated[float, Range(0.001, 0.999)] = 0.5  # λ₁, the share of the collection's model
    lambda_doc: Annotated[float, Range(0, 1)] = 0.5  # λ₂, the share of the document's own words in the rest
    fields: str = "title"  # of documents: "all", or names joined with +
    language: str = "english"
    stem: bool = False
    remove_stop_words: bool = False  # true: leave them out


class LikelihoodModel(_Parameters):
    """A model that says how likely each word is in a query for which the document is clicked."""

    requires = ("texts",)
    evidence_names = ("coverage",)
    capabilities = frozenset({"unseen_queries", "unseen_docs", "explain", "add"})

    terms_: Vocab
    display_terms_: Strings  # for each term its commonest surface form
    fields_: list[str]
    collection_: NDArray[np.float64]  # P(t|C)
    doc_words_: Csr  # P(t|d), a row a document
    word_docs_: Csr  # the same, a row a word

    # -- for the models to write -----------------------------------------------------------------------

    def generate(self, terms: Terms, docs: NDArray[np.int32]) -> NDArray[np.float64]:
        """P_model(t|d), a row for each term: a pair's value never depends on its company."""
        raise NotImplementedError  # abstract

    def generate_block(self, terms: Terms, first: int, last: int) -> NDArray[np.float32]:
        """The same for all documents of a range, wrong by at most `rounding` of itself."""
        return self.generate(terms, np.arange(first, last, dtype=np.int32)).astype(np.float32)

    def reasons(self, term: int, doc: int) -> list[Reason]:
        """What P_model(t|d) is made of, the most first."""
        raise NotImplementedError  # abstract

    def take_in(self, counts: Csr) -> None:
        """Documents came, whose words are counted: a model that knows more of documents learns it here."""

    def meet(self, counts: Csr) -> None:
        """Know these documents, whose words are counted, in place of all others."""
        self.doc_words_ = _language_models(counts)

    @property
    def rounding(self) -> float:
        """How wrong a probability of `generate_block` can be, as a fraction of it."""
        return 2.0**-22

    # -- for the models to call while they learn ---------------------------------------------------------

    def observe(self, graph: ClickGraph, progress: Progress, max_terms: int | None = None) -> Counts:
        """Count the words of both sides; the language models of documents and of the collection."""
        self.fields_ = choose_fields(graph.texts, self.fields)
        with progress("words"):
            texts = chain(each_text(graph.queries), joined_fields(graph.texts, self.fields_))
            words = TermMatrix.fit(texts, self._analyzer).most_frequent(max_terms)
            counts = words.counts()
        self.terms_, self.display_terms_ = words.terms, words.display_terms
        of_queries = counts.take(np.arange(len(graph.queries)))
        of_docs = counts.take(np.arange(len(graph.queries), counts.rows))
        in_docs, in_queries = _shares(of_docs), _shares(of_queries)
        self.collection_ = np.where(in_docs > 0, in_docs, in_queries)
        self.doc_words_ = _language_models(of_docs)
        self.word_docs_ = self.doc_words_.transpose()
        return Counts(of_queries, of_docs)

    def title_word(self, word: str) -> int:
        """The term that a word stands for, which must be known."""
        terms = self._analyzer.look_up([word], self.terms_).terms
        if len(terms) != 1 or terms[0] < 0:
            raise UserError(f"the model does not know the word {word!r}", hint="give one word of a title")
        return int(terms[0])

    # -- what follows ----------------------------------------------------------------------------------

    def _score(self, query: Query, docs: NDArray[np.int32]) -> NDArray[np.float32]:
        """Sums of logarithms."""
        terms, counts = self._count(query)
        if not len(terms):
            return np.zeros(len(docs), np.float32)
        mixed = self.lambda_doc * self._own(terms, docs)
        if self.lambda_doc < 1:
            mixed += (1 - self.lambda_doc) * self.generate(terms, docs)
        return self._add_up(terms, counts, mixed).astype(np.float32)

    def _score_texts(self, query: Query, texts: Mapping[str, Strings]) -> NDArray[np.float32]:
        """The same, by a model that knows nothing but these documents."""
        counts = self._count_docs(texts)
        model = copy.copy(self)
        model.meet(counts)
        return model._score(query, np.arange(counts.rows, dtype=np.int32))

    def _search(self, queries: Sequence[Query], k: int, mask: DocMask) -> TopK:
        """Exact: float32 finds what may be among the best, and that is scored again pair by pair."""
        rows, scores = padded(len(queries), k)
        together = max(1, _SCORES // max(len(self.graph_.docs), 1))
        for start in range(0, len(queries), together):
            asked = queries[start : start + together]
            tokens = look_up_terms(asked, self._analyzer, self.terms_)
            counts = count_terms(tokens, len(self.terms_))
            for i, rough in enumerate(self._rough(counts)):
                margin = float(counts.row(i)[1].sum()) * (self.rounding + 2.0**-20)
                if margin:  # else no word of the query is known
                    some = candidates(rough, k, margin, EVERYTHING if mask is None else mask)
                    best, values = top_rows(self._score(asked[i], some), k)
                    rows[start + i, : len(best)], scores[start + i, : len(best)] = some[best], values
        return rows, scores

    def _evidence(self, query: Query) -> dict[str, float]:
        """How much of the query is known."""
        tokens = look_up_terms([query], self._analyzer, self.terms_).terms
        return {"coverage": float(np.mean(tokens >= 0)) if len(tokens) else 0.0}

    def _explain(self, query: Query, doc: int, clicks: int | None) -> Explanation:
        """For each word of the query, how much the document's own words and the model have of its value."""
        row = np.array([doc], np.int32)
        terms, counts = self._count(query)
        parts = [self._explain_word(int(t), float(n), row) for t, n in zip(terms, counts, strict=True)]
        adding = sorted((part for part in parts if part.value), key=lambda part: -part.value)
        return Explanation(query.text, self.graph_.docs[doc], float(self._score(query, row)[0]), adding)

    def _add(self, texts: Mapping[str, Strings]) -> None:
        """New documents have language models of their own."""
        counts = self._count_docs(texts)
        self.doc_words_ = vstack(self.doc_words_, _language_models(counts))
        self.word_docs_ = self.doc_words_.transpose()
        self.take_in(counts)

    # -- inside ----------------------------------------------------------------------------------------

    def _count(self, query: Query) -> tuple[Terms, NDArray[np.float32]]:
        """The known terms of a query with their counts."""
        tokens = look_up_terms([query], self._analyzer, self.terms_)
        return count_terms(tokens, len(self.terms_)).row(0)

    def _count_docs(self, texts: Mapping[str, Strings]) -> Csr:
        """The known terms of documents with their counts."""
        blank = Strings.from_list([""] * len(next(iter(texts.values()))))
        chosen = {name: texts.get(name) or blank for name in self.fields_}
        tokens = self._analyzer.look_up(list(joined_fields(chosen, self.fields_)), self.terms_)
        return count_terms(tokens, len(self.terms_))

    def _own(self, terms: Terms, docs: NDArray[np.int32]) -> NDArray[np.float64]:
        """P(t|d), a row for each term."""
        held = self.doc_words_
        return np.stack(
            [values_at(held.indptr, held.indices, held.data, docs, t) for t in terms], dtype=np.float64
        )

    def _odds(self, terms: Terms) -> NDArray[np.float64]:
        return (1 - self.lambda_collection) / (self.lambda_collection * self.collection_[terms])

    def _add_up(
        self, terms: Terms, counts: NDArray[np.float32], mixed: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Σ n ln(1 + odds · P), term by term so that the order of the sum is fixed."""
        total = np.zeros_like(mixed[0])
        for odds, count, likelihood in zip(self._odds(terms), counts, mixed, strict=True):
            total += np.float64(count) * np.log1p(odds * likelihood)
        return total

    def _rough(self, counts: Csr) -> NDArray[np.float32]:
        """The scores of all documents for some queries, in float32, a block of documents at a time."""
        docs = len(self.graph_.docs)
        terms, place = np.unique(counts.indices, return_inverse=True)
        asked = np.zeros((counts.rows, len(terms)), np.float32)
        asked[np.repeat(np.arange(counts.rows), counts.row_nnz()), place] = counts.data
        held = self.word_docs_.take_checked(terms, "the words of documents")
        odds = self._odds(terms).astype(np.float32)[:, None]
        scores = np.empty((counts.rows, docs), np.float32)
        for first in range(0, docs, _BLOCK):
            last = min(first + _BLOCK, docs)
            mixed = np.zeros((len(terms), last - first), np.float32)
            if self.lambda_doc < 1 and len(terms):
                mixed += np.float32(1 - self.lambda_doc) * self.generate_block(terms, first, last)
            for i, of_term in enumerate(mixed):
                rows, shares = held.row(i)
                inside = slice(*np.searchsorted(rows, [first, last]))
                of_term[rows[inside] - first] += np.float32(self.lambda_doc) * shares[inside]
            mixed *= odds
            scores[:, first:last] = asked @ np.log1p(mixed, out=mixed)
        return scores

    def _explain_word(self, term: int, count: float, row: NDArray[np.int32]) -> Contribution:
        """A word's value, split in proportion to what its probability is made of."""
        terms = np.array([term], np.int32)
        own = self.lambda_doc * float(self._own(terms, row)[0, 0])
        model = (1 - self.lambda_doc) * float(self.generate(terms, row)[0, 0]) if self.lambda_doc < 1 else 0.0
        mixed = np.array([[own + model]])
        value = float(self._add_up(terms, np.array([count], np.float32), mixed)[0])
        label = self.display_terms_[term]
        parts = [Contribution("document", label, value * own / (own + model))] if own else []
        if model:
            found = [reason for reason in self.reasons(term, int(row[0])) if reason.probability > 0]
            total = sum(reason.probability for reason in found)
            of_model = value * model / (own + model)
            parts += [Contribution(r.kind, r.label, of_model * r.probability / total) for r in found]
            parts.sort(key=lambda part: -part.value)
        smoothed = self.lambda_collection * self.collection_[term]
        share = smoothed / (smoothed + (1 - self.lambda_collection) * (own + model))
        parts.append(Contribution("collection", f"{share:.0%} of its probability, the same for all", 0.0))
        return Contribution("word", label, value, parts=parts)


def clicked_pairs(
    graph: ClickGraph, counts: Counts, weight: str, fields: str
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float32]]:
    """The query, the document and the weight of each clicked pair whose sides both have words."""
    clicks = graph.clicks
    query_of = np.repeat(np.arange(clicks.rows, dtype=np.int32), clicks.row_nnz())
    both = (counts.queries.row_nnz()[query_of] > 0) & (counts.docs.row_nnz()[clicks.indices] > 0)
    if not both.any():
        raise UserError(
            f"no clicked document has a text in {fields!r}", hint="build with --docs, or name another field"
        )
    weights = clicks.data[both]
    if weight != "clicks":
        weights = np.log1p(weights) if weight == "log1p" else np.ones_like(weights)
    return query_of[both], clicks.indices[both], weights


def _language_models(counts: Csr) -> Csr:
    """P(t|d): the share of each word in its row."""
    return counts.with_data((counts.data / np.repeat(counts.row_sums(), counts.row_nnz())).astype(np.float32))


def _shares(counts: Csr) -> NDArray[np.float64]:
    """The share of each word in all that is counted."""
    occurrences = np.bincount(counts.indices, counts.data, minlength=counts.columns)
    return occurrences / max(occurrences.sum(), 1)
