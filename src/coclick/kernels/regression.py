"""Weights w of unit vectors U such that each text's units add up to its target: paper 003, Eq. 7.

Minimises Σ_i ‖T_i − Σ_{u ∈ i} w_u U_u‖² + ρ ‖w − w₀‖², that is (G + ρI) w = h + ρ w₀ with
G = (U Uᵀ) ∘ (BᵀB) and h = rowsum((Bᵀ T) ∘ U). G has as many non-zeros as there are pairs of units that
meet in a text, so it is never formed: conjugate gradients apply it text by text.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from coclick.kernels.jit import jit
from coclick.kernels.threads import balanced_blocks, run_blocks, threads

Floats = NDArray[np.float32]
Rows = tuple[NDArray[np.int64], NDArray[np.int32], Floats]


@jit
def _clear(row: Floats, indptr: NDArray[np.int64], indices: NDArray[np.int32], which: int) -> None:
    for p in range(indptr[which], indptr[which + 1]):
        row[indices[p]] = 0.0


@jit
def _add(
    row: Floats,
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    data: Floats,
    which: int,
    factor: float,
) -> None:
    for p in range(indptr[which], indptr[which + 1]):
        row[indices[p]] += factor * data[p]


@jit
def _dot(
    row: Floats, indptr: NDArray[np.int64], indices: NDArray[np.int32], data: Floats, which: int
) -> float:
    total = 0.0
    for p in range(indptr[which], indptr[which + 1]):
        total += row[indices[p]] * data[p]
    return total


@jit
def _meet_units(
    first: int,
    last: int,
    text_indptr: NDArray[np.int64],
    text_units: NDArray[np.int32],
    u_indptr: NDArray[np.int64],
    u_indices: NDArray[np.int32],
    u_data: Floats,
    weights: Floats,
    row: Floats,
    out: Floats,
) -> None:
    """For each unit u of each text: U_u · Σ_v w_v U_v over the units v of that text."""
    for text in range(first, last):
        for p in range(text_indptr[text], text_indptr[text + 1]):
            unit = text_units[p]
            _add(row, u_indptr, u_indices, u_data, unit, weights[unit])
        for p in range(text_indptr[text], text_indptr[text + 1]):
            out[p] = _dot(row, u_indptr, u_indices, u_data, text_units[p])
        for p in range(text_indptr[text], text_indptr[text + 1]):
            _clear(row, u_indptr, u_indices, text_units[p])


@jit
def _meet_targets(
    first: int,
    last: int,
    text_indptr: NDArray[np.int64],
    text_units: NDArray[np.int32],
    u_indptr: NDArray[np.int64],
    u_indices: NDArray[np.int32],
    u_data: Floats,
    t_indptr: NDArray[np.int64],
    t_indices: NDArray[np.int32],
    t_data: Floats,
    row: Floats,
    out: Floats,
) -> None:
    """For each unit u of each text: U_u · T_text."""
    for text in range(first, last):
        _add(row, t_indptr, t_indices, t_data, text, 1.0)
        for p in range(text_indptr[text], text_indptr[text + 1]):
            out[p] = _dot(row, u_indptr, u_indices, u_data, text_units[p])
        _clear(row, t_indptr, t_indices, text)


class UnitRegression:
    """The normal equations of Eq. 7, applied without being formed."""

    def __init__(
        self,
        text_indptr: NDArray[np.int64],
        text_units: NDArray[np.int32],
        units: Rows,
        targets: Rows,
        terms: int,
    ) -> None:
        self.text_indptr = text_indptr
        self.text_units = text_units
        self.units = units
        self.targets = targets
        self.terms = terms
        self.count = len(units[0]) - 1
        self.blocks = balanced_blocks(text_indptr, 8 * threads())
        self._products = np.empty(len(text_units), np.float32)

    def apply(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """G w."""
        single = weights.astype(np.float32)
        return self._by_unit(_meet_units, single)

    def right_side(self) -> NDArray[np.float64]:
        """h."""
        return self._by_unit(_meet_targets, *self.targets)

    def diagonal(self) -> NDArray[np.float64]:
        """The diagonal of G: how many texts hold each unit, times its squared length."""
        indptr, _, data = self.units
        squares = np.concatenate([[0.0], np.cumsum(data.astype(np.float64) ** 2)])
        lengths = squares[indptr[1:]] - squares[indptr[:-1]]
        return np.bincount(self.text_units, minlength=self.count) * lengths

    def best_multiple(self, of: NDArray[np.float64], right_side: NDArray[np.float64]) -> float:
        """The factor f, not below 0, for which the weights f·`of` leave the least error."""
        length = float(of @ self.apply(of))
        return max(float(of @ right_side) / length, 0.0) if length > 0 else 0.0

    def solve(
        self,
        right_side: NDArray[np.float64],
        prior: NDArray[np.float64],
        rho: float,
        tolerance: float = 1e-5,
        most: int = 50,
        done: Callable[[int], None] | None = None,
    ) -> tuple[NDArray[np.float64], int]:
        """Conjugate gradients with the diagonal as preconditioner; weights below 0 become 0."""
        diagonal = self.diagonal() + rho
        weights = prior.copy()
        target = right_side + rho * prior
        residual = target - (self.apply(weights) + rho * weights)
        scaled = residual / diagonal
        direction = scaled.copy()
        energy = residual @ scaled
        goal = tolerance**2 * max(float(target @ (target / diagonal)), 1e-30)
        rounds = 0
        while rounds < most and energy > goal:
            image = self.apply(direction) + rho * direction
            step = energy / (direction @ image)
            weights += step * direction
            residual -= step * image
            scaled = residual / diagonal
            before, energy = energy, residual @ scaled
            direction = scaled + (energy / before) * direction
            rounds += 1
            if done:
                done(1)
        return np.maximum(weights, 0.0), rounds

    def _by_unit(self, kernel: Callable[..., None], *arrays: NDArray[np.generic]) -> NDArray[np.float64]:
        """Run a kernel over all texts, then add up its results unit by unit in the order of the texts."""

        def work(first: int, last: int) -> None:
            row = np.zeros(self.terms, np.float32)
            kernel(first, last, self.text_indptr, self.text_units, *self.units, *arrays, row, self._products)

        run_blocks(work, self.blocks)
        return np.bincount(self.text_units, self._products, self.count).astype(np.float64, copy=False)
