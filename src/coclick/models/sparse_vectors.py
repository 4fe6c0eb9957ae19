"""`SparseVectorModel`: sparse vectors over terms, with search, similar, expand, explain and add.

A subclass learns `terms_`, `display_terms_`, `doc_index_` and, to find similar queries, `query_index_`, and
implements how texts become vectors. Scores are dot products, or cosines if the vectors have unit length.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from coclick.arrays.csr import Csr, vstack
from coclick.arrays.strings import Strings, Vocab
from coclick.index.sparse import VectorIndex
from coclick.models.base import DocMask, TopK
from coclick.models.document_expansion import ExpansionWords, top_of_sparse
from coclick.models.provenance import NoProvenance, Provenance
from coclick.models.text_model import TextModel
from coclick.results import ClickEvidence, Contribution, Explanation, Word
from coclick.storage.layout import Shape
from coclick.text.query import Query
from coclick.text.term_ids import stable_term_ids


class SparseVectorModel(TextModel):
    """A model whose queries and documents are sparse vectors over one vocabulary of terms."""

    capabilities = frozenset({"expand", "explain", "export"})

    terms_: Annotated[Vocab, Shape("terms")]
    display_terms_: Annotated[Strings, Shape("terms")]  # for each term its most frequent written form
    doc_index_: Annotated[VectorIndex, Shape("docs", "terms")]
    query_index_: Annotated[VectorIndex | None, Shape("queries", "terms")]

    # -- hooks for subclasses --------------------------------------------------------------------------

    def _embed_queries(self, queries: Sequence[Query]) -> Csr:
        """Return one vector per query."""
        raise NotImplementedError  # abstract

    def _embed_docs(self, texts: Mapping[str, Strings]) -> Csr:
        """Return the vectors of documents that are not in the graph, from their fields."""
        raise NotImplementedError  # abstract

    def _query_provenance(self, query: Query) -> Provenance:
        """Return where the words of a query's vector come from."""
        return NoProvenance()

    def _doc_provenance(self, doc: int) -> Provenance:
        """Return where the words of a document's vector come from."""
        return NoProvenance()

    # -- vectors ---------------------------------------------------------------------------------------

    def embed_queries(self, queries: str | Sequence[str]) -> Csr:
        """Return one sparse vector per query; columns are the terms of `terms_`."""
        return self._embed_queries(self._queries(queries))

    def embed_docs(self, docs: str | Sequence[str]) -> Csr:
        """Return the vectors of documents, given by id."""
        return self.doc_index_.vectors.take(self.rows_of_docs([docs] if isinstance(docs, str) else docs))

    @cached_property
    def term_numbers(self) -> NDArray[np.int64]:
        """For each term the number of its display form: see `coclick.text.term_ids`."""
        return stable_term_ids(self.display_terms_.to_list())

    # -- implemented with the vectors ------------------------------------------------------------------

    def _score(self, query: Query, docs: NDArray[np.int32]) -> NDArray[np.float32]:
        """Return dot products."""
        return self.doc_index_.score(self._query_vectors([query]), docs)

    def _score_texts(self, query: Query, texts: Mapping[str, Strings]) -> NDArray[np.float32]:
        """Return dot products with the vectors of the texts."""
        return self.doc_index_.score_others(self._embed_queries([query]), self._embed_docs(texts))

    def _score_all(self, query: Query) -> NDArray[np.float32]:
        """Return dot products, computed by the index."""
        return self.doc_index_.score_all(self._query_vectors([query]))

    def _score_all_of(self, queries: Sequence[Query]) -> NDArray[np.float32]:
        """Return dot products of all queries with all documents."""
        index = self.doc_index_
        shape = len(index.indptr) - 1, index.vectors.rows
        postings = csr_array((index.weights, index.places, index.indptr), shape)
        scores = np.empty((len(queries), shape[1]), np.float32)
        scores[:, index.order] = (self._embed_queries(queries).to_scipy() @ postings).toarray()
        return scores

    def _search(self, queries: Sequence[Query], k: int, mask: DocMask) -> TopK:
        """Search the index; results are exact."""
        return self.doc_index_.search(self._query_vectors(queries), k, mask)

    def _query_vectors(self, queries: Sequence[Query]) -> Csr:
        """The vectors of queries. That of one query is computed once, for search and scores."""
        if len(queries) == 1:
            return queries[0].once((id(self), "vector"), lambda: self._embed_queries(queries))
        return self._embed_queries(queries)

    def _similar_queries(self, queries: Sequence[Query], k: int) -> TopK:
        """Search the index of queries; results are exact."""
        assert self.query_index_ is not None
        return self.query_index_.search(self._embed_queries(queries), k)

    def _similar_docs(self, docs: NDArray[np.int32], k: int) -> TopK:
        """Search the index of documents; results are exact."""
        return self.doc_index_.search(self.doc_index_.vectors.take(docs), k)

    def _expand(self, query: Query) -> list[tuple[str, float]]:
        """List the words of the query's vector."""
        terms, weights = self._embed_queries([query]).row(0)
        order = np.argsort(-weights, kind="stable")
        return [(self.display_terms_[int(terms[i])], float(weights[i])) for i in order]

    @property
    def _expansion_words(self) -> ExpansionWords:
        """The terms of the vectors."""
        return ExpansionWords(self._analyzer, self.terms_, self.display_terms_)

    def _expand_docs(self, docs: NDArray[np.int32], excluded: Csr, k: int) -> TopK:
        """Find the heaviest words of the documents' vectors."""
        return top_of_sparse(
            self.doc_index_.vectors.take_checked(docs, "the vectors of documents"), excluded, k
        )

    def _explain_expansion(self, doc: int, term: int, weight: float, clicks: int | None) -> Contribution:
        """Return the clicks that the weight was propagated along, or those of the units of the title."""
        sources = NoProvenance(), self._doc_provenance(doc)
        units = _unit_parts(sources, term, weight, clicks)
        return Contribution(
            "word", self.display_terms_[term], weight, *sources[1].clicks(term, clicks), units
        )

    def _explain(self, query: Query, doc: int, clicks: int | None) -> Explanation:
        """List the shared words, their contributions, and the clicks that each weight comes from."""
        q_terms, q_weights = self._embed_queries([query]).row(0)
        d_terms, d_weights = self.doc_index_.vectors.row(doc)
        shared, in_query, in_doc = np.intersect1d(q_terms, d_terms, assume_unique=True, return_indices=True)
        values = q_weights[in_query].astype(np.float64) * d_weights[in_doc]
        sources = self._query_provenance(query), self._doc_provenance(doc)
        words, parts = [], []
        for i in np.argsort(-values, kind="stable"):
            term, value = int(shared[i]), float(values[i])
            for_query, for_doc = (source.clicks(term, clicks) for source in sources)
            label = self.display_terms_[term]
            weights = float(q_weights[in_query[i]]), float(d_weights[in_doc[i]])
            words.append(Word(label, *weights, value, *for_doc, *for_query))
            units = _unit_parts(sources, term, value, clicks)
            parts.append(Contribution("word", label, value, *for_doc, units))
        score = float(self._score(query, np.array([doc], np.int32))[0])
        return Explanation(query.text, self.graph_.docs[doc], score, parts, words)

    def _count_unreachable(self, added: int) -> int:
        """Count documents with empty vectors."""
        vectors = self.doc_index_.vectors
        return int((vectors.row_nnz()[vectors.rows - added :] == 0).sum())

    def _add(self, texts: Mapping[str, Strings]) -> None:
        """Append the vectors of the texts to the index."""
        self.doc_index_ = VectorIndex.build(vstack(self.doc_index_.vectors, self._embed_docs(texts)))


def _unit_parts(
    sources: tuple[Provenance, Provenance], term: int, value: float, clicks: int | None
) -> list[Contribution]:
    """The value of a word, split by the units of the query and within each by those of the document."""
    query_units, doc_units = (source.units(term, clicks) for source in sources)

    def doc_parts(total: float) -> list[Contribution]:
        return [
            Contribution("document unit", label, total * part, *clicks) for label, part, clicks in doc_units
        ]

    def query_part(label: str, part: float, evidence: ClickEvidence) -> Contribution:
        return Contribution("query unit", label, value * part, *evidence, doc_parts(value * part))

    return [query_part(*unit) for unit in query_units] if query_units else doc_parts(value)
