"""Principal directions of texts: the first step of `lsa`, `cl_lsa` and `s2net` (Gao et al. 2011 §4.1).

    Σ w (r − m)(r − m)ᵀ = Σ λ_j v_j v_jᵀ

over texts with TF-IDF rows r and weights w. m is 0, or with `centre` the weighted mean of the rows: then the
directions are those of PCA, with which the paper derives its LSA matrix.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from coclick.arrays.csr import Csr, hstack, vstack
from coclick.features.views import FeatureMatrices
from coclick.progress import Progress
from coclick.solvers.svd import SingularTriplets, truncated_svd

Corpus = Literal["distinct", "pairs"]  # each query and document once, or both texts of every clicked pair


def principal_directions(
    rows: FeatureMatrices,
    clicks: Csr,
    k: int,
    corpus: Corpus,
    *,
    centre: bool,
    seed: int,
    progress: Progress,
) -> SingularTriplets:
    """Return the k leading directions of queries and documents, as separate texts."""
    texts = vstack(*rows)
    weights = np.ones(texts.rows, np.float32)
    if corpus == "pairs":
        counts = clicks.row_nnz(), np.bincount(clicks.indices, minlength=clicks.columns)
        weights = np.concatenate(counts).astype(np.float32)
    texts = texts.with_data(texts.data * np.repeat(np.sqrt(weights), texts.row_nnz()))
    factors = _centred([texts], weights) if centre else [texts]
    return truncated_svd(factors, k, seed=seed, progress=progress)


def joined_pair_directions(
    rows: FeatureMatrices, weights: Csr, k: int, *, centre: bool, seed: int, progress: Progress
) -> SingularTriplets:
    """Return the k leading directions of the sums of both rows of each pair."""
    factors = [_pair_rows(weights), vstack(*rows)]
    return truncated_svd(
        _centred(factors, weights.data) if centre else factors, k, seed=seed, progress=progress
    )


def _pair_rows(edges: Csr) -> Csr:
    """For each pair, a row with the square root of its weight at its query and at its document.

    In the second moment of these rows, each pair then has its weight.
    """
    roots, one_each = np.sqrt(edges.data), np.arange(edges.nnz + 1)
    query_of = np.repeat(np.arange(edges.rows, dtype=np.int32), edges.row_nnz())
    return hstack(
        Csr(one_each, query_of, roots, edges.rows), Csr(one_each, edges.indices, roots, edges.columns)
    )


def _centred(factors: list[Csr], weights: NDArray[np.float32]) -> list[Csr]:
    """Factors of rows √w (r − m), given factors of rows √w r: a column √w, and a row −m below the last."""
    roots = np.sqrt(weights)
    mean = roots.astype(np.float64)
    for factor in factors:
        mean = factor.to_scipy().T @ mean
    mean /= weights.sum(dtype=np.float64)
    if len(factors) == 1:
        factors = [factors[0], _identity(factors[0].columns)]
    each, every = np.arange(len(roots) + 1), np.arange(len(mean), dtype=np.int32)
    column = Csr(each, np.zeros(len(roots), np.int32), roots, 1)
    row = Csr(np.array([0, len(mean)]), every, -mean.astype(np.float32), len(mean))
    return [hstack(factors[0], column), vstack(factors[1], row)]


def _identity(size: int) -> Csr:
    return Csr(np.arange(size + 1), np.arange(size, dtype=np.int32), np.ones(size, np.float32), size)
