"""`LexicalModel`: documents as weighted bags of their own words, scored by the words of the query.

A subclass says how counts of words become weights; cutting texts, vectors of queries and of documents that
arrive later, search and explanation follow.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from coclick.arrays.csr import Csr
from coclick.arrays.strings import Strings
from coclick.graph.click_graph import ClickGraph
from coclick.index.sparse import VectorIndex
from coclick.models.sparse_vectors import VectorModel
from coclick.progress import Progress
from coclick.text.query import Query, look_up_terms
from coclick.text.term_matrix import TermMatrix, choose_fields, count_terms, joined_fields


@dataclass
class LexicalModel(VectorModel):
    """The vocabulary is that of the documents. `fields`: "all" or names joined with +."""

    requires = ("texts",)
    capabilities = VectorModel.capabilities | {"unseen_queries", "unseen_docs", "add"}

    fields: str = "all"
    language: str = "english"
    stem: bool = True
    remove_stop_words: bool = False  # true: leave them out

    # -- for the models to write -----------------------------------------------------------------------

    def observe(self, counts: Csr) -> None:
        """Learn from the counts of words in all documents what the weights depend on."""
        raise NotImplementedError  # abstract

    def weigh_docs(self, counts: Csr) -> Csr:
        """Vectors of documents from their counts of words, weighed with what was observed at training."""
        raise NotImplementedError  # abstract

    def weigh_queries(self, counts: Csr) -> Csr:
        """Vectors of queries from their counts of known words."""
        return counts

    # -- what follows ----------------------------------------------------------------------------------

    def _fit(self, graph: ClickGraph, progress: Progress) -> None:
        """Count words and weigh them."""
        self.fields_ = choose_fields(graph.texts, self.fields)
        with progress("words"):
            words = TermMatrix.fit(joined_fields(graph.texts, self.fields_), self._analyzer)
            counts = words.counts()
        self.terms_, self.display_terms_ = words.terms, words.display_terms
        self.query_index_ = None
        self.observe(counts)
        with progress("index"):
            self.doc_index_ = VectorIndex.build(self.weigh_docs(counts))

    def _embed_queries(self, queries: Sequence[Query]) -> Csr:
        """From the words that some document holds."""
        tokens = look_up_terms(queries, self._analyzer, self.terms_)
        return self.weigh_queries(count_terms(tokens, len(self.terms_)))

    def _embed_docs(self, texts: Mapping[str, Strings]) -> Csr:
        """From the words that were known at training time."""
        rows = len(next(iter(texts.values())))
        known = {name: texts.get(name) or Strings.from_list([""] * rows) for name in self.fields_}
        tokens = self._analyzer.look_up(list(joined_fields(known, self.fields_)), self.terms_)
        return self.weigh_docs(count_terms(tokens, len(self.terms_)))
