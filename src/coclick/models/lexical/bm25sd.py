"""`bm25sd`: BM25 with sequential dependence, of words and of words standing together (paper 003 §4.2).

The sum over words, ordered and unordered pairs is that of `_proximity`, with the documents' content
as the only field.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from coclick.graph.click_graph import ClickGraph
from coclick.models.base import register
from coclick.models.lexical._proximity import WindowModel
from coclick.models.lexical._windows import WindowIndex
from coclick.progress import Progress
from coclick.text.term_matrix import choose_fields


@register
@dataclass
class BM25SD(WindowModel):
    """Documents by the query's words, and by its neighbouring words near each other."""

    name = "bm25sd"
    summary = "lexical: BM25 of words and of pairs of words that stand together"

    def learn(self, graph: ClickGraph, progress: Progress) -> None:
        """Index where words stand in the chosen fields."""
        chosen = choose_fields(graph.texts, self.fields)
        with progress("words"):
            self.content_ = WindowIndex.of_fields(
                {name: graph.texts[name] for name in chosen}, self._analyzer
            )

    def weighted_fields(self) -> Iterator[tuple[str, float, WindowIndex]]:
        """The content alone."""
        yield "content", 1.0, self.content_
