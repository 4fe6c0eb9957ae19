"""Weights w of unit vectors U such that each text's units add up to its target: paper 003, Eq. 7.

Minimises Σ_i ‖T_i − Σ_{u ∈ i} w_u U_u‖² + ρ ‖w − w₀‖², that is (G + ρI) w = h + ρ w₀ with
G = (U Uᵀ) ∘ (BᵀB) and h = rowsum((Bᵀ T) ∘ U). G has as many non-zeros as there are pairs of units that
meet in a text, so it is never formed: conjugate gradients apply it text by text.

They do so many times. So the products of units that meet in a text are kept, text after text; but a long
text has too many of them, and its units are multiplied anew each time.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from coclick.jit.compiler import jit_inline, jit_noalloc
from coclick.jit.threads import balanced_blocks, run_blocks

Floats = NDArray[np.float32]
Sums = NDArray[np.float64]
Rows = tuple[NDArray[np.int64], NDArray[np.int32], Floats]

MOST_ROUNDS = 50
TOLERANCE = 1e-5  # of the right side's length: a residual that is no longer ends the rounds
_PARTS = 8  # of the texts: their sums are added up in this order, whatever the number of threads


@jit_inline
def _clear(row: Floats, rows: Rows, which: int) -> None:
    indptr, indices, _ = rows
    for p in range(indptr[which], indptr[which + 1]):
        row[indices[p]] = 0.0


@jit_inline
def _add(row: Floats, rows: Rows, which: int, factor: float) -> None:
    indptr, indices, data = rows
    for p in range(indptr[which], indptr[which + 1]):
        row[indices[p]] += factor * data[p]


@jit_inline
def _dot(row: Floats, rows: Rows, which: int) -> float:
    indptr, indices, data = rows
    total = 0.0
    for p in range(indptr[which], indptr[which + 1]):
        total += row[indices[p]] * data[p]
    return total


@jit_noalloc
def _multiply(
    first: int,
    last: int,
    text_indptr: NDArray[np.int64],
    text_units: NDArray[np.int32],
    units: Rows,
    row: Floats,
    longest: int,
    products: Floats,
) -> None:
    """For each text that is not long: second unit times first, third times both before it, and so on."""
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
def _meet_units(
    first: int,
    last: int,
    text_indptr: NDArray[np.int64],
    text_units: NDArray[np.int32],
    units: Rows,
    row: Floats,
    longest: int,
    products: Floats,
    squares: Floats,
    weights: Sums,
    sums: Sums,
) -> None:
    """For each unit u, over its texts: U_u · Σ_v w_v U_v over the units v of that text."""
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
def _meet_targets(
    first: int,
    last: int,
    text_indptr: NDArray[np.int64],
    text_units: NDArray[np.int32],
    units: Rows,
    row: Floats,
    targets: Rows,
    sums: Sums,
) -> None:
    """For each unit u, over its texts: U_u · T_text."""
    for text in range(first, last):
        _add(row, targets, text, 1.0)
        for p in range(text_indptr[text], text_indptr[text + 1]):
            sums[text_units[p]] += _dot(row, units, text_units[p])
        _clear(row, targets, text)


def preconditioner(diagonal: Sums, rho: float) -> Sums:
    """The diagonal of G + ρI, which residuals are divided by. Where it is 0, no text teaches the unit: its
    residual is 0, too, and shall stay so."""
    found = diagonal + rho
    return np.where(found > 0, found, 1.0)


class UnitRegression:
    """The normal equations of Eq. 7, applied without being formed."""

    def __init__(
        self,
        text_indptr: NDArray[np.int64],
        text_units: NDArray[np.int32],
        units: Rows,
        targets: Rows,
        terms: int,
        products: list[Floats] | None = None,
    ) -> None:
        """Texts are rows of units; `products` are those of the same arguments, if they are known."""
        self.text_indptr = text_indptr
        self.text_units = text_units
        self.units = units
        self.targets = targets
        self.terms = terms
        self.count = len(units[0]) - 1
        self.squares = _squares(units)
        self.parts = balanced_blocks(text_indptr, _PARTS)
        self.longest = _longest_kept(np.diff(text_indptr), len(targets[1]))
        self.products = self._multiplied() if products is None else products

    def apply(self, weights: Sums) -> Sums:
        """G w."""

        def work(part: int, first: int, last: int, row: Floats, sums: Sums) -> None:
            texts = first, last, self.text_indptr, self.text_units
            _meet_units(
                *texts, self.units, row, self.longest, self.products[part], self.squares, weights, sums
            )

        return self._by_unit(work)

    def right_side(self) -> Sums:
        """h."""

        def work(_: int, first: int, last: int, row: Floats, sums: Sums) -> None:
            texts = first, last, self.text_indptr, self.text_units
            _meet_targets(*texts, self.units, row, self.targets, sums)

        return self._by_unit(work)

    def diagonal(self) -> Sums:
        """The diagonal of G: how many texts hold each unit, times its squared length."""
        return self.squares.astype(np.float64) * np.bincount(self.text_units, minlength=self.count)

    def best_multiple(self, of: Sums, right_side: Sums) -> float:
        """The factor f, not below 0, for which the weights f·`of` leave the least error."""
        length = float(of @ self.apply(of))
        return max(float(of @ right_side) / length, 0.0) if length > 0 else 0.0

    def solve(
        self,
        right_side: Sums,
        prior: Sums,
        rho: float,
        tolerance: float = TOLERANCE,
        most: int = MOST_ROUNDS,
        done: Callable[[int], None] | None = None,
    ) -> tuple[Sums, int]:
        """Conjugate gradients with the diagonal as preconditioner; weights below 0 become 0."""
        diagonal = preconditioner(self.diagonal(), rho)
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

    def _multiplied(self) -> list[Floats]:
        """The products of the units that meet in the texts of each part, but for long ones."""
        lengths = np.diff(self.text_indptr)
        pairs = np.where(lengths > self.longest, 0, _pairs(lengths))
        found = [np.empty(pairs[first:last].sum(), np.float32) for first, last in self.parts]

        def work(part: int, _: int) -> None:
            row = np.zeros(self.terms, np.float32)
            texts = *self.parts[part], self.text_indptr, self.text_units
            _multiply(*texts, self.units, row, self.longest, found[part])

        run_blocks(work, [(part, part + 1) for part in range(len(self.parts))])
        return found

    def _by_unit(self, add_up: Callable[[int, int, int, Floats, Sums], None]) -> Sums:
        """What all texts add to each unit."""
        sums = np.zeros((max(len(self.parts), 1), self.count))

        def work(part: int, _: int) -> None:
            add_up(part, *self.parts[part], np.zeros(self.terms, np.float32), sums[part])

        run_blocks(work, [(part, part + 1) for part in range(len(self.parts))])
        return np.sum(sums, axis=0)


def _pairs(units: NDArray[np.int64]) -> NDArray[np.int64]:
    """How many pairs so many units make."""
    return units * (units - 1) // 2


def _longest_kept(lengths: NDArray[np.int64], room: int) -> int:
    """The most units of a text such that the products of all texts of up to so many have room."""
    texts = np.bincount(lengths, minlength=2)
    needed = np.cumsum(texts * _pairs(np.arange(len(texts))))
    return int(np.searchsorted(needed, room, side="right")) - 1


def _squares(rows: Rows) -> Floats:
    """The squared lengths of rows."""
    indptr, _, data = rows
    until = np.concatenate([[0.0], np.cumsum(data.astype(np.float64) ** 2)])
    return (until[indptr[1:]] - until[indptr[:-1]]).astype(np.float32)
