"""The click evidence of pairs of a query feature and a document feature, and the weights of clicked pairs.

Bilinear models are fitted to M = Σ w · y xᵀ over the clicked pairs, with x the features of the query, y those
of the document and w the weight of the pair. The entry of two features is a sum over the pairs whose query
has one and whose document has the other, and each pair has an exact share of it.
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

Weight = Literal["log1p", "log", "clicks", "degree", "mean", "one"]


def weight_clicks(clicks: Csr, weight: Weight) -> Csr:
    """Return the weights of clicked pairs.

    `log1p`: ln(1 + clicks); `log`: ln clicks (Wu, Li & Xu 2013); `clicks`: clicks; `degree`: clicks divided
    by the number of documents clicked for the query; `mean`: these divided by the number of queries with
    clicks, so that a sum is a mean over queries of means over documents (Wu, Lu & Li 2013, Eq. 2); `one`: 1
    (Gao et al. 2011).
    """
    if weight == "log1p":
        return clicks.with_data(np.log1p(clicks.data))
    if weight == "log":
        weighted = clicks.with_data(np.log(clicks.data)).positive()
        if not weighted.nnz:
            raise UserError(
                "no pair has more than one click, and with weight=log one click has no weight",
                hint="weight=log1p",
            )
        return weighted
    if weight in ("degree", "mean"):
        counts = clicks.row_nnz()
        queries = np.count_nonzero(counts) if weight == "mean" else 1
        divisors: NDArray[np.float32] = np.repeat(counts, counts).astype(np.float32) * np.float32(queries)
        return clicks.with_data(clicks.data / divisors)
    if weight == "one":
        return clicks.with_data(np.ones(clicks.nnz, np.float32))
    return clicks


@dataclass(frozen=True)
class FeaturePairEvidence:
    """Find the clicked pairs that associate a query feature with a document feature."""

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

    def clicks(self, query_feature: int, doc_feature: int, max_clicks: int | None) -> ClickEvidence:
        """Return the pairs that have both features, largest share first; all shares sum to 1."""
        queries, in_query = self._queries_with.row(query_feature)
        docs, in_doc = self._docs_with.row(doc_feature)
        pairs = self.edges.take(queries)
        query_of = np.repeat(np.arange(len(queries)), pairs.row_nnz())
        place = np.minimum(np.searchsorted(docs, pairs.indices), max(len(docs) - 1, 0))
        both = np.flatnonzero(docs[place] == pairs.indices) if len(docs) else np.empty(0, np.int64)
        strength = pairs.data[both].astype(np.float64) * in_query[query_of[both]] * in_doc[place[both]]
        order = np.argsort(-strength, kind="stable")[:max_clicks]
        total = max(float(strength.sum()), 1e-300)
        shown = [
            self._click(int(queries[query_of[both[i]]]), int(pairs.indices[both[i]]), strength[i] / total)
            for i in order
        ]
        return ClickEvidence(shown, len(both))

    def _click(self, query: int, doc: int, share: np.float64) -> Click:
        docs, counts = self.graph.clicks.row(query)
        clicks = float(counts[np.searchsorted(docs, doc)])
        return Click(self.graph.queries[query], self.graph.docs[doc], clicks, float(share))


def effective_rank(values: NDArray[np.floating]) -> float:
    """Return e to the entropy of the values as shares: the effective rank (Roy & Vetterli 2007)."""
    shares = values[values > 0] / max(float(values.sum()), 1e-300)
    return float(np.exp(-np.sum(shares * np.log(shares))))
