"""Generalisation bounds of bilinear models (Wu, Lu & Li 2013 §5).

Queries x are drawn from P(x), n_x of them; for each, n_i documents y from P(y|x); each pair has a response
r(x, y) between 0 and R. With ‖x‖, ‖y‖ ≤ 1 and maps L_x, L_y out of a space of hypotheses, the objective

    1/n_x Σ_i 1/n_i Σ_j r_ij · x_iᵀ L_x L_yᵀ y_ij                                                    (Eq. 2)

differs from its expectation, for all maps of the space and with probability 1 − 2δ, by at most

    (2CR + RB √(2 ln 1/δ)) · (1/√(n_x n_y) + 1/√n_x)                                     (Theorem 3, Eq. 7)

where n_y is the harmonic mean of the n_i, B bounds ‖L_xᵀx‖·‖L_yᵀy‖, and C bounds ‖L_x L_yᵀ‖_F. The objective
itself is within ±RB, so a larger bound is vacuous.

The bound holds for all maps of the space, whatever weights they were fitted with. The response is the weight
of a pair: ln(1 + clicks) with `weight=log1p`, ln clicks with `log`, clicks with the others. Eq. 2
always averages over the documents of a query; only `degree` and `mean` also do so in training.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import inf, log, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coclick.arrays.csr import Csr
from coclick.kernels.products import times_dense
from coclick.models.projection.click_evidence import Weight, weight_clicks

DELTA = 0.05  # a bound holds with probability 0.9
_BLOCK = 1 << 16  # queries per step


@dataclass(frozen=True)
class Hypotheses:
    """A space of maps: its constants B and C, and the values they were computed from."""

    theorem: int
    B: float
    C: float
    made_of: Mapping[str, float] = field(default_factory=dict)


def orthonormal(*dims: int) -> Hypotheses:
    """Return the space of maps with orthonormal columns: B = 1, C = √d (Theorem 4; `pls`).

    With V views, each with unit rows, its own maps and a weight α_i ≥ 0 with Σ α_i² = 1 (`mpls`), Theorem 3
    gives B = Σ α_i ≤ √V and C² = V · Σ α_i² d_i ≤ V · max d_i: only the V blocks y_i x_iᵀ of y xᵀ are
    multiplied with a map, and together their length is at most √V.
    """
    views, dim = len(dims), max(dims)
    made_of = {"d": dim} if views == 1 else {"d": dim, "views": views}
    return Hypotheses(4 if views == 1 else 3, sqrt(views), sqrt(views * dim), made_of)


def limited_rows(
    dim: int,
    features: tuple[int, int],
    nonzeros: tuple[int, int],
    l2: tuple[float, float],
    l1: tuple[float, float] = (inf, inf),
) -> Hypotheses:
    """Return the space of maps with bounded rows (Theorem 5; `rmls`).

    Each pair is for queries and for documents: the number of features, the largest number of non-zero
    features of one row, and the bounds of the rows of the maps, θ (`l2`) and λ (`l1`).
    """
    lengths, sums = l2[0] * l2[1], l1[0] * l1[1]
    made_of: dict[str, float] = {
        "d": dim,
        "d_x": features[0],
        "d_y": features[1],
        "m_x": nonzeros[0],
        "m_y": nonzeros[1],
        "theta_x": l2[0],
        "theta_y": l2[1],
    }
    if sums < inf:
        made_of |= {"lambda_x": l1[0], "lambda_y": l1[1]}
    return Hypotheses(
        5,
        sqrt(nonzeros[0] * nonzeros[1]) * min(dim * sums, lengths),
        sqrt(features[0] * features[1]) * min(sums, lengths),
        made_of,
    )


def gap(n_x: int, n_y: float, R: float, B: float, C: float, delta: float) -> float:
    """Return the right side of Theorem 3."""
    return (2 * C * R + R * B * sqrt(2 * log(1 / delta))) * (1 / sqrt(n_x * n_y) + 1 / sqrt(n_x))


def bound(
    clicks: Csr,
    weight: Weight,
    embeddings: tuple[NDArray[np.float32], NDArray[np.float32]],
    space: Hypotheses,
    delta: float = DELTA,
) -> dict[str, Any]:
    """Return the bound and its ingredients for the embeddings of a graph's queries and documents."""
    responses = weight_clicks(clicks, "clicks" if weight in ("degree", "mean") else weight)
    counts = responses.row_nnz()
    counts = counts[counts > 0]
    n_x, n_y = len(counts), len(counts) / float(np.sum(1 / counts))
    largest = float(responses.data.max())
    found = gap(n_x, n_y, largest, space.B, space.C, delta)
    return {
        "theorem": space.theorem,
        "objective": objective(responses, *embeddings),
        "bound": found,
        "vacuous": found > largest * space.B,
        "probability": 1 - 2 * delta,
        "delta": delta,
        "n_x": n_x,
        "n_y": n_y,
        "R": largest,
        "B": space.B,
        "C": space.C,
        **space.made_of,
    }


def objective(responses: Csr, queries: NDArray[np.float32], docs: NDArray[np.float32]) -> float:
    """Return Eq. 2 on the pairs of a graph: the mean over queries of the mean over their documents."""
    counts = responses.row_nnz()
    total = 0.0
    for first in range(0, responses.rows, _BLOCK):
        last = min(first + _BLOCK, responses.rows)
        together = times_dense(responses.row_slice(first, last), docs)
        aligned = np.einsum("ij,ij->i", queries[first:last], together, dtype=np.float64)
        total += float(np.sum(aligned / np.maximum(counts[first:last], 1)))
    return total / np.count_nonzero(counts)
