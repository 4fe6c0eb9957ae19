"""Weights of units such that the units of each text add up to its vector (Jiang et al. 2016, Eq. 7).

With T_i the vector of text i and U_u the vector of unit u, the weights w minimise

    Σ_i ‖T_i − Σ_{u ∈ i} w_u U_u‖² + ρ ‖w − w₀‖²

that is (G + ρI) w = h + ρ w₀ with G = (U Uᵀ) ∘ (BᵀB) and h = rowsum((Bᵀ T) ∘ U). G has a non-zero for every
pair of units that co-occur in a text, so it is never formed: conjugate gradients apply it text by text.

This happens many times, so the dot products of units that co-occur in a text are cached. Long texts have too
many pairs; their dot products are recomputed each time.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from coclick.jit.compiler import jit_inline, jit_noalloc
from coclick.jit.threads import balanced_blocks, run_blocks

Floats = NDArray[np.float32]
Sums = NDArray[np.float64]
CsrArrays = tuple[NDArray[np.int64], NDArray[np.int32], Floats]

MAX_CG_ITERATIONS = 50
TOLERANCE = 1e-5  # stop when the residual is this small relative to the right side
_PARTS = 8  # of the texts; a fixed number, so that sums do not depend on the number of threads


@jit_inline
def _clear(row: Floats, rows: CsrArrays, which: int) -> None:
    indptr, indices, _ = rows
    for p in range(indptr[which], indptr[which + 1]):
        row[indices[p]] = 0.0


@jit_inline
def _add(row: Floats, rows: CsrArrays, which: int, factor: float) -> None:
    indptr, indices, data = rows
    for p in range(indptr[which], indptr[which + 1]):
        row[indices[p]] += factor * data[p]


@jit_inline
def _dot(row: Floats, rows: CsrArrays, which: int) -> float:
    indptr, indices, data = rows
    total = 0.0
    for p in range(indptr[which], indptr[which + 1]):
        total += row[indices[p]] * data[p]
    return total


@jit_noalloc
def _multiply_units(
    first: int,
    last: int,
    text_indptr: NDArray[np.int64],
    text_units: NDArray[np.int32],
    units: CsrArrays,
    row: Floats,
    longest: int,
    products: Floats,
) -> None:
    """For each text that is not long: second unit times first, third times first and second, and so on."""
    at = 0
    for text in range(first, last):
        begin, end = text_indptr[text], text_indptr[text + 1]
        if end - begin > longest:
            continue
        for p in range(begin + 1, end):
            _add(row, units, text_units[p], 1.0)
            for q in range(begin, p):
                products[at] = _dot(row, units, text_units[q])
                at += 1
            _clear(row, units, text_units[p])


@jit_noalloc
def _accumulate_gram(
    first: int,
    last: int,
    text_indptr: NDArray[np.int64],
    text_units: NDArray[np.int32],
    units: CsrArrays,
    row: Floats,
    longest: int,
    products: Floats,
    squares: Floats,
    weights: Sums,
    sums: Sums,
) -> None:
    """For each unit u, sum over its texts: U_u · Σ_v w_v U_v over the units v of the text."""
    at = 0
    for text in range(first, last):
        begin, end = text_indptr[text], text_indptr[text + 1]
        if end - begin > longest:
            for p in range(begin, end):
                _add(row, units, text_units[p], weights[text_units[p]])
            for p in range(begin, end):
                sums[text_units[p]] += _dot(row, units, text_units[p])
            for p in range(begin, end):
                _clear(row, units, text_units[p])
            continue
        for p in range(begin, end):
            unit = text_units[p]
            total = squares[unit] * weights[unit]
            for q in range(begin, p):
                total += products[at] * weights[text_units[q]]
                sums[text_units[q]] += products[at] * weights[unit]
                at += 1
            sums[unit] += total


@jit_noalloc
def _accumulate_targets(
    first: int,
    last: int,
    text_indptr: NDArray[np.int64],
    text_units: NDArray[np.int32],
    units: CsrArrays,
    row: Floats,
    targets: CsrArrays,
    sums: Sums,
) -> None:
    """For each unit u, sum over its texts: U_u · T_text."""
    for text in range(first, last):
        _add(row, targets, text, 1.0)
        for p in range(text_indptr[text], text_indptr[text + 1]):
            sums[text_units[p]] += _dot(row, units, text_units[p])
        _clear(row, targets, text)


def preconditioner(diagonal: Sums, rho: float) -> Sums:
    """Return the diagonal of G + ρI, with 1 for 0: a unit without training texts has the residual 0."""
    found = diagonal + rho
    return np.where(found > 0, found, 1.0)


class UnitRegression:
    """The normal equations of Eq. 7, solved without forming G."""

    def __init__(
        self,
        text_indptr: NDArray[np.int64],
        text_units: NDArray[np.int32],
        units: CsrArrays,
        targets: CsrArrays,
        terms: int,
        products: list[Floats] | None = None,
    ) -> None:
        """Prepare the equations; `products` may be given if they are known from the same arguments."""
        self.text_indptr = text_indptr
        self.text_units = text_units
        self.units = units
        self.targets = targets
        self.terms = terms
        self.count = len(units[0]) - 1
        self.squares = _squares(units)
        self.parts = balanced_blocks(text_indptr, _PARTS)
        self.longest = _longest_kept(np.diff(text_indptr), len(targets[1]))
        self.products = self._unit_products() if products is None else products

    def apply(self, weights: Sums) -> Sums:
        """Return G w."""

        def work(part: int, first: int, last: int, row: Floats, sums: Sums) -> None:
            texts = first, last, self.text_indptr, self.text_units
            _accumulate_gram(
                *texts, self.units, row, self.longest, self.products[part], self.squares, weights, sums
            )

        return self._sum_by_unit(work)

    def right_side(self) -> Sums:
        """Return h."""

        def work(_: int, first: int, last: int, row: Floats, sums: Sums) -> None:
            texts = first, last, self.text_indptr, self.text_units
            _accumulate_targets(*texts, self.units, row, self.targets, sums)

        return self._sum_by_unit(work)

    def diagonal(self) -> Sums:
        """Return the diagonal of G: the squared length of each unit times the number of its texts."""
        return self.squares.astype(np.float64) * np.bincount(self.text_units, minlength=self.count)

    def best_multiple(self, weights: Sums, right_side: Sums) -> float:
        """Return the factor f ≥ 0 for which the weights f·w have the least error."""
        length = float(weights @ self.apply(weights))
        return max(float(weights @ right_side) / length, 0.0) if length > 0 else 0.0

    def solve(
        self,
        right_side: Sums,
        prior: Sums,
        rho: float,
        tolerance: float = TOLERANCE,
        max_iterations: int = MAX_CG_ITERATIONS,
        done: Callable[[int], None] | None = None,
    ) -> tuple[Sums, int]:
        """Solve by conjugate gradients, preconditioned by the diagonal; negative weights become 0.

        Returns the weights and the number of iterations.
        """
        diagonal = preconditioner(self.diagonal(), rho)
        weights = prior.copy()
        target = right_side + rho * prior
        residual = target - (self.apply(weights) + rho * weights)
        scaled = residual / diagonal
        direction = scaled.copy()
        energy = residual @ scaled
        goal = tolerance**2 * max(float(target @ (target / diagonal)), 1e-30)
        iterations = 0
        while iterations < max_iterations and energy > goal:
            product = self.apply(direction) + rho * direction
            step = energy / (direction @ product)
            weights += step * direction
            residual -= step * product
            scaled = residual / diagonal
            before, energy = energy, residual @ scaled
            direction = scaled + (energy / before) * direction
            iterations += 1
            if done:
                done(1)
        return np.maximum(weights, 0.0), iterations

    def _unit_products(self) -> list[Floats]:
        """The dot products of units that co-occur in a text, without long texts, for each part."""
        lengths = np.diff(self.text_indptr)
        pairs = np.where(lengths > self.longest, 0, _pairs(lengths))
        found = [np.empty(pairs[first:last].sum(), np.float32) for first, last in self.parts]

        def work(part: int, _: int) -> None:
            row = np.zeros(self.terms, np.float32)
            texts = *self.parts[part], self.text_indptr, self.text_units
            _multiply_units(*texts, self.units, row, self.longest, found[part])

        run_blocks(work, [(part, part + 1) for part in range(len(self.parts))])
        return found

    def _sum_by_unit(self, add_up: Callable[[int, int, int, Floats, Sums], None]) -> Sums:
        """The sums over all texts for each unit."""
        sums = np.zeros((max(len(self.parts), 1), self.count))

        def work(part: int, _: int) -> None:
            add_up(part, *self.parts[part], np.zeros(self.terms, np.float32), sums[part])

        run_blocks(work, [(part, part + 1) for part in range(len(self.parts))])
        return np.sum(sums, axis=0)


def _pairs(units: NDArray[np.int64]) -> NDArray[np.int64]:
    """The number of pairs of that many units."""
    return units * (units - 1) // 2


def _longest_kept(lengths: NDArray[np.int64], room: int) -> int:
    """The largest text length such that the products of all texts up to it fit into `room`."""
    texts = np.bincount(lengths, minlength=2)
    needed = np.cumsum(texts * _pairs(np.arange(len(texts))))
    return int(np.searchsorted(needed, room, side="right")) - 1


def _squares(rows: CsrArrays) -> Floats:
    """The squared length of each row."""
    indptr, _, data = rows
    sums = np.concatenate([[0.0], np.cumsum(data.astype(np.float64) ** 2)])
    return (sums[indptr[1:]] - sums[indptr[:-1]]).astype(np.float32)
