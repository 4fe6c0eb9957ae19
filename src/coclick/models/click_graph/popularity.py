"""`popularity`: the most clicked documents, the same for every query; the simplest baseline."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from coclick.graph.click_graph import ClickGraph
from coclick.models.base import DocMask, Model, TopK
from coclick.models.registry import register
from coclick.progress import Progress
from coclick.results import padded, top_rows
from coclick.storage.layout import Shape
from coclick.text.query import Query


@register
@dataclass
class Popularity(Model):
    """Score a document by its clicks over all queries."""

    name = "popularity"
    summary = "the most clicked documents, the same for every query"
    uses_query = False
    capabilities = frozenset({"unseen_queries"})

    clicks_: Annotated[NDArray[np.float32], Shape("docs")] = field(init=False)

    def _fit(self, graph: ClickGraph, progress: Progress) -> None:
        """Add up the clicks of each document."""
        self.clicks_ = graph.clicks_by_doc.row_sums().astype(np.float32)

    def _score(self, query: Query, docs: NDArray[np.int32]) -> NDArray[np.float32]:
        """Return the clicks of the documents."""
        return self.clicks_[docs]

    def _search(self, queries: Sequence[Query], k: int, mask: DocMask) -> TopK:
        """Return the first documents of the only ranking."""
        ranking = self._ranking if mask is None else self._ranking[mask[self._ranking] > 0]
        rows, scores = padded(len(queries), k)
        rows[:, : len(ranking)], scores[:, : len(ranking)] = ranking[:k], self.clicks_[ranking[:k]]
        return rows, scores

    @cached_property
    def _ranking(self) -> NDArray[np.int32]:
        """All documents with clicks, by clicks and then by row."""
        return top_rows(self.clicks_, len(self.clicks_))[0]
