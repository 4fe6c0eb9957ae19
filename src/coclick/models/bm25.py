"""`bm25`: the lexical baseline (Robertson & Walker 1994; paper 003 §4.2, its word part).

    score(q, d) = Σ_{t ∈ q} idf(t) · tf · (k₁ + 1) / (tf + k₁ (1 − b + b |d| / avg))
    idf(t)      = ln(1 + (N − df + ½) / (df + ½))

The document's part of each summand is its vector, the query's counts are the query's: a dot product.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from coclick.graph import ClickGraph
from coclick.index import VectorIndex
from coclick.model import register
from coclick.progress import Progress
from coclick.sparse import Csr
from coclick.spec import Range
from coclick.strings import Strings
from coclick.text import Analyzer
from coclick.vectors import VectorModel
from coclick.views import Words, choose_fields, count_terms, joined_fields


@register
@dataclass
class BM25(VectorModel):
    """Documents by the words they share with the query. `fields`: "all" or names joined with +."""

    name = "bm25"
    summary = "lexical: the words that query and document share"
    unseen_queries = True
    unseen_docs = True
    can_add = True

    k1: Annotated[float, Range(0)] = 1.2
    b: Annotated[float, Range(0, 1)] = 0.75
    fields: str = "all"
    language: str = "english"
    stem: bool = True
    stop_words: bool = False

    def learn(self, graph: ClickGraph, progress: Progress) -> None:
        """Count words and weigh them."""
        self.fields_ = choose_fields(graph.texts, self.fields)
        with progress("words"):
            words = Words.of(joined_fields(graph.texts, self.fields_), self._analyzer)
        counts = words.counts()
        self.terms_, self.surfaces_ = words.terms, words.surfaces
        self.query_index_ = None
        frequency = np.bincount(counts.indices, minlength=counts.columns)
        self.idf_ = np.log1p((counts.rows - frequency + 0.5) / (frequency + 0.5)).astype(np.float32)
        self.average_ = float(counts.data.sum(dtype=np.float64) / max(counts.rows, 1)) or 1.0
        self.doc_index_ = VectorIndex.build(self._weigh(counts))

    @property
    def _analyzer(self) -> Analyzer:
        return Analyzer(self.language, self.stem, self.stop_words)

    def _weigh(self, counts: Csr) -> Csr:
        length = np.repeat(counts.row_sums() / self.average_, counts.lengths())
        saturation = counts.data + self.k1 * (1 - self.b + self.b * length)
        weights = self.idf_[counts.indices] * counts.data * (self.k1 + 1) / saturation
        return counts.with_data(weights.astype(np.float32))

    def embed_queries(self, queries: Sequence[str]) -> Csr:
        """How often each known word occurs in the query."""
        return count_terms(self._analyzer.look_up(queries, self.terms_), len(self.terms_))

    def embed_docs(self, texts: Mapping[str, Strings]) -> Csr:
        """New documents, weighed with the collection's statistics at training time."""
        rows = len(next(iter(texts.values())))
        known = {name: texts.get(name) or Strings.from_list([""] * rows) for name in self.fields_}
        tokens = self._analyzer.look_up(list(joined_fields(known, self.fields_)), self.terms_)
        return self._weigh(count_terms(tokens, len(self.terms_)))
