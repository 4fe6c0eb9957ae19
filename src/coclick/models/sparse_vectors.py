"""`VectorModel`: what follows, for search, similar, expand, explain and add, from having sparse vectors.

A subclass learns `terms_`, `surfaces_`, `doc_index_` and, if it can find similar queries, `query_index_`, and
says how texts become vectors. Scores are dot products of vectors, cosines where those have unit length.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from coclick.arrays.csr import Csr, vstack
from coclick.arrays.strings import Strings, Vocab
from coclick.index.sparse import VectorIndex
from coclick.models.base import DocMask, Model, TopK, as_list
from coclick.models.provenance import NoProvenance, Provenance
from coclick.results import ClickEvidence, Contribution, Explanation, Run, Word, without_itself
from coclick.text.analyzer import normalise
from coclick.text.term_ids import stable_term_ids


class VectorModel(Model):
    """A model whose queries and documents are sparse vectors over one vocabulary of terms."""

    can_expand = True
    can_explain = True
    can_export = True

    terms_: Vocab
    display_terms_: Strings  # for each term its commonest surface form, for people
    doc_index_: VectorIndex
    query_index_: VectorIndex | None

    # -- for the models to write -----------------------------------------------------------------------

    def embed_queries(self, queries: Sequence[str]) -> Csr:
        """One vector a normalised query."""
        raise NotImplementedError  # abstract

    def embed_docs(self, texts: Mapping[str, Strings]) -> Csr:
        """Vectors of documents that are not in the graph, from their fields."""
        raise NotImplementedError  # abstract

    def _query_provenance(self, query: str) -> Provenance:
        """Where the words of a normalised query's vector come from."""
        return NoProvenance()

    def _doc_provenance(self, doc: int) -> Provenance:
        """Where the words of a document's vector come from."""
        return NoProvenance()

    # -- what follows ----------------------------------------------------------------------------------

    @cached_property
    def term_numbers(self) -> NDArray[np.int64]:
        """For each term the number of its surface form: see `coclick.text.term_ids`."""
        return stable_term_ids(self.display_terms_.to_list())

    def _score(self, query: str, docs: NDArray[np.int32]) -> NDArray[np.float32]:
        """Dot products."""
        return self.doc_index_.score(self.embed_queries([query]), docs)

    def _score_texts(self, query: str, texts: Mapping[str, Strings]) -> NDArray[np.float32]:
        """Dot products with vectors that are made of the texts."""
        vectors = self.embed_docs(texts)
        return self.doc_index_.score_others(self.embed_queries([query]), vectors)

    def _score_all(self, query: str) -> NDArray[np.float32]:
        """Dot products, through the index."""
        return self.doc_index_.score_all(self.embed_queries([query]))

    def _search(self, queries: Sequence[str], k: int, allowed: DocMask) -> TopK:
        """Exact, through the index."""
        return self.doc_index_.search(self.embed_queries(queries), k, allowed)

    def similar_queries(self, queries: str | Sequence[str], k: int = 10) -> Run:
        """Exact, through the index."""
        texts = [normalise(query) for query in as_list(queries)]
        if not self.can_similar or self.query_index_ is None:
            self._cannot("find similar queries", "can_similar")
        k = self._clip(k, len(self.trained_on.queries))
        rows = self.graph_.queries.lookup(texts)
        return self._similar(self.query_index_, self.embed_queries(texts), rows, k, self.graph_.queries)

    def similar_docs(self, docs: str | Sequence[str], k: int = 10) -> Run:
        """Exact, through the index."""
        names = as_list(docs)
        if not self.can_similar:
            self._cannot("find similar documents", "can_similar")
        rows = self.rows_of_docs(names)
        k = self._clip(k, len(self.graph_.docs))
        return self._similar(self.doc_index_, self.doc_index_.vectors.take(rows), rows, k, self.graph_.docs)

    def expand(self, query: str) -> list[tuple[str, float]]:
        """The words of the query's vector, heaviest first."""
        terms, weights = self._embed_query(query)
        order = np.argsort(-weights, kind="stable")
        return [(self.display_terms_[int(terms[i])], float(weights[i])) for i in order]

    def explain(self, query: str, doc: str, clicks: int | None = 10) -> Explanation:
        """The shared words, what each contributes, and the clicks behind it on both sides."""
        row = int(self.rows_of_docs([doc])[0])
        text = normalise(query)
        q_terms, q_weights = self._embed_query(query)
        d_terms, d_weights = self.doc_index_.vectors.row(row)
        shared, in_query, in_doc = np.intersect1d(q_terms, d_terms, assume_unique=True, return_indices=True)
        values = q_weights[in_query].astype(np.float64) * d_weights[in_doc]
        origins = self._query_provenance(text), self._doc_provenance(row)
        words, parts = [], []
        for i in np.argsort(-values, kind="stable"):
            term, value = int(shared[i]), float(values[i])
            behind_query, behind_doc = (origin.clicks(term, clicks) for origin in origins)
            label = self.display_terms_[term]
            weights = float(q_weights[in_query[i]]), float(d_weights[in_doc[i]])
            words.append(Word(label, *weights, value, *behind_doc, *behind_query))
            parts.append(
                Contribution("word", label, value, *behind_doc, _unit_parts(origins, term, value, clicks))
            )
        score = float(self._score(text, np.array([row], np.int32))[0])
        return Explanation(query, doc, score, parts, words)

    def _count_unreachable(self, added: int) -> int:
        """Those with empty vectors."""
        vectors = self.doc_index_.vectors
        return int((vectors.row_nnz()[vectors.rows - added :] == 0).sum())

    def _add(self, texts: Mapping[str, Strings]) -> None:
        """New documents get vectors from their texts."""
        self.doc_index_ = VectorIndex.build(vstack(self.doc_index_.vectors, self.embed_docs(texts)))

    # -- inside ----------------------------------------------------------------------------------------

    def _embed_query(self, query: str) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
        return self.embed_queries([normalise(query)]).row(0)

    def _similar(self, index: VectorIndex, vectors: Csr, own: NDArray[np.int32], k: int, names: Vocab) -> Run:
        """The nearest rows without the row itself, for which one more is fetched."""
        rows, scores = index.search(vectors, min(k + 1, len(names)))
        return Run(*without_itself(rows, scores, own, k), names)


def _unit_parts(
    origins: tuple[Provenance, Provenance], term: int, value: float, clicks: int | None
) -> list[Contribution]:
    """A word's value split by the query's units and, inside each, by the document's."""
    query_units, doc_units = (origin.units(term, clicks) for origin in origins)

    def doc_parts(of: float) -> list[Contribution]:
        return [Contribution("document unit", label, of * part, *behind) for label, part, behind in doc_units]

    def query_part(label: str, part: float, behind: ClickEvidence) -> Contribution:
        return Contribution("query unit", label, value * part, *behind, doc_parts(value * part))

    return [query_part(*unit) for unit in query_units] if query_units else doc_parts(value)
