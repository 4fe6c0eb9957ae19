"""`popularity`: the most clicked documents, the same for every query; the simplest baseline."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from coclick.graph.click_graph import ClickGraph
from coclick.models.base import Model
from coclick.models.registry import register
from coclick.progress import Progress
from coclick.text.query import Query


@register
@dataclass
class Popularity(Model):
    """Score a document by its clicks over all queries."""

    name = "popularity"
    summary = "the most clicked documents, the same for every query"
    uses_query = False
    capabilities = frozenset({"unseen_queries"})

    def _fit(self, graph: ClickGraph, progress: Progress) -> None:
        """Add up the clicks of each document."""
        self.clicks_ = graph.clicks_by_doc.row_sums().astype(np.float32)

    def _score(self, query: Query, docs: NDArray[np.int32]) -> NDArray[np.float32]:
        """Return the clicks of the documents."""
        return self.clicks_[docs]
