"""`bm25sd`: BM25 with sequential dependence; `bm25sd_mult`: the same over several fields.

Both are from Jiang et al. 2016 §4.2. `_proximity` has the sum over words, ordered and unordered pairs;
`bm25sd` has one field, the content of the documents.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray

from coclick.arrays.csr import Csr
from coclick.errors import corrupt_error
from coclick.graph.click_graph import ClickGraph
from coclick.models.base import TopK
from coclick.models.document_expansion import ExpansionWords, top_of_sparse
from coclick.models.lexical._proximity import WindowIndex, WindowModel
from coclick.models.presets import Preset
from coclick.models.registry import register
from coclick.models.spec import Range
from coclick.progress import Progress
from coclick.storage.layout import Shape
from coclick.text.term_matrix import TermMatrix, choose_fields

PRESETS = {
    "jiang2016": Preset(
        "Jiang et al. 2016",
        stem=(False, "no word of Tables 3, 4 and 6 is stemmed"),
        remove_stop_words=(False, "Table 6 has units of stop words"),
        tokenizer=("words", "words are not split into pieces"),
    )
}


@register
@dataclass
class BM25SD(WindowModel):
    """Score documents by the words of the query, and by pairs of its adjacent words."""

    name = "bm25sd"
    summary = "lexical: BM25 over words and pairs of adjacent words"
    uses_clicks = False
    presets = PRESETS

    content_: Annotated[WindowIndex, Shape("docs")] = field(init=False)

    def _fit(self, graph: ClickGraph, progress: Progress) -> None:
        """Index the positions of words in the chosen fields."""
        chosen = choose_fields(graph.texts, self.fields)
        with progress("words"):
            self.content_ = WindowIndex.from_fields(
                {name: graph.texts[name] for name in chosen}, self._analyzer
            )

    def _weighted_fields(self) -> Iterator[tuple[str, float, WindowIndex]]:
        """Yield the content alone."""
        yield "content", 1.0, self.content_


ANCHOR = "anchor"


@register
@dataclass
class BM25SDMult(WindowModel):
    """Score documents by a weighted sum of `bm25sd` over content, anchor texts and clicked queries.

    Anchor texts are the text field `anchor`, if the graph has one. Clicked queries are the queries for which
    a document was clicked, each weighted by log(1 + clicks). `fields` are those of the content.
    """

    name = "bm25sd_mult"
    summary = "bm25sd over content, anchor texts and clicked queries"
    presets = PRESETS

    capabilities = WindowModel.capabilities | {"expand_docs"}

    content_weight: Annotated[float, Range(0)] = 1.0
    anchor_weight: Annotated[float, Range(0)] = 1.0
    query_weight: Annotated[float, Range(0)] = 2.0
    idf_docs: Literal["all", "field"] = "all"  # documents that idf counts: of the field only, as Lucene does

    content_: Annotated[WindowIndex, Shape("docs")] = field(init=False)
    anchor_: Annotated[WindowIndex | None, Shape("docs")] = field(init=False)
    clicked_: Annotated[WindowIndex, Shape("docs")] = field(init=False)

    def _fit(self, graph: ClickGraph, progress: Progress) -> None:
        """Index the positions of words in each field."""
        chosen = choose_fields(graph.texts, self.fields)
        if self.fields == "all" and len(chosen) > 1:
            chosen = [name for name in chosen if name != ANCHOR]
        with progress("words"):
            content = {name: graph.texts[name] for name in chosen}
            self.content_ = WindowIndex.from_fields(content, self._analyzer)
            self.anchor_ = None
            if ANCHOR in graph.texts:
                self.anchor_ = WindowIndex.from_fields({ANCHOR: graph.texts[ANCHOR]}, self._analyzer)
        with progress("clicked queries"):
            self.clicked_ = WindowIndex.from_clicked_queries(
                graph.queries, graph.clicks_by_doc, self._analyzer
            )

    @cached_property
    def _expansion_words(self) -> ExpansionWords:
        """The words of clicked queries."""
        words = TermMatrix.fit(self.graph_.queries, self._analyzer)
        if words.terms.digest != self.clicked_.terms.digest:  # terms of the index have no names then
            raise corrupt_error("the queries of the model, or the index of their words, are")
        return ExpansionWords(self._analyzer, words.terms, words.display_terms)

    @cached_property
    def _clicked_words(self) -> Csr:
        """BM25 of each word in the clicked queries of each document."""
        weights = self.clicked_.word_weights(self.k1, self.b, self._n_docs(self.clicked_))
        return weights.with_data(np.float32(self.query_weight * self.word_weight) * weights.data)

    def _n_docs(self, index: WindowIndex) -> int:
        """Return the number of all documents, or of those that have the field."""
        return index.n_filled if self.idf_docs == "field" else super()._n_docs(index)

    def _expand_docs(self, docs: NDArray[np.int32], excluded: Csr, k: int) -> TopK:
        """Find the words of clicked queries that add most to the score."""
        return top_of_sparse(self._clicked_words.take(docs), excluded, k)

    def _weighted_fields(self) -> Iterator[tuple[str, float, WindowIndex]]:
        """Yield content, anchor texts if there are any, and clicked queries."""
        yield "content", self.content_weight, self.content_
        if self.anchor_ is not None:
            yield "anchor", self.anchor_weight, self.anchor_
        yield "clicked queries", self.query_weight, self.clicked_
