"""How well maps of features rank clicks that they were not learned from."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from coclick.arrays.csr import Csr
from coclick.kernels.sparse_products import times_sparse

_MOST = 1000  # pairs: all of their documents are ranked for all of their queries


@dataclass(frozen=True)
class HeldOut:
    """A sample of held-out pairs: each document is ranked among those of all pairs."""

    queries: Csr  # features, a row for each pair
    docs: Csr  # features of the distinct documents
    wanted: NDArray[np.intp]  # for each pair its place among the documents
    known: NDArray[np.bool_]  # pairs × documents: clicks that the maps were learned from

    @classmethod
    def sample(cls, queries: Csr, docs: Csr, held_out: Csr, learned: Csr, seed: int) -> HeldOut:
        """From the features of all queries and documents, and the clicks held out and learned from."""
        chosen = np.sort(np.random.default_rng(seed).permutation(held_out.nnz)[:_MOST])
        asked = np.searchsorted(held_out.indptr, chosen, side="right") - 1
        candidates, wanted = np.unique(held_out.indices[chosen], return_inverse=True)
        known = np.zeros((len(chosen), len(candidates)), bool)
        for pair, query in enumerate(asked):
            known[pair] = np.isin(candidates, learned.row(int(query))[0])
        return cls(queries.take(asked), docs.take(candidates), wanted, known)

    def ndcg(self, query_map: Csr, doc_map: Csr) -> float:
        """The mean of 1 / log2(1 + rank); among equal scores the middle rank counts."""
        scores = times_sparse(self.queries, query_map) @ times_sparse(self.docs, doc_map).T
        scores = np.where(self.known, -1, np.maximum(scores, 0))  # negative ones are not found
        own = scores[np.arange(len(scores)), self.wanted][:, None]
        ranks = 0.5 + (scores > own).sum(1) + 0.5 * (scores == own).sum(1)
        return float(np.mean(1 / np.log2(1 + ranks)))
