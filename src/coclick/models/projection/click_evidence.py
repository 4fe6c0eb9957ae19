"""Which clicks tell that a feature of queries goes with a feature of documents.

Bilinear models are fitted to M = Σ w · y xᵀ over the clicked pairs, with x the features of the query, y those
of the document and w the weight of the pair. So the entry of two features is a sum over the pairs whose query
has the one and whose document has the other, and each pair has an exact share of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from coclick.arrays.csr import Csr
from coclick.errors import UserError
from coclick.graph.click_graph import ClickGraph
from coclick.results import Click, ClickEvidence

Weight = Literal["log1p", "log", "clicks", "degree"]


def weigh(clicks: Csr, weight: Weight) -> Csr:
    """The weights of clicked pairs: ln(1 + clicks), ln clicks (paper 000), clicks, or clicks divided by the
    number of the query's documents (`degree`, paper 002)."""
    if weight == "log1p":
        return clicks.with_data(np.log1p(clicks.data))
    if weight == "log":
        weighted = clicks.with_data(np.log(clicks.data)).positive()
        if not weighted.nnz:
            raise UserError(
                "no pair has more than one click, and weight=log counts one click as nothing",
                hint="weight=log1p",
            )
        return weighted
    if weight == "degree":
        degrees = np.repeat(clicks.row_nnz(), clicks.row_nnz()).astype(np.float32)
        return clicks.with_data(clicks.data / degrees)
    return clicks


@dataclass(frozen=True)
class Associations:
    """The pairs that a model was fitted to, by their features."""

    graph: ClickGraph
    edges: Csr  # weights of clicked pairs
    queries: Csr  # features
    docs: Csr

    @cached_property
    def _queries_with(self) -> Csr:
        return self.queries.transpose()

    @cached_property
    def _docs_with(self) -> Csr:
        return self.docs.transpose()

    def behind(self, query_feature: int, doc_feature: int, most: int | None) -> ClickEvidence:
        """The pairs behind two features, largest share first; over all pairs the shares sum to 1."""
        queries, in_query = self._queries_with.row(query_feature)
        docs, in_doc = self._docs_with.row(doc_feature)
        pairs = self.edges.take(queries)
        query_of = np.repeat(np.arange(len(queries)), pairs.row_nnz())
        place = np.minimum(np.searchsorted(docs, pairs.indices), max(len(docs) - 1, 0))
        meet = np.flatnonzero(docs[place] == pairs.indices) if len(docs) else np.empty(0, np.int64)
        strength = pairs.data[meet].astype(np.float64) * in_query[query_of[meet]] * in_doc[place[meet]]
        order = np.argsort(-strength, kind="stable")[:most]
        total = max(float(strength.sum()), 1e-300)
        shown = [
            self._click(int(queries[query_of[meet[i]]]), int(pairs.indices[meet[i]]), strength[i] / total)
            for i in order
        ]
        return ClickEvidence(shown, len(meet))

    def _click(self, query: int, doc: int, share: np.float64) -> Click:
        docs, counts = self.graph.clicks.row(query)
        clicks = float(counts[np.searchsorted(docs, doc)])
        return Click(self.graph.queries[query], self.graph.docs[doc], clicks, float(share))


def effective_rank(values: NDArray[np.floating]) -> float:
    """How many dimensions carry weight: e to the entropy of the values as shares (Roy & Vetterli 2007)."""
    shares = values[values > 0] / max(float(values.sum()), 1e-300)
    return float(np.exp(-np.sum(shares * np.log(shares))))
