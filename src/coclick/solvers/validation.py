"""Validation of feature maps: how well they rank held-out clicks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from coclick.arrays.csr import Csr
from coclick.kernels.sparse_products import times_sparse

_MAX_PAIRS = 1000  # all of their documents are ranked for all of their queries


@dataclass(frozen=True)
class ValidationSample:
    """A sample of held-out pairs: each document is ranked among the documents of all pairs."""

    queries: Csr  # features of the query of each pair
    docs: Csr  # features of the distinct documents
    target: NDArray[np.intp]  # the document of each pair, as a row of `docs`
    known: NDArray[np.bool_]  # pairs × documents: clicks of the training data

    @classmethod
    def sample(cls, queries: Csr, docs: Csr, held_out: Csr, train: Csr, seed: int) -> ValidationSample:
        """Sample held-out clicks, given the features of all queries and documents and the training clicks."""
        chosen = np.sort(np.random.default_rng(seed).permutation(held_out.nnz)[:_MAX_PAIRS])
        query_of = np.searchsorted(held_out.indptr, chosen, side="right") - 1
        candidates, target = np.unique(held_out.indices[chosen], return_inverse=True)
        known = np.zeros((len(chosen), len(candidates)), bool)
        for pair, query in enumerate(query_of):
            known[pair] = np.isin(candidates, train.row(int(query))[0])
        return cls(queries.take(query_of), docs.take(candidates), target, known)

    def ndcg(self, query_map: Csr, doc_map: Csr) -> float:
        """Return the mean of 1 / log2(1 + rank); tied documents have their mean rank."""
        scores = times_sparse(self.queries, query_map) @ times_sparse(self.docs, doc_map).T
        scores = np.where(self.known, -1, np.maximum(scores, 0))  # search does not return negative scores
        own = scores[np.arange(len(scores)), self.target][:, None]
        ranks = 0.5 + (scores > own).sum(1) + 0.5 * (scores == own).sum(1)
        return float(np.mean(1 / np.log2(1 + ranks)))
