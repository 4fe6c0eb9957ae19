"""`logged`: the ranking of the engine that wrote the log, the baseline that other models must beat.

    score(q, d) = Σ_pos shown(q, d, pos) / log₂(1 + pos) / page views of q

This is the average discount of the document per page view. The page views of a query are taken as the
impressions of its most shown document.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

import numpy as np

from coclick.arrays.csr import Csr
from coclick.arrays.sparse_vector import SparseVector
from coclick.graph.click_graph import ClickGraph
from coclick.models.click_graph._base import CandidateModel
from coclick.models.registry import register
from coclick.progress import Progress
from coclick.storage.layout import Shape
from coclick.text.query import Query


@register
@dataclass
class Logged(CandidateModel):
    """Score documents by how high and how often they were shown."""

    name = "logged"
    summary = "documents of a seen query in the order in which the engine showed them"
    requires = ("days", "impressions", "positions")

    discounts_: Annotated[Csr, Shape("queries", "docs")] = field(init=False)

    def _fit(self, graph: ClickGraph, progress: Progress) -> None:
        """Compute the average discount of every pair that was shown."""
        pairs, daily = graph.pairs, graph.daily
        assert pairs is not None and daily is not None
        assert daily.position_indptr is not None and daily.position is not None and daily.shown is not None
        pair_of_day = np.repeat(np.arange(len(pairs.docs)), np.diff(daily.indptr))
        pair_of_shown = np.repeat(pair_of_day, np.diff(daily.position_indptr))
        known = daily.position > 0
        discounts = daily.shown[known] / np.log2(1.0 + daily.position[known])
        totals = np.bincount(pair_of_shown[known], discounts, len(pairs.docs))
        impressions = np.bincount(pair_of_day, daily.impressions, len(pairs.docs))
        query_of_pair = np.repeat(np.arange(len(graph.queries)), np.diff(pairs.indptr))
        views = np.ones(len(graph.queries))
        np.maximum.at(views, query_of_pair, impressions)
        averages = (totals / views[query_of_pair]).astype(np.float32)
        self.discounts_ = Csr(pairs.indptr, pairs.docs, averages, len(graph.docs)).positive()

    def _list_docs(self, query: Query) -> SparseVector:
        """List the documents that were shown for the query."""
        found = self.discounts_.take(np.array([query.row]))
        return SparseVector(found.indices, found.data.astype(np.float64))
