"""RMLS: sparse maps by alternating optimisation (Wu, Lu & Li 2013, §4, Alg. 2; Wu, Lu & Li 2012, §3).

With Q and D the features of queries and documents, W the weights of clicked pairs and M = Qᵀ W D, find maps
L_x and L_y that minimise

    −Σ_uv M_uv · l_xu·l_yv + Σ_u β_u ‖l_xu‖₁ + Σ_v γ_v ‖l_yv‖₁    with ‖l_xu‖ ≤ θ_x, ‖l_yv‖ ≤ θ_y   (Eq. 4)

Given one map, every row of the other has a closed-form minimiser: Ω = M L_y, soft-thresholded by β_u and
scaled to θ_x (Eq. 5–6). A half-iteration replaces one map in this way. The map of documents starts as a
random projection: a sparse one is cheap and keeps the first half-iteration sparse.

M is never formed: its factors have a tenth of its entries. Intermediate products are sparse where that is
cheaper. Dense ones reuse the same memory in every half-iteration, because allocating it takes longer.

Every update is an average over neighbours, so all rows of a connected component tend to one direction: the
global optimum has rank one. Frequent features connect everything and dominate the averages. With
`discount_frequent` the rank falls much more slowly (docs/rmls.md).

An absolute threshold depends on the scale of the log. So by default β_u is `relative_threshold` times the
root mean square of row u of the first Ω, and constant from then on: scale-free, and the objective never
rises. (Thresholds relative to ‖M_u‖₁ are scale-free, too, but remove all rows of words with many neighbours.)
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
from coclick.kernels.thresholded import Rows, Thresholded, max_entries, thresholded_product

THRESHOLDS = ("query_threshold", "doc_threshold")  # the parameters that set absolute thresholds

_START_ENTRIES = 8  # non-zero entries of a row at the start,
_START_SHARE = 8  # but at most one in so many dimensions: a flat row has no peaks to keep
_MAX_GROWTH = 3  # a product with at most so many times the entries of its factors is formed once
_RANDOM_ROWS = 1 << 20  # rows drawn at a time
_MAX_BUFFER = 1 << 24  # numbers in an intermediate product: 64 MB;
_MIN_WIDTH = 16  # but at least so many dimensions, a cache line
_COST_ROWS = 1 << 14  # rows whose cost is computed at a time
_MAX_RANK_ROWS = 20_000  # rows of a map from which its effective rank is computed


@dataclass(frozen=True)
class Penalty:
    """The soft thresholds that make one map sparse, and the length of its rows."""

    relative_threshold: float  # times the root mean square of each row
    threshold: float = 0.0  # β or γ: above 0, an absolute threshold for all rows, used instead
    length: float = 1.0  # θ_x or θ_y

    def start(self, rows: int) -> NDArray[np.float32]:
        """Return the initial thresholds of rows; −1 where the first update sets them."""
        return np.full(rows, self.threshold if self.threshold > 0 else -1.0, np.float32)


class RmlsState(NamedTuple):
    """The maps after a half-iteration."""

    iterations: float
    query_map: Csr
    doc_map: Csr
    objective: float | None  # of Eq. 4; None before documents have thresholds


class RmlsSolver:
    """Fits the maps to M, which is given by its factors."""

    def __init__(self, queries: Csr, edges: Csr, docs: Csr, penalties: tuple[Penalty, Penalty]) -> None:
        self._sides = (
            (transpose(queries), _ClickedFeatures.from_factors(edges, docs)),
            (transpose(docs), _ClickedFeatures.from_factors(transpose(edges), queries)),
        )
        self._penalties = penalties

    def half_iterations(self, dim: int, seed: int, *, dense: bool = False) -> Iterator[RmlsState]:
        """Update the map of queries, then of documents, and so on, endlessly; yield each state."""
        queries, docs = (by_feature.rows for by_feature, _ in self._sides)
        maps = [
            Csr.empty(queries, dim),
            random_rows(docs, dim, self._penalties[1].length, seed, dense=dense),
        ]
        thresholds = [penalty.start(m.rows) for penalty, m in zip(self._penalties, maps, strict=True)]
        buffer = np.empty(max(by_feature.columns for by_feature, _ in self._sides) * dim, np.float32)
        half = 0
        while True:
            side, other = half % 2, 1 - half % 2
            maps[side] = Csr.empty(0, dim)  # free the old map, which may be large
            found = self._update(side, maps[other], thresholds[side], buffer)
            maps[side], thresholds[side] = found.rows, found.thresholds
            half += 1
            known = half > 1 or self._penalties[1].threshold > 0
            gain = -self._penalties[side].length * float(found.gains.sum())
            yield RmlsState(
                half / 2, maps[0], maps[1], gain + _cost(maps[other], thresholds[other]) if known else None
            )

    def _update(
        self, side: int, other: Csr, thresholds: NDArray[np.float32], buffer: NDArray[np.float32]
    ) -> Thresholded:
        by_feature, clicked_features = self._sides[side]
        embeddings = clicked_features.embed(other, buffer)
        penalty = self._penalties[side]
        found = thresholded_product(
            by_feature, embeddings, thresholds, penalty.relative_threshold, penalty.length
        )
        if not found.rows.nnz:
            whole = thresholded_product(by_feature, embeddings, np.zeros_like(thresholds))
            raise _empty_maps_error(penalty, THRESHOLDS[side], whole)
        return found


def discount_frequent(queries: Csr, edges: Csr, docs: Csr, power: float) -> tuple[Csr, Csr]:
    """Divide each feature by a power of its total in M, relative to the mean total.

    With `power=1` the entries of M become M_uv / (Σ_v M_uv · Σ_u M_uv): how much more often two features are
    clicked together than by chance.
    """
    x, w, y = (matrix.to_scipy().astype(np.float64) for matrix in (queries, edges, docs))
    totals = x.T @ (w @ y.sum(1)), y.T @ (w.T @ x.sum(1))
    return _divide_columns(queries, totals[0], power), _divide_columns(docs, totals[1], power)


def _divide_columns(features: Csr, totals: NDArray[np.float64], power: float) -> Csr:
    present = totals > 0
    factors = np.zeros(len(totals))
    factors[present] = (totals[present] / totals[present].mean()) ** -power
    return features.with_data((features.data * factors[features.indices]).astype(np.float32))


@dataclass(frozen=True)
class _ClickedFeatures:
    """`edges @ features`: the features that each row has clicks on; formed if the product is small."""

    edges: Csr | None
    features: Csr

    @classmethod
    def from_factors(cls, edges: Csr, features: Csr) -> _ClickedFeatures:
        if max_entries(edges, features) > _MAX_GROWTH * (edges.nnz + features.nnz):
            return cls(edges, features)
        no_threshold = np.zeros(edges.rows, np.float32)
        return cls(None, thresholded_product(edges, features, no_threshold).rows)

    def embed(self, feature_map: Csr, buffer: NDArray[np.float32]) -> Rows:
        """Return `edges @ features @ feature_map`: sparse if that is cheaper, else in the given buffer."""
        rows = self.features.rows if self.edges is None else self.edges.rows
        embeddings = buffer[: rows * feature_map.columns].reshape(rows, feature_map.columns)
        if self.edges is None:
            if is_thin(self.features, feature_map):
                return times(self.features, feature_map)
            return times_sparse(self.features, feature_map, out=embeddings)
        if is_thin(self.features, feature_map):
            return times(self.edges, times(self.features, feature_map))
        width = max(_MAX_BUFFER // max(self.features.rows, 1), _MIN_WIDTH)
        for some in column_ranges(feature_map, width):
            part = times_sparse(self.features, feature_map, some)
            embeddings[:, some.first : some.last] = times_dense(self.edges, part)
        return embeddings


def random_rows(rows: int, columns: int, length: float, seed: int, *, dense: bool = False) -> Csr:
    """Return rows of random directions: with few random columns and signs, or dense with normal values."""
    return random_rows_of(rows, columns, length, seed, 0, 1, dense=dense)


def random_rows_of(
    rows: int, columns: int, length: float, seed: int, part: int, parts: int, *, dense: bool = False
) -> Csr:
    """Return every `parts`-th of the rows of `random_rows`, starting at row `part`."""
    random = np.random.default_rng(seed)
    if dense:
        return _dense_rows(rows, columns, length, random, part, parts)
    entries = max(1, min(_START_ENTRIES, columns // _START_SHARE))

    def draw(values: int, dtype: type[np.int32 | np.int64]) -> NDArray[np.int32]:
        kept = [np.empty((0, entries), np.int32)]
        for first in range(0, rows, _RANDOM_ROWS):
            some = random.integers(0, values, (min(_RANDOM_ROWS, rows - first), entries), dtype)
            kept.append(some[(part - first) % parts :: parts].astype(np.int32))
        return np.concatenate(kept)

    indices = np.sort(draw(columns - entries + 1, np.int32), axis=1)
    indices += np.arange(entries, dtype=np.int32)  # makes them distinct
    signs = draw(2, np.int64).astype(np.float32) * 2 - 1
    values = signs * np.float32(length / np.sqrt(entries))
    return Csr(
        np.arange(len(indices) + 1, dtype=np.int64) * entries, indices.ravel(), values.ravel(), columns
    )


def _dense_rows(
    rows: int, columns: int, length: float, random: np.random.Generator, part: int, parts: int
) -> Csr:
    at_a_time = max(_RANDOM_ROWS // columns, 1)
    kept = [np.empty((0, columns), np.float32)]
    for first in range(0, rows, at_a_time):
        some = random.standard_normal((min(at_a_time, rows - first), columns), np.float32)
        kept.append(some[(part - first) % parts :: parts])
    values = np.concatenate(kept)
    values *= np.float32(length) / np.linalg.norm(values, axis=1, keepdims=True)
    indices = np.tile(np.arange(columns, dtype=np.int32), len(values))
    return Csr(np.arange(len(values) + 1, dtype=np.int64) * columns, indices, values.ravel(), columns)


def map_rank(matrix: Csr) -> float:
    """Return the effective rank of a map, (Σσ²)² / Σσ⁴, of at most 20,000 evenly spaced rows."""
    step = -(-matrix.rows // _MAX_RANK_ROWS)
    sample = matrix.take(np.arange(0, matrix.rows, step)).to_scipy()
    gram = (sample.T @ sample).data.astype(np.float64)
    total = float((sample.data.astype(np.float64) ** 2).sum())
    return total**2 / max(float((gram**2).sum()), 1e-300)


def density(matrix: Csr) -> float:
    """Return the share of non-zero entries."""
    return matrix.nnz / max(matrix.rows * matrix.columns, 1)


def _cost(matrix: Csr, thresholds: NDArray[np.float32]) -> float:
    """The penalty of a map, computed for some rows at a time to save memory."""
    cost = 0.0
    for first in range(0, matrix.rows, _COST_ROWS):
        some = matrix.row_slice(first, min(first + _COST_ROWS, matrix.rows))
        sizes = some.with_data(np.abs(some.data)).row_sums()
        cost += float(np.maximum(thresholds[first : first + _COST_ROWS], 0).astype(np.float64) @ sizes)
    return cost


def _empty_maps_error(penalty: Penalty, absolute: str, whole: Thresholded) -> UserError:
    """The error for thresholds that remove all entries; it names the largest usable threshold."""
    rows = np.repeat(np.arange(whole.rows.rows), whole.rows.row_nnz())
    sizes = np.abs(whole.rows.data).astype(np.float64)
    if penalty.threshold > 0:
        name, used, largest = absolute, penalty.threshold, float(sizes.max(initial=0))
    else:
        mean = whole.gains / np.sqrt(whole.rows.columns)
        name, used, largest = (
            "relative_threshold",
            penalty.relative_threshold,
            float((sizes / mean[rows]).max(initial=0)),
        )
    return UserError(
        f"{name}={used:g} removes all entries of the maps",
        hint=f"use {name} below {largest:.3g}",
    )
