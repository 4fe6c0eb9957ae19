"""`LikelihoodModel`: rank documents by the likelihood that they generate the query (Gao et al. 2011 §3.3).

    P(q|d) = Π_t [ λ₁ P(t|C) + (1 − λ₁) (λ₂ P(t|d) + (1 − λ₂) P_model(t|d)) ]                    (Eq. 14–16)

with λ₁ = `lambda_collection` and λ₂ = `lambda_doc`. P(t|d) and P(t|C) are the relative frequencies of a word
in the document and in the collection; a subclass learns P_model from clicks. The score is ln P(q|d) without
the part that is the same for all documents, ln Π λ₁ P(t|C):

    score(q, d) = Σ_t ln(1 + (1 − λ₁) P_mixed(t|d) / (λ₁ P(t|C)))

It is never negative, and 0 if the document gives no word of the query a probability. With λ₂ = 1 it is `um`.
If no document contains a word, P(t|C) is its relative frequency in queries, so that P_model can contribute.
Words that occur on neither side are skipped.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coclick.arrays.csr import Csr, vstack
from coclick.arrays.kernels import values_at
from coclick.arrays.strings import Strings, Vocab
from coclick.errors import UserError
from coclick.graph.click_graph import ClickGraph
from coclick.kernels.dense import candidates
from coclick.kernels.search import NO_MASK
from coclick.models.base import DocMask, TopK
from coclick.models.document_expansion import ExpansionWords
from coclick.models.spec import Range
from coclick.models.text_model import TextModel
from coclick.progress import Progress
from coclick.results import Contribution, Explanation, padded, top_rows
from coclick.storage.layout import Shape
from coclick.text.analyzer import Tokenizer
from coclick.text.query import Query, known_share, lookup_query_terms
from coclick.text.term_matrix import TermMatrix, choose_fields, count_terms, joined_fields

Terms = NDArray[np.int32]
_BLOCK = 1 << 14  # documents per step
_MAX_SCORES = 1 << 22  # in memory at a time


class Counts(NamedTuple):
    """Term counts of queries and documents over one vocabulary."""

    queries: Csr
    docs: Csr


class ProbabilityPart(NamedTuple):
    """One summand of P_model(t|d): a topic, or a title word that translates to t."""

    kind: str
    label: str
    probability: float


@dataclass
class _LikelihoodParameters(TextModel):
    """The parameters of all likelihood models."""

    lambda_collection: Annotated[float, Range(0.001, 0.999)] = 0.5  # λ₁, weight of P(t|C)
    lambda_doc: Annotated[float, Range(0, 1)] = 0.5  # λ₂, weight of P(t|d) in the rest
    fields: str = "title"  # of documents: "all", or names joined with +
    language: str = "auto"
    stem: bool = False
    remove_stop_words: bool = False
    tokenizer: Tokenizer = "pieces"


class LikelihoodModel(_LikelihoodParameters):
    """A model of the probability of a word in the queries for which a document is clicked."""

    requires = ("texts",)
    evidence_names = ("coverage",)
    scans_docs = True
    capabilities = frozenset({"unseen_queries", "unseen_docs", "explain", "add"})

    terms_: Annotated[Vocab, Shape("terms")]
    display_terms_: Annotated[Strings, Shape("terms")]  # for each term its most frequent written form
    fields_: list[str]
    collection_: Annotated[NDArray[np.float64], Shape("terms")]  # P(t|C)
    doc_words_: Annotated[Csr, Shape("docs", "terms")]  # P(t|d), one row per document
    word_docs_: Annotated[Csr, Shape("terms", "docs")]  # the same, one row per word

    # -- hooks for subclasses --------------------------------------------------------------------------

    def _word_probabilities(self, terms: Terms, docs: NDArray[np.int32]) -> NDArray[np.float64]:
        """Return P_model(t|d), one row per term; a value never depends on the other terms and documents."""
        raise NotImplementedError  # abstract

    def _word_probabilities_block(self, terms: Terms, first: int, last: int) -> NDArray[np.float32]:
        """Return the same for a range of documents in float32, within `_relative_error`."""
        return self._word_probabilities(terms, np.arange(first, last, dtype=np.int32)).astype(np.float32)

    def _explain_probability(self, term: int, doc: int) -> list[ProbabilityPart]:
        """Split P_model(t|d) into its summands, largest first."""
        raise NotImplementedError  # abstract

    def _add_docs(self, counts: Csr) -> None:
        """Append further state of documents that are added, from their term counts."""

    def _replace_docs(self, counts: Csr) -> None:
        """Replace all documents by these, from their term counts."""
        self.doc_words_ = _language_models(counts)

    @property
    def _relative_error(self) -> float:
        """The relative error bound of `_word_probabilities_block`."""
        return 2.0**-22

    # -- for `_fit` of subclasses ----------------------------------------------------------------------

    def _count_words(self, graph: ClickGraph, progress: Progress, max_terms: int | None = None) -> Counts:
        """Count the words of both sides; learn the language models of documents and collection."""
        self.fields_ = choose_fields(graph.texts, self.fields)
        with progress("words"):
            words = TermMatrix.fit_collection(graph.queries, graph.texts, self.fields_, self._analyzer)
            words = words.most_frequent(max_terms)
            counts = words.counts()
        self.terms_, self.display_terms_ = words.terms, words.display_terms
        of_queries = counts.take(np.arange(len(graph.queries)))
        of_docs = counts.take(np.arange(len(graph.queries), counts.rows))
        in_docs, in_queries = _shares(of_docs), _shares(of_queries)
        self.collection_ = np.where(in_docs > 0, in_docs, in_queries)
        self.doc_words_ = _language_models(of_docs)
        self.word_docs_ = self.doc_words_.transpose()
        return Counts(of_queries, of_docs)

    def _title_term(self, word: str) -> int:
        """The term of a title word; raises if it is unknown."""
        words = self._analyzer.whole_words(word)
        terms = self.terms_.lookup(self._analyzer.stems(words))
        if len(terms) != 1 or terms[0] < 0:
            raise UserError(f"the model does not know the word {word!r}", hint="give one word of a title")
        return int(terms[0])

    def _word_weights(
        self, likely: NDArray[np.float32], terms: Terms | slice = slice(None)
    ) -> NDArray[np.float32]:
        """Return what P_model(t|d) adds to the score of a document for a query of this word alone."""
        odds = self._odds(terms).astype(np.float32)  # type: ignore[arg-type]
        return np.log1p(np.float32(1 - self.lambda_doc) * odds * likely)

    @property
    def _expansion_words(self) -> ExpansionWords:
        """The words of queries and titles."""
        return ExpansionWords(self._analyzer, self.terms_, self.display_terms_)

    def _explain_expansion(self, doc: int, term: int, weight: float, clicks: int | None) -> Contribution:
        """Split the weight by the topics or title words that generate the word."""
        found = [part for part in self._explain_probability(term, doc) if part.probability > 0]
        total = sum(part.probability for part in found)
        parts = [Contribution(part.kind, part.label, weight * part.probability / total) for part in found]
        return replace(super()._explain_expansion(doc, term, weight, clicks), parts=parts)

    # -- implemented with the hooks --------------------------------------------------------------------

    def _score(self, query: Query, docs: NDArray[np.int32]) -> NDArray[np.float32]:
        """Return the sums of logarithms."""
        terms, counts = self._count_query(query)
        if not len(terms):
            return np.zeros(len(docs), np.float32)
        mixed = self.lambda_doc * self._doc_probabilities(terms, docs)
        if self.lambda_doc < 1:
            mixed += (1 - self.lambda_doc) * self._word_probabilities(terms, docs)
        return self._sum_logs(terms, counts, mixed).astype(np.float32)

    def _score_texts(self, query: Query, texts: Mapping[str, Strings]) -> NDArray[np.float32]:
        """Score the texts with a copy of the model that has only these documents."""
        counts = self._count_texts(texts)
        model = copy.copy(self)
        model._replace_docs(counts)
        return model._score(query, np.arange(counts.rows, dtype=np.int32))

    def _search(self, queries: Sequence[Query], k: int, mask: DocMask) -> TopK:
        """Find candidates in float32 and rescore them exactly; results are exact."""
        rows, scores = padded(len(queries), k)
        batch = max(1, _MAX_SCORES // max(len(self.graph_.docs), 1))
        for start in range(0, len(queries), batch):
            asked = queries[start : start + batch]
            tokens = lookup_query_terms(asked, self._analyzer, self.terms_)
            counts = count_terms(tokens, len(self.terms_))
            for i, approximate in enumerate(self._approximate_scores(counts)):
                margin = float(counts.row(i)[1].sum()) * (self._relative_error + 2.0**-20)
                if margin:  # 0 if no word of the query is known
                    docs = candidates(approximate, k, margin, NO_MASK if mask is None else mask)
                    best, values = top_rows(self._score(asked[i], docs), k)
                    rows[start + i, : len(best)], scores[start + i, : len(best)] = docs[best], values
        return rows, scores

    def _score_all_of(self, queries: Sequence[Query]) -> NDArray[np.float32]:
        """Return scores in float32, within `_relative_error`."""
        tokens = lookup_query_terms(queries, self._analyzer, self.terms_)
        return self._approximate_scores(count_terms(tokens, len(self.terms_)))

    def _evidence_of(self, queries: Sequence[Query]) -> list[dict[str, float]]:
        """Rate the evidence of many queries, whose words are looked up at once."""
        tokens = lookup_query_terms(queries, self._analyzer, self.terms_)
        known = np.diff(np.concatenate([[0], np.cumsum(tokens.terms >= 0)])[tokens.indptr])
        shares = known / np.maximum(np.diff(tokens.indptr), 1)
        return [{"coverage": share} for share in shares.tolist()]

    def _evidence(self, query: Query) -> dict[str, float]:
        """Rate the evidence by the share of known words in the query."""
        return {"coverage": self._known_text(query)}

    def _known_text(self, query: Query) -> float:
        """Return the share of known words."""
        return known_share(query, self._analyzer, self.terms_)

    def _explain(self, query: Query, doc: int, clicks: int | None) -> Explanation:
        """Split the value of each query word into the parts of P(t|d) and of P_model(t|d)."""
        row = np.array([doc], np.int32)
        terms, counts = self._count_query(query)
        parts = [self._explain_word(int(t), float(n), row) for t, n in zip(terms, counts, strict=True)]
        nonzero = sorted((part for part in parts if part.value), key=lambda part: -part.value)
        return Explanation(query.text, self.graph_.docs[doc], float(self._score(query, row)[0]), nonzero)

    def _add(self, texts: Mapping[str, Strings]) -> None:
        """Append the language models of new documents."""
        counts = self._count_texts(texts)
        self.doc_words_ = vstack(self.doc_words_, _language_models(counts))
        self.word_docs_ = self.doc_words_.transpose()
        self._add_docs(counts)

    # -- inside ----------------------------------------------------------------------------------------

    def _count_query(self, query: Query) -> tuple[Terms, NDArray[np.float32]]:
        """The known terms of a query, with counts."""
        tokens = lookup_query_terms([query], self._analyzer, self.terms_)
        return count_terms(tokens, len(self.terms_)).row(0)

    def _count_texts(self, texts: Mapping[str, Strings]) -> Csr:
        """The counts of known terms in texts."""
        blank = Strings.from_list([""] * len(next(iter(texts.values()))))
        chosen = {name: texts.get(name) or blank for name in self.fields_}
        tokens = self._analyzer.lookup_terms(list(joined_fields(chosen, self.fields_)), self.terms_)
        return count_terms(tokens, len(self.terms_))

    def _doc_probabilities(self, terms: Terms, docs: NDArray[np.int32]) -> NDArray[np.float64]:
        """P(t|d), one row per term."""
        held = self.doc_words_
        return np.stack(
            [values_at(held.indptr, held.indices, held.data, docs, t) for t in terms], dtype=np.float64
        )

    def _odds(self, terms: Terms) -> NDArray[np.float64]:
        return (1 - self.lambda_collection) / (self.lambda_collection * self.collection_[terms])

    def _sum_logs(
        self, terms: Terms, counts: NDArray[np.float32], mixed: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Σ n ln(1 + odds · P), term by term in a fixed order."""
        total = np.zeros_like(mixed[0])
        for odds, count, likelihood in zip(self._odds(terms), counts, mixed, strict=True):
            total += np.float64(count) * np.log1p(odds * likelihood)
        return total

    def _approximate_scores(self, counts: Csr) -> NDArray[np.float32]:
        """The float32 scores of all documents for some queries, block by block."""
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
                mixed += np.float32(1 - self.lambda_doc) * self._word_probabilities_block(terms, first, last)
            for i, of_term in enumerate(mixed):
                rows, shares = held.row(i)
                inside = slice(*np.searchsorted(rows, [first, last]))
                of_term[rows[inside] - first] += np.float32(self.lambda_doc) * shares[inside]
            mixed *= odds
            scores[:, first:last] = asked @ np.log1p(mixed, out=mixed)
        return scores

    def _explain_word(self, term: int, count: float, row: NDArray[np.int32]) -> Contribution:
        """The value of a word, split in proportion to the summands of its probability."""
        terms = np.array([term], np.int32)
        own = self.lambda_doc * float(self._doc_probabilities(terms, row)[0, 0])
        model = (
            (1 - self.lambda_doc) * float(self._word_probabilities(terms, row)[0, 0])
            if self.lambda_doc < 1
            else 0.0
        )
        mixed = np.array([[own + model]])
        value = float(self._sum_logs(terms, np.array([count], np.float32), mixed)[0])
        label = self.display_terms_[term]
        parts = [Contribution("document", label, value * own / (own + model))] if own else []
        if model:
            found = [part for part in self._explain_probability(term, int(row[0])) if part.probability > 0]
            total = sum(part.probability for part in found)
            model_value = value * model / (own + model)
            parts += [Contribution(p.kind, p.label, model_value * p.probability / total) for p in found]
            parts.sort(key=lambda part: -part.value)
        smoothed = self.lambda_collection * self.collection_[term]
        share = smoothed / (smoothed + (1 - self.lambda_collection) * (own + model))
        parts.append(Contribution("collection", f"{share:.0%} of its probability, the same for all", 0.0))
        return Contribution("word", label, value, parts=parts)


def clicked_pairs(
    graph: ClickGraph, counts: Counts, weight: str, fields: str
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float32]]:
    """Return query, document and weight of each clicked pair with words on both sides."""
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
    """P(t|d): the relative frequency of each word in its row."""
    return counts.with_data((counts.data / np.repeat(counts.row_sums(), counts.row_nnz())).astype(np.float32))


def _shares(counts: Csr) -> NDArray[np.float64]:
    """The relative frequency of each word in all rows."""
    occurrences = np.bincount(counts.indices, counts.data, minlength=counts.columns)
    return occurrences / max(occurrences.sum(), 1)
