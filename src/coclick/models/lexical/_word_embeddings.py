"""Dense vectors of words, learned from which words the log brings together.

Two words meet in a query, in a document's text, and across a click: one in the query, one in the text. With
M the matrix of meetings (clicks counting log(1 + clicks)), vectors are the leading singular vectors of the
positive pointwise mutual information (Levy & Goldberg 2014),

    P_ij = max(0, ln(M_ij · ΣM / (M_i · M_j)))        P ≈ U S Vᵀ        vectors = U √S, of unit length

so that words are near each other that meet the same words.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from coclick.arrays.csr import Csr
from coclick.solvers.eigen import leading_eigenvectors

if TYPE_CHECKING:
    import scipy.sparse


def word_vectors(queries: Csr, texts: Csr, clicks: Csr, dimensions: int, seed: int) -> NDArray[np.float32]:
    """A vector of unit length for each column of the counts; zeros for words that meet nothing."""
    information = _positive_information(_meetings(queries, texts, clicks))
    # The matrix is symmetric: its singular vectors are eigenvectors, of values up to their signs.
    left, values = leading_eigenvectors(information, dimensions, seed)
    vectors = left * np.sqrt(np.abs(values))
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    known = lengths > 1e-9 * lengths.max(initial=1e-30)
    return np.where(known, vectors / np.maximum(lengths, 1e-30), 0).astype(np.float32)


def _meetings(queries: Csr, texts: Csr, clicks: Csr) -> scipy.sparse.csr_array:
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


def _positive_information(meetings: scipy.sparse.csr_array) -> scipy.sparse.csr_array:
    totals = np.maximum(np.asarray(meetings.sum(axis=1)).ravel(), 1e-30)
    rows = np.repeat(np.arange(meetings.shape[0]), np.diff(meetings.indptr))
    information = meetings.copy()
    information.data = np.maximum(
        np.log(meetings.data * totals.sum() / (totals[rows] * totals[meetings.indices])), 0
    )
    information.eliminate_zeros()
    return information
