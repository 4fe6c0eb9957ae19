"""`TopicModel`: generate the query from the title through topics (Gao et al. 2011 §3).

The topics θ_d of a document are inferred from its title by fold-in, and each topic has a distribution of
words in queries:

    P_model(t|d) = Σ_z P(t|φ^q_z) P(z|θ_d)                                                       (Eq. 17)

A subclass chooses the texts that topics are learned from. The similarity of two texts is Σ_z √(θ_z θ'_z), 1
for equal and 0 for disjoint mixtures.
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
from coclick.models.document_expansion import top_of_dense
from coclick.models.likelihood._base import Counts, LikelihoodModel, ProbabilityPart, Terms, clicked_pairs
from coclick.models.spec import Range
from coclick.models.text_model import GAO2011_TEXT
from coclick.progress import Progress
from coclick.results import top_rows
from coclick.solvers.checkpoint import checkpoint
from coclick.solvers.em import Corpus, Topics, fit_topics, fold_in
from coclick.storage.layout import Shape
from coclick.text.query import Query, lookup_query_terms
from coclick.text.term_matrix import count_terms

Floats = NDArray[np.float32]
# What Gao et al. 2011 say about all topic models, for presets.
GAO2011_TOPICS: dict[str, tuple[Any, str]] = {
    **GAO2011_TEXT,
    "n_topics": (100, "§5.2: T = 100"),
    "topic_prior": (1.1, "§5.2: α = 1.1"),
    "word_prior": (1.01, "§5.2: β = 1.01"),
    "weight": ("one", "§5.1: the title is paired with each unique query"),
    "max_vocabulary": (500_000, "§5.2: the 500K most frequent words"),
}
ALL_ITERATIONS: dict[str, tuple[Any, str]] = {
    "held_out": (0.0, "§5.2: all pairs are used for training"),
    "tolerance": (0.0, "§5.2: the number of iterations is given"),
}

_MIN_PAIRS = 1000  # to hold some out
_EXPANSION_WORDS = 20
_EXPLAINED_TOPICS = 5  # the others are one part of an explanation


@dataclass
class _TopicParameters(LikelihoodModel):
    """The parameters of all topic models."""

    n_topics: Annotated[int, Range(1)] = 100
    iterations: Annotated[int, Range(1)] = 20  # at most
    topic_prior: Annotated[float, Range(1.000001)] = 1.1  # α, Dirichlet prior of the topics of a text
    word_prior: Annotated[float, Range(1.000001)] = 1.01  # β, Dirichlet prior of the words of a topic
    held_out: Annotated[float, Range(0, 0.5)] = 0.02  # of the pairs, for early stopping
    tolerance: Annotated[float, Range(0, 1)] = 1e-4  # smallest relative gain of an iteration; 0 runs them all
    weight: Literal["log1p", "clicks", "one"] = "log1p"  # of a clicked pair
    max_vocabulary: Annotated[int, Range(1)] = 500_000  # most frequent words
    seed: Annotated[int, Range(0)] = 0


class TopicModel(_TopicParameters):
    """A likelihood model whose P_model goes through topics."""

    capabilities = LikelihoodModel.capabilities | {"similar", "expand", "expand_docs", "topics", "translate"}

    # For every word of the vocabulary; zero if it does not occur on a side.
    topics_: Annotated[Topics, Shape("terms", "topics")]
    doc_topics_: Annotated[Floats, Shape("docs", "topics")]  # θ of every document; 0 without known words
    share_: Annotated[Floats, Shape("topics")]  # mean θ of the documents with known words
    doc_index_: Annotated[DenseIndex, Shape("docs", "topics")]
    query_index_: Annotated[DenseIndex, Shape("queries", "topics")]

    # -- hooks for subclasses --------------------------------------------------------------------------

    def _corpus(self, graph: ClickGraph, counts: Counts) -> Corpus:
        """Return the texts to learn topics from: clicked pairs of queries and titles."""
        return Corpus(counts.queries, counts.docs, *clicked_pairs(graph, counts, self.weight, self.fields))

    def _em_options(self) -> dict[str, Any]:
        """Return further arguments of `fit_topics`."""
        return {}

    # -- implemented with the hooks --------------------------------------------------------------------

    def _fit(self, graph: ClickGraph, progress: Progress) -> None:
        """Learn topics by expectation maximisation; infer those of every text by fold-in."""
        counts = self._count_words(graph, progress, self.max_vocabulary)
        corpus, used = _compact(self._corpus(graph, counts), self._em_options().get("shared", False))
        topics = min(self.n_topics, len(corpus.weights))
        if topics < self.n_topics:
            note = f"n_topics={self.n_topics} is more than there are pairs of texts: {topics} are used"
            self.stats_["notes"] = [note]
        with checkpoint(graph.digest, str(self)) as kept:
            found, self.stats_["curve"] = fit_topics(
                corpus,
                topics,
                topic_prior=self.topic_prior,
                word_prior=self.word_prior,
                iterations=self.iterations,
                held_out=self.held_out if len(corpus.weights) >= _MIN_PAIRS else 0.0,
                tolerance=self.tolerance,
                seed=self.seed,
                progress=progress,
                checkpoint=kept,
                **self._em_options(),
            )
        in_titles = _spread(found.title_words, used.titles, len(self.terms_))
        if corpus.queries is None:  # learned from titles alone
            self.topics_ = Topics(in_titles, in_titles)
        else:
            self.topics_ = Topics(_spread(found.query_words, used.queries, len(self.terms_)), in_titles)
        with progress("topics of texts"):
            self.doc_topics_, roots = self._topics_of(counts.docs, self.topics_.title_words)
            self.share_ = self.doc_topics_[self.doc_topics_.any(axis=1)].mean(axis=0)
            self.doc_index_ = DenseIndex.build(roots)
            _, roots = self._topics_of(counts.queries, self.topics_.query_words)
            self.query_index_ = DenseIndex.build(roots)

    def _word_probabilities(self, terms: Terms, docs: NDArray[np.int32]) -> NDArray[np.float64]:
        """Return Σ_z P(t|z) P(z|d), one pair at a time."""
        found = np.empty((len(terms), len(docs)), np.float32)
        for of_term, term in zip(found, terms, strict=True):
            dot_rows(self.doc_topics_, docs, self.topics_.query_words[term], of_term)
        return found.astype(np.float64)

    def _word_probabilities_block(self, terms: Terms, first: int, last: int) -> Floats:
        """Return the same as a matrix product."""
        return self.topics_.query_words[terms] @ self.doc_topics_[first:last].T

    @property
    def _relative_error(self) -> float:
        """One float32 addition per topic."""
        return len(self.share_) * 2.0**-22

    def _explain_probability(self, term: int, doc: int) -> list[ProbabilityPart]:
        """List the topics through which the document generates the word."""
        shares = self.topics_.query_words[term].astype(np.float64) * self.doc_topics_[doc]
        order = np.argsort(-shares, kind="stable")
        found = [
            ProbabilityPart("topic", self._topic_label(int(z)), float(shares[z]))
            for z in order[:_EXPLAINED_TOPICS]
        ]
        others = float(shares[order[_EXPLAINED_TOPICS:]].sum())
        return [*found, ProbabilityPart("topic", "other topics", others)]

    def _similar_queries(self, queries: Sequence[Query], k: int) -> TopK:
        """Search by the topics of queries."""
        return self.query_index_.search(self._query_roots(queries), k)

    def _similar_docs(self, docs: NDArray[np.int32], k: int) -> TopK:
        """Search by the topics of titles."""
        return self.doc_index_.search(self.doc_index_.vectors[docs], k)

    def _expand(self, query: Query) -> list[tuple[str, float]]:
        """List the title words that the topics of the query generate, most probable first."""
        [root] = self._query_roots([query])
        likely = self.topics_.title_words @ (root * root)
        order = np.argsort(-likely, kind="stable")[:_EXPANSION_WORDS]
        return [(self.display_terms_[int(term)], float(likely[term])) for term in order if likely[term] > 0]

    def _expand_docs(self, docs: NDArray[np.int32], excluded: Csr, k: int) -> TopK:
        """Find the query words that the topics of the title generate."""
        words = self.topics_.query_words.T

        def weigh(some: NDArray[np.int32]) -> Floats:
            return self._word_weights(self.doc_topics_[some] @ words)

        return top_of_dense(docs, len(self.terms_), weigh, excluded, k)

    def _add_docs(self, counts: Csr) -> None:
        """Append the topics of new documents, inferred by fold-in."""
        topics, roots = self._topics_of(counts, self.topics_.title_words)
        self.doc_topics_ = np.concatenate([self.doc_topics_, topics])
        self.doc_index_ = DenseIndex.build(np.concatenate([self.doc_index_.vectors, roots]))

    def _replace_docs(self, counts: Csr) -> None:
        """Replace the topics as well, inferred by fold-in."""
        super()._replace_docs(counts)
        self.doc_topics_, _ = self._topics_of(counts, self.topics_.title_words)

    def _describe_topics(self, words: int) -> list[dict[str, Any]]:
        """List each topic with its query words and title words, largest first."""
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
        """List the query words that the topics of a title word generate, most probable first."""
        topics = self.topics_.title_words[self._title_term(word)].astype(np.float64) * self.share_
        likely = self.topics_.query_words @ (topics / max(topics.sum(), 1e-300))
        order = np.argsort(-likely, kind="stable")[:k]
        return [(self.display_terms_[int(t)], float(likely[t])) for t in order if likely[t] > 0]

    # -- inside ----------------------------------------------------------------------------------------

    def _query_roots(self, queries: Sequence[Query]) -> Floats:
        counts = count_terms(lookup_query_terms(queries, self._analyzer, self.terms_), len(self.terms_))
        return self._topics_of(counts, self.topics_.query_words)[1]

    def _topics_of(self, counts: Csr, words: Floats) -> tuple[Floats, Floats]:
        """θ of texts by fold-in, and √θ, which has unit length; both are 0 for a text without known words."""
        known = words[:, 0] > 0  # priors give a known word a probability in every topic
        held = counts.with_data(np.where(known[counts.indices], counts.data, np.float32(0))).positive()
        topics = fold_in(held, words, topic_prior=self.topic_prior)
        topics[held.row_nnz() == 0] = 0
        return topics, np.sqrt(topics)

    def _topic_label(self, topic: int) -> str:
        words = self._likeliest(self.topics_.query_words[:, topic], 3)
        return f"topic {topic}: {', '.join(word for word, _ in words)}"

    def _likeliest(self, likely: Floats, count: int) -> list[tuple[str, float]]:
        terms, values = top_rows(np.ascontiguousarray(likely), count)
        return [(self.display_terms_[int(t)], float(value)) for t, value in zip(terms, values, strict=True)]


class _UsedTerms(NamedTuple):
    """The terms that occur on each side of a corpus."""

    queries: NDArray[np.int32]
    titles: NDArray[np.int32]


def _compact(corpus: Corpus, shared: bool) -> tuple[Corpus, _UsedTerms]:
    """The corpus with each side over its own terms, so that priors cover no other terms."""
    titles = corpus.titles.take(np.unique(corpus.title_of))
    if corpus.queries is None:
        words = np.unique(titles.indices)
        return replace(corpus, titles=corpus.titles.only_columns(words)), _UsedTerms(words, words)
    queries = corpus.queries.take(np.unique(corpus.query_of))
    used = _UsedTerms(np.unique(queries.indices), np.unique(titles.indices))
    if shared:
        both = np.union1d(*used)
        used = _UsedTerms(both, both)
    sides = corpus.queries.only_columns(used.queries), corpus.titles.only_columns(used.titles)
    return replace(corpus, queries=sides[0], titles=sides[1]), used


def _spread(words: Floats, used: NDArray[np.int32], vocabulary: int) -> Floats:
    """The rows of the used terms, at their positions in the vocabulary; zeros elsewhere."""
    everything = np.zeros((vocabulary, words.shape[1]), np.float32)
    everything[used] = words
    return everything
