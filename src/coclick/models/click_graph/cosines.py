"""Cosines of logarithmic clicks: how alike two queries are by what was clicked for them, and two documents
by what they were clicked for (the graph features of paper 000, §5.1)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from coclick.arrays.csr import Csr
from coclick.arrays.sparse_vector import Entries, weighted_sum


def log_clicks(edges: Csr, rows: NDArray[np.integer]) -> Csr:
    """The chosen rows of a matrix of clicks, ln(1 + clicks) each."""
    taken = edges.take(rows)
    return taken.with_data(np.log1p(taken.data))


def lengths(edges: Csr) -> NDArray[np.float32]:
    """The Euclidean length of each row of logarithmic clicks."""
    return np.sqrt(edges.with_data(np.log1p(edges.data) ** 2).row_sums()).astype(np.float32)


def cosines(row: int, edges: Csr, back: Csr, edge_lengths: NDArray[np.float32]) -> Entries:
    """All rows of `edges` that share a column with one of them, by their cosine; `back` is the transpose."""
    own = log_clicks(edges, np.array([row]))
    dots = weighted_sum(own.data, log_clicks(back, own.indices))
    return Entries(dots.rows, dots.values / (edge_lengths[dots.rows] * edge_lengths[row]))
