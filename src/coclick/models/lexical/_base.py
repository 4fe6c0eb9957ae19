"""`LexicalModel`: documents as weighted bags of words, scored by the words of the query.

A subclass implements the term weights. Tokenisation, vectors of queries and of added documents, search and
explanation are the same for all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from coclick.arrays.csr import Csr
from coclick.arrays.strings import Strings
from coclick.graph.click_graph import ClickGraph
from coclick.index.sparse import VectorIndex
from coclick.models.sparse_vectors import SparseVectorModel
from coclick.progress import Progress
from coclick.text.analyzer import Tokenizer
from coclick.text.query import Query, known_share, lookup_query_terms
from coclick.text.term_matrix import TermMatrix, choose_fields, count_terms, joined_fields


@dataclass
class LexicalModel(SparseVectorModel):
    """A model of term weights; the vocabulary is that of the documents."""

    requires = ("texts",)
    uses_clicks = False
    capabilities = SparseVectorModel.capabilities | {"unseen_queries", "unseen_docs", "add"}

    fields: str = "all"  # of documents: "all", or names joined with +
    language: str = "auto"
    stem: bool = True
    remove_stop_words: bool = False
    tokenizer: Tokenizer = "pieces"

    fields_: list[str] = field(init=False)

    # -- hooks for subclasses --------------------------------------------------------------------------

    def _fit_weights(self, counts: Csr) -> None:
        """Learn collection statistics, such as idf, from the term counts of all documents."""
        raise NotImplementedError  # abstract

    def _weight_docs(self, counts: Csr) -> Csr:
        """Return vectors of documents from their term counts."""
        raise NotImplementedError  # abstract

    def _weight_queries(self, counts: Csr) -> Csr:
        """Return vectors of queries from their counts of known terms."""
        return counts

    # -- implemented with the hooks --------------------------------------------------------------------

    def _fit(self, graph: ClickGraph, progress: Progress) -> None:
        """Count the terms of the documents and index their weights."""
        self.fields_ = choose_fields(graph.texts, self.fields)
        with progress("words"):
            words = TermMatrix.fit_collection(None, graph.texts, self.fields_, self._analyzer)
            counts = words.counts()
        self.terms_, self.display_terms_ = words.terms, words.display_terms
        self.query_index_ = None
        self._fit_weights(counts)
        with progress("index"):
            self.doc_index_ = VectorIndex.build(self._weight_docs(counts))

    def _embed_queries(self, queries: Sequence[Query]) -> Csr:
        """Return vectors over the terms that occur in documents."""
        tokens = lookup_query_terms(queries, self._analyzer, self.terms_)
        return self._weight_queries(count_terms(tokens, len(self.terms_)))

    def _known_text(self, query: Query) -> float:
        """Return the share of known words."""
        return known_share(query, self._analyzer, self.terms_)

    def _embed_docs(self, texts: Mapping[str, Strings]) -> Csr:
        """Return vectors over the terms that were known at training time."""
        rows = len(next(iter(texts.values())))
        known = {name: texts.get(name) or Strings.from_list([""] * rows) for name in self.fields_}
        tokens = self._analyzer.lookup_terms(list(joined_fields(known, self.fields_)), self.terms_)
        return self._weight_docs(count_terms(tokens, len(self.terms_)))
