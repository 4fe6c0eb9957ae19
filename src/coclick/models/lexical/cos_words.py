"""`cos_words`: cosine of TF-IDF vectors of words (Cos_W; Wu, Li & Xu 2013 §5.1–5.2).

    weight(t) = tf · ln(1 + N / n_t)          similarity(a, b) = cos(a, b)

with tf the count c of the word, or 1 + ln c (`tf=log`). As in the paper, each side has its own idf: in the
vector of a query N is the number of queries and n_t the number of those that contain the word, in the vector
of a document both count documents. A word that only the other side contains has n_t = 1.

Unlike in `vsm`, vectors of queries include words that no document contains, because two queries may share
them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray

from coclick.arrays.csr import Csr
from coclick.graph.click_graph import ClickGraph
from coclick.index.sparse import VectorIndex
from coclick.models.lexical._base import LexicalModel
from coclick.models.presets import Preset
from coclick.models.registry import register
from coclick.progress import Progress
from coclick.storage.layout import Shape
from coclick.text.term_matrix import (
    TermMatrix,
    choose_fields,
    inverse_frequency,
    tf_idf,
)


@register
@dataclass
class CosWords(LexicalModel):
    """Queries and documents as TF-IDF vectors over the words of both."""

    name = "cos_words"
    summary = "lexical: cosine of TF-IDF vectors, also between two queries or two documents"
    capabilities = LexicalModel.capabilities | {"similar"}
    uses_clicks = True  # the words of queries
    presets = {
        "wu2013b": Preset(
            "Wu, Li & Xu 2013",
            stem=(True, "§5.1: words were stemmed"),
            remove_stop_words=(True, "§5.1: stop words were removed"),
            tokenizer=("words", "words are not split into pieces"),
        )
    }

    remove_stop_words: bool = True
    tf: Literal["log", "count"] = "log"

    fields_: list[str] = field(init=False)
    query_idf_: Annotated[NDArray[np.float32], Shape("terms")] = field(init=False)
    doc_idf_: Annotated[NDArray[np.float32], Shape("terms")] = field(init=False)

    def _fit(self, graph: ClickGraph, progress: Progress) -> None:
        """Count the words of both sides and index their TF-IDF vectors."""
        self.fields_ = choose_fields(graph.texts, self.fields)
        with progress("words"):
            words = TermMatrix.fit_collection(graph.queries, graph.texts, self.fields_, self._analyzer)
            counts = words.counts()
        self.terms_, self.display_terms_ = words.terms, words.display_terms
        queries = counts.take(np.arange(len(graph.queries)))
        docs = counts.take(np.arange(len(graph.queries), counts.rows))
        self.query_idf_, self.doc_idf_ = inverse_frequency(queries), inverse_frequency(docs)
        with progress("index"):
            self.query_index_ = VectorIndex.build(self._weight_queries(queries))
            self.doc_index_ = VectorIndex.build(self._weight_docs(docs))

    def _weight_queries(self, counts: Csr) -> Csr:
        """Return TF-IDF vectors with the idf of queries."""
        return tf_idf(counts, self.query_idf_, self.tf)

    def _weight_docs(self, counts: Csr) -> Csr:
        """Return TF-IDF vectors with the idf of documents."""
        return tf_idf(counts, self.doc_idf_, self.tf)
