"""Word embeddings learned from co-occurrence in the log.

Two words co-occur in a query, in the text of a document, and across a click: one in the query, one in the
text. With M the co-occurrence counts (a clicked pair counts log(1 + clicks)), the embeddings are the leading
singular vectors of positive pointwise mutual information (Levy & Goldberg 2014),

    P_ij = max(0, ln(M_ij · ΣM / (M_i · M_j)))        P ≈ U S Vᵀ        vectors = U √S, of unit length

so words that co-occur with the same words are near each other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from coclick.arrays.csr import Csr
from coclick.solvers.eigen import leading_eigenvectors

if TYPE_CHECKING:
    import scipy.sparse


def learn_word_vectors(queries: Csr, texts: Csr, clicks: Csr, dim: int, seed: int) -> NDArray[np.float32]:
    """Return a unit vector for each column of the counts, zeros for words without co-occurrences."""
    information = _positive_pmi(_cooccurrences(queries, texts, clicks))
    # The matrix is symmetric: singular vectors are eigenvectors, singular values are |eigenvalues|.
    left, values = leading_eigenvectors(information, dim, seed)
    vectors = left * np.sqrt(np.abs(values))
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    known = lengths > 1e-9 * lengths.max(initial=1e-30)
    return np.where(known, vectors / np.maximum(lengths, 1e-30), 0).astype(np.float32)


def _cooccurrences(queries: Csr, texts: Csr, clicks: Csr) -> scipy.sparse.csr_array:
    asked, held, clicked = (
        matrix.with_data(values).to_scipy()
        for matrix, values in (
            (queries, np.ones(queries.nnz, np.float32)),
            (texts, np.ones(texts.nnz, np.float32)),
            (clicks, np.log1p(clicks.data)),
        )
    )
    across = asked.T @ (clicked @ held)
    return (across + across.T + asked.T @ asked + held.T @ held).tocsr().astype(np.float64)


def _positive_pmi(cooccurrences: scipy.sparse.csr_array) -> scipy.sparse.csr_array:
    totals = np.maximum(np.asarray(cooccurrences.sum(axis=1)).ravel(), 1e-30)
    rows = np.repeat(np.arange(cooccurrences.shape[0]), np.diff(cooccurrences.indptr))
    information = cooccurrences.copy()
    information.data = np.maximum(
        np.log(cooccurrences.data * totals.sum() / (totals[rows] * totals[cooccurrences.indices])), 0
    )
    information.eliminate_zeros()
    return information
