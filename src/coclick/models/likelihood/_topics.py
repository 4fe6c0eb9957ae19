"""`TopicModel`: queries brought forth from documents through topics (paper 001 §3).

A document's title tells its topics, θ_d (found by fold-in), and each topic has words of its own in queries:

    P_model(t|d) = Σ_z P(t|φ^q_z) P(z|θ_d)                                                       (Eq. 17)

A subclass says what the topics are learned from. Texts are alike if their topics are: similarity is
Σ_z √(θ_z θ'_z), 1 for equal mixtures and 0 for disjoint ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coclick.arrays.csr import Csr
from coclick.graph.click_graph import ClickGraph
from coclick.index.dense import DenseIndex
from coclick.kernels.dense import dot_rows
from coclick.models.base import TopK
from coclick.models.likelihood._base import Counts, LikelihoodModel, Reason, Terms, clicked_pairs
from coclick.models.spec import Range
from coclick.progress import Progress
from coclick.results import top_rows
from coclick.solvers.checkpoint import checkpoint
from coclick.solvers.em import Corpus, Topics, fit_topics, fold_in
from coclick.text.query import Query, look_up_terms
from coclick.text.term_matrix import count_terms

Floats = NDArray[np.float32]

_ENOUGH = 1000  # pairs, below which none are held out
_WORDS = 20  # of an expansion
_TOPICS = 5  # that an explanation names; the others are one part together


@dataclass
class _Parameters(LikelihoodModel):
    """What all of these models can be told."""

    n_topics: Annotated[int, Range(1)] = 100
    iterations: Annotated[int, Range(1)] = 20  # at most
    topic_prior: Annotated[float, Range(1.000001)] = 1.1  # of the prior of topics in a text
    word_prior: Annotated[float, Range(1.000001)] = 1.01  # of the prior of words in a topic
    held_out: Annotated[float, Range(0, 0.5)] = 0.02  # of the pairs: their perplexity says when to stop
    weight: Literal["log1p", "clicks", "one"] = "log1p"  # of a clicked pair
    max_vocabulary: Annotated[int, Range(1)] = 500_000  # of the commonest words
    seed: Annotated[int, Range(0)] = 0


class TopicModel(_Parameters):
    """Words of queries by the topics of titles."""

    capabilities = LikelihoodModel.capabilities | {"similar", "expand", "topics", "translate"}

    topics_: Topics  # for every word of the vocabulary; zero where a side never holds it
    doc_topics_: Floats  # θ of every document; 0 without known words: it brings forth nothing
    share_: Floats  # of each topic, over all documents with known words
    doc_index_: DenseIndex
    query_index_: DenseIndex

    # -- for the models to write -----------------------------------------------------------------------

    def corpus(self, graph: ClickGraph, counts: Counts) -> Corpus:
        """What topics are learned from: clicked pairs of queries and titles."""
        return Corpus(counts.queries, counts.docs, *clicked_pairs(graph, counts, self.weight, self.fields))

    def options(self) -> dict[str, Any]:
        """Further arguments of `learn_topics`."""
        return {}

    # -- what follows ----------------------------------------------------------------------------------

    def _fit(self, graph: ClickGraph, progress: Progress) -> None:
        """Topics by expectation maximisation; those of every text by fold-in."""
        counts = self.observe(graph, progress, self.max_vocabulary)
        corpus, used = _compact(self.corpus(graph, counts), self.options().get("shared", False))
        topics = min(self.n_topics, len(corpus.weights))
        if topics < self.n_topics:
            note = f"topics={self.n_topics} is more than there are pairs of texts: {topics} are used"
            self.stats_["notes"] = [note]
        with checkpoint(graph.digest, str(self)) as kept:
            found, self.stats_["curve"] = fit_topics(
                corpus,
                topics,
                alpha=self.topic_prior,
                beta=self.word_prior,
                iterations=self.iterations,
                held_out=self.held_out if len(corpus.weights) >= _ENOUGH else 0.0,
                seed=self.seed,
                progress=progress,
                checkpoint=kept,
                **self.options(),
            )
        in_titles = _spread(found.title_words, used.titles, len(self.terms_))
        if corpus.queries is None:  # the words of titles are all there is
            self.topics_ = Topics(in_titles, in_titles)
        else:
            self.topics_ = Topics(_spread(found.query_words, used.queries, len(self.terms_)), in_titles)
        with progress("topics of texts"):
            self.doc_topics_, roots = self._topics_of(counts.docs, self.topics_.title_words)
            self.share_ = self.doc_topics_[self.doc_topics_.any(axis=1)].mean(axis=0)
            self.doc_index_ = DenseIndex.build(roots)
            _, roots = self._topics_of(counts.queries, self.topics_.query_words)
            self.query_index_ = DenseIndex.build(roots)

    def generate(self, terms: Terms, docs: NDArray[np.int32]) -> NDArray[np.float64]:
        """Σ_z P(t|z) P(z|d), each pair by itself."""
        found = np.empty((len(terms), len(docs)), np.float32)
        for of_term, term in zip(found, terms, strict=True):
            dot_rows(self.doc_topics_, docs, self.topics_.query_words[term], of_term)
        return found.astype(np.float64)

    def generate_block(self, terms: Terms, first: int, last: int) -> Floats:
        """A product of matrices."""
        return self.topics_.query_words[terms] @ self.doc_topics_[first:last].T

    @property
    def rounding(self) -> float:
        """A float32 addition for each topic."""
        return len(self.share_) * 2.0**-22

    def reasons(self, term: int, doc: int) -> list[Reason]:
        """The topics through which the document brings the word forth."""
        shares = self.topics_.query_words[term].astype(np.float64) * self.doc_topics_[doc]
        order = np.argsort(-shares, kind="stable")
        found = [Reason("topic", self._topic_label(int(z)), float(shares[z])) for z in order[:_TOPICS]]
        others = float(shares[order[_TOPICS:]].sum())
        return [*found, Reason("topic", "other topics", others)]

    def _similar_queries(self, queries: Sequence[Query], k: int) -> TopK:
        """By the topics of their words."""
        return self.query_index_.search(self._query_roots(queries), k)

    def _similar_docs(self, docs: NDArray[np.int32], k: int) -> TopK:
        """By the topics of their titles."""
        return self.doc_index_.search(self.doc_index_.vectors[docs], k)

    def _expand(self, query: Query) -> list[tuple[str, float]]:
        """The words of titles that the query's topics bring forth, the likeliest first."""
        [root] = self._query_roots([query])
        likely = self.topics_.title_words @ (root * root)
        order = np.argsort(-likely, kind="stable")[:_WORDS]
        return [(self.display_terms_[int(term)], float(likely[term])) for term in order if likely[term] > 0]

    def take_in(self, counts: Csr) -> None:
        """The topics of new documents, by fold-in."""
        topics, roots = self._topics_of(counts, self.topics_.title_words)
        self.doc_topics_ = np.concatenate([self.doc_topics_, topics])
        self.doc_index_ = DenseIndex.build(np.concatenate([self.doc_index_.vectors, roots]))

    def meet(self, counts: Csr) -> None:
        """Their topics, by fold-in."""
        super().meet(counts)
        self.doc_topics_, _ = self._topics_of(counts, self.topics_.title_words)

    def _describe_topics(self, words: int) -> list[dict[str, Any]]:
        """Each topic in its two languages, the largest first."""
        order = np.argsort(-self.share_, kind="stable")
        return [
            {
                "topic": int(z),
                "share": float(self.share_[z]),
                "query_words": self._likeliest(self.topics_.query_words[:, z], words),
                "title_words": self._likeliest(self.topics_.title_words[:, z], words),
            }
            for z in order
        ]

    def _translate(self, word: str, k: int) -> list[tuple[str, float]]:
        """The words of queries that a word of titles leads to, through the topics it may stand for."""
        topics = self.topics_.title_words[self.title_word(word)].astype(np.float64) * self.share_
        likely = self.topics_.query_words @ (topics / max(topics.sum(), 1e-300))
        order = np.argsort(-likely, kind="stable")[:k]
        return [(self.display_terms_[int(t)], float(likely[t])) for t in order if likely[t] > 0]

    # -- inside ----------------------------------------------------------------------------------------

    def _query_roots(self, queries: Sequence[Query]) -> Floats:
        counts = count_terms(look_up_terms(queries, self._analyzer, self.terms_), len(self.terms_))
        return self._topics_of(counts, self.topics_.query_words)[1]

    def _topics_of(self, counts: Csr, words: Floats) -> tuple[Floats, Floats]:
        """θ of texts by fold-in, and √θ, of unit length; both are 0 for a text without known words."""
        known = words[:, 0] > 0  # a word that is known has a chance in every topic
        held = counts.with_data(np.where(known[counts.indices], counts.data, np.float32(0))).positive()
        topics = fold_in(held, words, alpha=self.topic_prior)
        topics[held.row_nnz() == 0] = 0
        return topics, np.sqrt(topics)

    def _topic_label(self, topic: int) -> str:
        words = self._likeliest(self.topics_.query_words[:, topic], 3)
        return f"topic {topic}: {', '.join(word for word, _ in words)}"

    def _likeliest(self, likely: Floats, count: int) -> list[tuple[str, float]]:
        terms, values = top_rows(np.ascontiguousarray(likely), count)
        return [(self.display_terms_[int(t)], float(value)) for t, value in zip(terms, values, strict=True)]


class _Used(NamedTuple):
    """The words that each side of a corpus holds."""

    queries: NDArray[np.int32]
    titles: NDArray[np.int32]


def _compact(corpus: Corpus, shared: bool) -> tuple[Corpus, _Used]:
    """Each side over its own words: priors give something to every word of a side, and to no other."""
    titles = corpus.titles.take(np.unique(corpus.title_of))
    if corpus.queries is None:
        words = np.unique(titles.indices)
        return replace(corpus, titles=corpus.titles.only_columns(words)), _Used(words, words)
    queries = corpus.queries.take(np.unique(corpus.query_of))
    used = _Used(np.unique(queries.indices), np.unique(titles.indices))
    if shared:
        both = np.union1d(*used)
        used = _Used(both, both)
    sides = corpus.queries.only_columns(used.queries), corpus.titles.only_columns(used.titles)
    return replace(corpus, queries=sides[0], titles=sides[1]), used


def _spread(words: Floats, used: NDArray[np.int32], vocabulary: int) -> Floats:
    """The rows of the words in use, in the place that they have in the vocabulary; zeros elsewhere."""
    everything = np.zeros((vocabulary, words.shape[1]), np.float32)
    everything[used] = words
    return everything
