"""Sparse maps of features, learned by alternation (RMLS: paper 002 §4, Algorithm 2; paper 004 §3).

With Q and D the features of queries and documents, W the weights of clicked pairs and M = Qᵀ W D, maps L_x
and L_y are sought that minimise

    −Σ_uv M_uv · l_xu·l_yv + Σ_u β_u ‖l_xu‖₁ + Σ_v γ_v ‖l_yv‖₁      with ‖l_xu‖, ‖l_yv‖ ≤ θ          (Eq. 4)

Given the one map, every row of the other has its exact minimiser in closed form: Ω = M L_y, soft-thresholded
by β_u and scaled to θ (Eq. 5–6). A half-round replaces one map so. Documents start at random, with few
entries a row: a random projection costs little, and keeps the first half-round thin.

M is never formed, because its factors have a tenth of its entries; images between them are sparse while they
are thin. Dense ones are written to the same memory in every half-round: new memory takes longer than they do.

A threshold of any fixed size means something else for every log. So by default β_u is `b` times the root mean
square of the entries of row u of the first Ω, and stays as it is from then on: scale-free, and the objective
never rises. (Thresholds in ‖M_u‖₁ are scale-free, too, but lose all rows of words with many neighbours.)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coclick.arrays.csr import Csr
from coclick.arrays.reorder import transpose
from coclick.errors import UserError
from coclick.kernels.products import times_dense
from coclick.kernels.sparse_products import column_ranges, is_thin, times, times_sparse
from coclick.kernels.thresholded import Rows, Thresholded, most_entries, thresholded_product

_ENTRIES = 8  # of a row at the start,
_SHARE = 8  # but at most one in so many dimensions: a row that is the same everywhere has no peaks to keep
_JOINED = 3  # a product with at most so many times the entries of its factors is formed once
_DRAWN_AT_ONCE = 1 << 20  # rows
_AT_ONCE = 1 << 24  # numbers between two products: 64 MB;
_LEAST = 16  # but of so many dimensions at least, a cache line
_ROWS = 1 << 14  # of which the cost is taken at once
_RANK_ROWS = 20_000  # of a map from which its effective rank is computed


@dataclass(frozen=True)
class Penalty:
    """What makes the maps sparse: thresholds relative to the data, or the same for all rows."""

    b: float
    beta: float = 0.0  # above 0: the threshold itself, of queries' and of documents' features
    theta: float = 1.0

    def start(self, rows: int) -> NDArray[np.float32]:
        """The thresholds of rows before their first update; negative where the first update sets them."""
        return np.full(rows, self.beta if self.beta > 0 else -1.0, np.float32)


class Step(NamedTuple):
    """The maps after a half-round."""

    rounds: float
    query_map: Csr
    doc_map: Csr
    objective: float | None  # of Eq. 4; None before documents have thresholds


class Maps:
    """M by its factors, and the maps that are learned from it."""

    def __init__(self, queries: Csr, edges: Csr, docs: Csr, penalty: Penalty) -> None:
        self._sides = (
            (transpose(queries), _Between.of(edges, docs)),
            (transpose(docs), _Between.of(transpose(edges), queries)),
        )
        self._penalty = penalty

    def half_rounds(self, dim: int, seed: int) -> Iterator[Step]:
        """Without end: the map of queries, of documents, of queries …"""
        queries, docs = (turned.rows for turned, _ in self._sides)
        maps = [Csr.empty(queries, dim), random_rows(docs, dim, self._penalty.theta, seed)]
        thresholds = [self._penalty.start(queries), self._penalty.start(docs)]
        room = np.empty(max(turned.columns for turned, _ in self._sides) * dim, np.float32)
        half = 0
        while True:
            side, other = half % 2, 1 - half % 2
            maps[side] = Csr.empty(0, dim)  # is not needed any more, and may be large
            found = self._update(side, maps[other], thresholds[side], room)
            maps[side], thresholds[side] = found.rows, found.thresholds
            half += 1
            known = half > 1 or self._penalty.beta > 0
            gained = -self._penalty.theta * float(found.gains.sum())
            yield Step(
                half / 2, maps[0], maps[1], gained + _cost(maps[other], thresholds[other]) if known else None
            )

    def _update(
        self, side: int, other: Csr, thresholds: NDArray[np.float32], room: NDArray[np.float32]
    ) -> Thresholded:
        turned, between = self._sides[side]
        images = between.images(other, room)
        found = thresholded_product(turned, images, thresholds, self._penalty.b, self._penalty.theta)
        if not found.rows.nnz:
            raise _all_zero(self._penalty, thresholded_product(turned, images, np.zeros_like(thresholds)))
        return found


@dataclass(frozen=True)
class _Between:
    """The features behind the clicks of each row: `edges @ features`, as one matrix if that is not large."""

    edges: Csr | None
    features: Csr

    @classmethod
    def of(cls, edges: Csr, features: Csr) -> _Between:
        if most_entries(edges, features) > _JOINED * (edges.nnz + features.nnz):
            return cls(edges, features)
        nothing = np.zeros(edges.rows, np.float32)
        return cls(None, thresholded_product(edges, features, nothing).rows)

    def images(self, learned: Csr, room: NDArray[np.float32]) -> Rows:
        """`edges @ features @ learned`: sparse while it is thin, else in the room that is given."""
        rows = self.features.rows if self.edges is None else self.edges.rows
        images = room[: rows * learned.columns].reshape(rows, learned.columns)
        if self.edges is None:
            if is_thin(self.features, learned):
                return times(self.features, learned)
            return times_sparse(self.features, learned, out=images)
        if is_thin(self.features, learned):
            return times(self.edges, times(self.features, learned))
        width = max(_AT_ONCE // max(self.features.rows, 1), _LEAST)
        for some in column_ranges(learned, width):
            part = times_sparse(self.features, learned, some)
            images[:, some.first : some.last] = times_dense(self.edges, part)
        return images


def random_rows(rows: int, columns: int, length: float, seed: int) -> Csr:
    """Rows with a few entries of random places and signs."""
    return random_rows_of(rows, columns, length, seed, 0, 1)


def random_rows_of(rows: int, columns: int, length: float, seed: int, part: int, parts: int) -> Csr:
    """Every `parts`-th of the same random rows, from number `part` on; the others are drawn and forgotten."""
    random = np.random.default_rng(seed)
    entries = max(1, min(_ENTRIES, columns // _SHARE))

    def draw(values: int, dtype: type[np.int32 | np.int64]) -> NDArray[np.int32]:
        kept = [np.empty((0, entries), np.int32)]
        for first in range(0, rows, _DRAWN_AT_ONCE):
            some = random.integers(0, values, (min(_DRAWN_AT_ONCE, rows - first), entries), dtype)
            kept.append(some[(part - first) % parts :: parts].astype(np.int32))
        return np.concatenate(kept)

    places = np.sort(draw(columns - entries + 1, np.int32), axis=1)
    places += np.arange(entries, dtype=np.int32)  # which makes them distinct
    signs = draw(2, np.int64).astype(np.float32) * 2 - 1
    values = signs * np.float32(length / np.sqrt(entries))
    return Csr(np.arange(len(places) + 1, dtype=np.int64) * entries, places.ravel(), values.ravel(), columns)


def map_rank(matrix: Csr) -> float:
    """How many dimensions the rows of a map fill: (Σσ²)² / Σσ⁴, of at most 20,000 rows spread evenly."""
    step = -(-matrix.rows // _RANK_ROWS)
    sample = matrix.take(np.arange(0, matrix.rows, step)).to_scipy()
    gram = (sample.T @ sample).data.astype(np.float64)
    total = float((sample.data.astype(np.float64) ** 2).sum())
    return total**2 / max(float((gram**2).sum()), 1e-300)


def density(matrix: Csr) -> float:
    """The share of entries that are not zero."""
    return matrix.nnz / max(matrix.rows * matrix.columns, 1)


def _cost(matrix: Csr, thresholds: NDArray[np.float32]) -> float:
    """What the entries of a map cost; some rows at a time, because all of them may be large."""
    cost = 0.0
    for first in range(0, matrix.rows, _ROWS):
        some = matrix.row_slice(first, min(first + _ROWS, matrix.rows))
        sizes = some.with_data(np.abs(some.data)).row_sums()
        cost += float(np.maximum(thresholds[first : first + _ROWS], 0).astype(np.float64) @ sizes)
    return cost


def _all_zero(penalty: Penalty, whole: Thresholded) -> UserError:
    """The error of thresholds that leave nothing, with the largest that would not have."""
    rows = np.repeat(np.arange(whole.rows.rows), whole.rows.row_nnz())
    sizes = np.abs(whole.rows.data).astype(np.float64)
    if penalty.beta > 0:
        name, used, most = "threshold", penalty.beta, float(sizes.max(initial=0))
    else:
        mean = whole.gains / np.sqrt(whole.rows.columns)
        name, used, most = "relative_threshold", penalty.b, float((sizes / mean[rows]).max(initial=0))
    return UserError(
        f"{name}={used:g} leaves nothing of the maps: all entries are below their thresholds",
        hint=f"with {name} below {most:.3g} something is left",
    )
