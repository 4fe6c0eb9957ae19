"""`wmd`: word mover's distance (Kusner et al. 2015; Jiang et al. 2016 §4.2).

    distance(q, d) = min_F Σ_ij F_ij ‖x_i − x_j‖    with Σ_j F_ij = q_i, Σ_i F_ij = d_j
    score(q, d)    = 1 / (1 + distance)

q and d are relative frequencies of words, without stop words and words that have no embedding. A text without
any word left scores 0. Embeddings have unit length. They are learned from the log (`_word_embeddings`), or
come from a file (`_word_vector_files`) that is read once, in training: a term has the vector of its most
frequent form in the log.

If each word of a document moves to the nearest word of the query, the distance is a lower bound (the relaxed
problem). Search solves documents exactly in the order of this bound, and stops when it excludes all others:
results are exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from coclick.arrays.csr import Csr
from coclick.arrays.strings import Vocab
from coclick.errors import UserError
from coclick.graph.click_graph import ClickGraph
from coclick.models.base import DocMask, TopK
from coclick.models.lexical._transport import distances, mover_distances, relaxed_costs
from coclick.models.lexical._word_embeddings import learn_word_vectors
from coclick.models.lexical._word_vector_files import read_word_vectors
from coclick.models.presets import Preset
from coclick.models.registry import register
from coclick.models.spec import Range
from coclick.models.text_model import TextModel
from coclick.progress import Progress
from coclick.results import padded, top_rows
from coclick.storage.layout import Shape
from coclick.text.analyzer import Tokenizer
from coclick.text.query import Query, known_share, lookup_query_terms
from coclick.text.term_matrix import TermMatrix, choose_fields, count_terms, titles

_BLOCK = 1024  # documents per step
_MAX_COUNT = 1 << 20  # of a word in a text, so that sums of products stay in 64 bits
_DOT_ERROR = 2e-5  # at most, of a float32 dot product of unit vectors
_SLACK = 1e-6  # documents whose bound is this close to the k-th score are solved too


@register
@dataclass
class WMD(TextModel):
    """Score documents by the distance that the words of the query have to move."""

    name = "wmd"
    summary = "word mover's distance between query and text, on embeddings of words"
    relative_cost = 5.0
    max_docs = 100_000
    requires = ("texts",)
    capabilities = frozenset({"unseen_queries", "unseen_docs"})

    presets = {
        "jiang2016": Preset(
            "Jiang et al. 2016",  # on the vectors of Google News: word_vectors=FILE
            stem=(False, "no word of Tables 3, 4 and 6 is stemmed"),
            tokenizer=("words", "words are not split into pieces"),
        )
    }

    dim: Annotated[int, Range(1)] = 100  # of embeddings that are learned
    word_vectors: str = ""  # a file of embeddings; without it they are learned
    fields: str = "short"  # the title or, without titles, the first field; "all"; names joined with +
    language: str = "auto"
    stem: bool = True
    remove_stop_words: bool = True
    tokenizer: Tokenizer = "pieces"
    seed: Annotated[int, Range(0)] = 0

    terms_: Annotated[Vocab, Shape("terms")] = field(init=False)
    vectors_: Annotated[NDArray[np.float32], Shape("terms", "dim")] = field(init=False)
    docs_: Annotated[Csr, Shape("docs", "terms")] = field(init=False)

    def __post_init__(self) -> None:
        if any(character in self.word_vectors for character in ",()"):
            raise UserError(
                "the path of word vectors cannot have commas or brackets", where=self.word_vectors,
                hint="rename the file, or link to it",
            )  # fmt: skip

    def _fit(self, graph: ClickGraph, progress: Progress) -> None:
        """Learn word embeddings, and count the words of documents that have one."""
        short = titles(graph.texts) if self.fields == "short" else None
        fields = {"short": short} if short else graph.texts
        with progress("words"):
            chosen = choose_fields(fields, "all" if short else self.fields)
            words = TermMatrix.fit_collection(graph.queries, fields, chosen, self._analyzer)
            counts = words.counts()
        queries = counts.take(np.arange(len(graph.queries)))
        texts = counts.take(np.arange(len(graph.queries), counts.rows))
        with progress("word vectors"):
            if self.word_vectors:
                vectors, file_words = read_word_vectors(self.word_vectors, words.display_terms.to_list())
                known = int(vectors.any(axis=1).sum())
                self.stats_["word_vectors"] = {
                    "dim": vectors.shape[1],
                    "file_words": file_words,
                    "words": len(words.terms),
                    "words_with_vector": known,
                }
            else:
                vectors = learn_word_vectors(queries, texts, graph.clicks, self.dim, self.seed)
        self.terms_, self.vectors_ = words.terms, vectors
        self.docs_ = self._with_vectors(texts)

    def _score(self, query: Query, docs: NDArray[np.int32]) -> NDArray[np.float32]:
        """Solve the transport problem of each document."""
        words, asked = self._count_words(query)
        scores = np.zeros(len(docs), np.float32)
        if len(words):
            for first in range(0, len(docs), _BLOCK):
                block = self.docs_.take_checked(docs[first : first + _BLOCK], "the documents' words")
                used, columns = np.unique(block.indices, return_inverse=True)
                costs = distances(self.vectors_, words, used)
                counts = np.clip(block.data, 1, _MAX_COUNT).astype(np.int64)
                moved = mover_distances(block.indptr, columns, counts, costs, asked)
                scores[first : first + _BLOCK] = 1 / (1 + moved)
        return scores

    def _search(self, queries: Sequence[Query], k: int, mask: DocMask) -> TopK:
        """Solve the documents that the relaxed bound does not exclude; results are exact."""
        rows, scores = padded(len(queries), k)
        for i, query in enumerate(queries):
            bounds = self._upper_bounds(query)
            if mask is not None:
                bounds[mask == 0] = 0
            best, values = self._best(query, bounds, k)
            rows[i, : len(best)], scores[i, : len(best)] = best, values
        return rows, scores

    def _upper_bounds(self, query: Query) -> NDArray[np.float64]:
        """Upper bounds of the scores of all documents, from the relaxed problem."""
        words, _ = self._count_words(query)
        if not len(words):
            return np.zeros(self.docs_.rows)
        closest = np.full(len(self.vectors_), -1, np.float32)
        for word in words:
            np.maximum(closest, self.vectors_ @ self.vectors_[word], out=closest)
        nearest = np.sqrt(np.maximum(2 - 2 * closest - np.float32(_DOT_ERROR), 0))
        return 1 / (1 + relaxed_costs(self.docs_.indptr, self.docs_.indices, self.docs_.data, nearest))

    def _best(
        self, query: Query, bounds: NDArray[np.float64], k: int
    ) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
        """The k best documents: solve by descending bound until no bound reaches the k-th score."""
        order = np.argsort(-bounds, kind="stable")[: np.count_nonzero(bounds)].astype(np.int32)
        scores = np.zeros(len(bounds), np.float32)
        first, size = 0, k
        while first < len(order):
            kth = np.partition(scores, len(scores) - k)[len(scores) - k]
            if bounds[order[first]] < kth - _SLACK:
                break
            batch = order[first : first + size]
            scores[batch] = self._score(query, batch)
            first, size = first + len(batch), 2 * size
        return top_rows(scores, k)

    def _known_text(self, query: Query) -> float:
        """Return the share of known words, with or without an embedding."""
        return known_share(query, self._analyzer, self.terms_)

    def _count_words(self, query: Query) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """The words of the query that have an embedding, with their counts."""
        tokens = lookup_query_terms([query], self._analyzer, self.terms_)
        words, counts = self._with_vectors(count_terms(tokens, len(self.terms_))).row(0)
        return words, counts.astype(np.int64)

    def _with_vectors(self, counts: Csr) -> Csr:
        """The counts without the words that have no embedding."""
        known = self.vectors_[counts.indices].any(axis=1)
        return counts.with_data(np.where(known, counts.data, 0)).positive()
