"""Posterior regularisation: an E-step with equal topic shares in both texts (Gao et al. 2011, App. A).

The projected posteriors are P′(z|q) ∝ mix[z] e^(−λ_z/|q|) P(q|z) for the first text, mix[z] e^(λ_z/|d|)
P(w|z) for the second: as if each text had a mix of its own, tilted by λ. The dual is to minimise G(λ) = Σ n
log s over all tokens, s the normalisers. Because log s = min over u of u + s·e^(−u) − 1, that is the minimum
over λ *and* one u for each token of a convex function, and for given u the best λ has a closed form:

    λ_z (1/|q| + 1/|d|) = log A_z / B_z,   A_z = Σ n e^(−u) P(q|z) / |q|,   B_z = Σ n e^(−u) P(w|z) / |d|.

This leaves h(u) = Σ n u + N Σ_z m_z, N = |q| + |d|, m = mix · A^(|q|/N) · B^(|d|/N), in as many unknowns
as the pair has distinct words. Its gradient is n (1 − r), r = s e^(−u), its Hessian diag(n r) − κ Σ_z m_z y
yᵀ with κ = |q||d|/N and y the token's part in A or minus its part in B. Shifting λ changes nothing, so the
first u is fixed. A Newton step is taken if h decreases; otherwise u = log s, which always decreases it.

The factor by which λ changed each normaliser is the starting point of the next iteration, and the only state.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from coclick.jit.compiler import jit, jit_inline
from coclick.jit.math import add_scaled, dot, four_dots, powers, sum_of_logs
from coclick.solvers._em_kernels import fetch_row

_AHEAD = 4  # prefetch distance, in tokens
_MAX_STEPS = 100
_FLOOR = np.float32(1e-30)  # added to A and B: padding has zero probability
_ROUNDING = 1e-6  # of h, for each token
_GOOD_REDUCTION = np.float32(0.2)  # of the error: after a better step the Hessian is reused
_MAX_SHIFT = 5.0  # of u in one step
_MIN_PIVOT = 1e-12
_RIDGE = 1e-6  # added to the Hessian's diagonal, which is nearly singular for words without a common topic


@jit
def expect_regularised(
    first: int,
    last: int,
    starts: NDArray[np.int64],
    words: NDArray[np.int32],
    counts: NDArray[np.float32],
    weights: NDArray[np.float32],
    given: NDArray[np.float32],
    topics: int,
    prior: np.float32,
    tolerance: np.float32,
    mixes: NDArray[np.float32],
    changes: NDArray[np.float32],
    tilted: NDArray[np.float32],
    fitted: NDArray[np.float32],
    gains: NDArray[np.float64],
    disagreement: NDArray[np.float32],
) -> int:
    """Do the same as `expect`, after the projection; return the number of Newton steps.

    `changes` has the factor by which the projection divided each token's normaliser in the previous
    iteration, or ones, and gets the new factors; `tilted` gets the two mixes of each pair. Pairs with an
    empty text are not projected.
    """
    width = given.shape[1]
    longest = 0
    for pair in range(first, last):
        longest = max(longest, starts[2 * pair + 2] - starts[2 * pair])
    near = np.empty((longest, width), np.float32)  # copies of the pair's rows of `given`
    sums = np.empty((2, width), np.float32)
    normalisers = np.empty(longest, np.float32)
    parts, hessian = np.empty((longest, width), np.float32), np.empty((longest, longest))
    inverse, shifts = np.empty(longest, np.float32), np.empty(longest)
    tokens = np.empty(2, np.float32)
    steps = 0
    for pair in range(first, last):
        start, middle, end = starts[2 * pair], starts[2 * pair + 1], starts[2 * pair + 2]
        mix, tilts, weight = mixes[pair], tilted[2 * pair : 2 * pair + 2], weights[pair]
        for at in range(start, end):
            if at + _AHEAD < starts[2 * last]:
                fetch_row(given, words[at + _AHEAD])
            copy(given[words[at]], near[at - start])
        if start < middle < end:
            steps += project_posteriors(
                middle - start, near[: end - start], counts[start:end], mix, tolerance, changes[start:end],
                tilts, parts, hessian, sums, normalisers, inverse, shifts,
            )  # fmt: skip
        else:
            for side in range(2):
                copy(mix, tilts[side])
            for i in range(end - start):
                normalisers[i] = dot(mix, near[i])
        sums[:] = 0
        tokens[:] = 0
        logs = 0.0
        for at in range(start, end):
            side, normaliser = 0 if at < middle else 1, normalisers[at - start]
            logs += counts[at] * np.log(np.float64(normaliser))
            tokens[side] += counts[at]
            counts[at] = weight * counts[at] / normaliser
            add_scaled(sums[side], counts[at], near[at - start])
        gains[pair] = weight * logs + prior * sum_of_logs(mix, topics)
        scale = np.float32(1) / (topics * prior + weight * (tokens[0] + tokens[1]))
        worst = np.float32(0)
        for z in range(topics):
            left, right = tilts[0, z] * sums[0, z], tilts[1, z] * sums[1, z]
            fitted[pair - first, z] = (prior + left + right) * scale
            worst = max(worst, abs(left / tokens[0] - right / tokens[1]))
        disagreement[pair] = worst / weight if start < middle < end else np.float32(0)
    return steps


@jit
def project_posteriors(
    split: int,
    rows: NDArray[np.float32],
    counts: NDArray[np.float32],
    mix: NDArray[np.float32],
    tolerance: np.float32,
    changes: NDArray[np.float32],
    tilts: NDArray[np.float32],
    parts: NDArray[np.float32],
    hessian: NDArray[np.float64],
    sums: NDArray[np.float32],
    normalisers: NDArray[np.float32],
    inverse: NDArray[np.float32],
    shifts: NDArray[np.float64],
) -> int:
    """Tilt a pair's mix for both texts (tokens before `split`, and the others); return the number of steps.

    Afterwards topic shares differ by about `tolerance`, relative, or less. The arguments after `tilts` are
    work arrays with room for every token; `normalisers` has the normalisers at the end.
    """
    tokens = len(counts)
    first = second = np.float32(0)
    for i in range(tokens):
        if i < split:
            first += counts[i]
        else:
            second += counts[i]
    for i in range(tokens):
        inverse[i] = changes[i] / dot(mix, rows[i])
    both = first + second
    linear, lowest = 0.0, np.inf
    worst = np.float32(0)  # |1 − r|
    steps = 0
    while steps < _MAX_STEPS:
        steps += 1
        sum_up(rows[:split], counts[:split], inverse[:split], first, sums[0])
        sum_up(rows[split:], counts[split:], inverse[split:tokens], second, sums[1])
        tilt(mix, sums[0], sums[1], -second / both, tilts[0], tilts[1])
        height = linear + both * np.float64(dot(tilts[0], sums[0]))
        if height > lowest + _ROUNDING * both and steps < _MAX_STEPS:
            for i in range(tokens):  # `normalisers` are still those before the step
                linear += counts[i] * np.log(np.float64(inverse[i]) * np.float64(normalisers[i]))
                inverse[i] = np.float32(1) / normalisers[i]
            lowest, worst = np.inf, np.float32(0)  # h has certainly decreased
            continue
        lowest = height
        before, worst = worst, np.float32(0)
        for i in range(tokens):
            normalisers[i] = dot(tilts[0 if i < split else 1], rows[i])
            worst = max(worst, abs(np.float32(1) - normalisers[i] * inverse[i]))
        if worst <= np.float32(0.5) * tolerance:
            break
        if worst > _GOOD_REDUCTION * before:  # otherwise the last Hessian is good enough
            weigh(tilts[0], first * second / both, sums[0], sums[1])
            for i in range(1, tokens):
                side, size = (0, first) if i < split else (1, second)
                multiply(counts[i] * inverse[i] / size, rows[i], sums[side], parts[i])
            gram(parts, tokens, hessian)
            for i in range(1, tokens):
                for j in range(1, i + 1):
                    hessian[i, j] = -hessian[i, j]
                hessian[i, i] += (1 + _RIDGE) * counts[i] * normalisers[i] * inverse[i]
            factorise(hessian, tokens)
        for i in range(1, tokens):
            shifts[i] = counts[i] * (np.float64(normalisers[i]) * np.float64(inverse[i]) - 1)
        solve(hessian, shifts, tokens)
        for i in range(1, tokens):
            shift = min(max(shifts[i], -_MAX_SHIFT), _MAX_SHIFT)
            inverse[i] *= np.float32(np.exp(-shift))
            linear += counts[i] * shift
    for i in range(tokens):
        changes[i] = dot(mix, rows[i]) / normalisers[i]
    return steps


@jit_inline
def copy(source: NDArray[np.float32], target: NDArray[np.float32]) -> None:
    """Copy a row: several times as fast as assigning slices."""
    for z in range(len(target)):
        target[z] = source[z]


@jit_inline
def sum_up(
    rows: NDArray[np.float32],
    counts: NDArray[np.float32],
    inverse: NDArray[np.float32],
    size: np.float32,
    total: NDArray[np.float32],
) -> None:
    """Compute A or B: the sum over the words of a text for each topic."""
    for z in range(len(total)):
        total[z] = _FLOOR
    for i in range(len(rows)):
        add_scaled(total, counts[i] * inverse[i] / size, rows[i])


@jit_inline
def tilt(
    mix: NDArray[np.float32],
    first: NDArray[np.float32],
    second: NDArray[np.float32],
    exponent: np.float32,
    left: NDArray[np.float32],
    right: NDArray[np.float32],
) -> None:
    """Compute the mixes for the best λ, given A and B."""
    for z in range(len(mix)):
        right[z] = first[z] / second[z]
    powers(right, exponent, left)
    for z in range(len(mix)):
        left[z] *= mix[z]
        right[z] *= left[z]


@jit_inline
def weigh(
    left: NDArray[np.float32],
    factor: np.float32,
    first: NDArray[np.float32],
    second: NDArray[np.float32],
) -> None:
    """Replace A and B by the factors of the words' parts in the Hessian, √(κ m) / A and −√(κ m) / B."""
    for z in range(len(left)):
        root = np.sqrt(factor * left[z] * first[z])
        first[z] = root / first[z]
        second[z] = -root / second[z]


@jit_inline
def multiply(
    factor: np.float32, a: NDArray[np.float32], b: NDArray[np.float32], out: NDArray[np.float32]
) -> None:
    """Multiply two rows and a factor, element by element."""
    for z in range(len(a)):
        out[z] = factor * a[z] * b[z]


@jit
def gram(rows: NDArray[np.float32], count: int, products: NDArray[np.float64]) -> None:
    """Compute the dot products of rows 1 … count − 1, up to the diagonal and slightly beyond."""
    for i in range(1, count):
        j = 1
        while j + 3 < count and j <= i:
            found = four_dots(rows[i], rows[j], rows[j + 1], rows[j + 2], rows[j + 3])
            products[i, j], products[i, j + 1], products[i, j + 2], products[i, j + 3] = found
            j += 4
        while j <= i:
            products[i, j] = dot(rows[i], rows[j])
            j += 1


@jit
def factorise(matrix: NDArray[np.float64], size: int) -> None:
    """Replace rows 1 … size − 1 of a positive definite matrix by its Cholesky factor, the diagonal inverted.

    Only the lower triangle is read.
    """
    for i in range(1, size):
        for j in range(1, i):
            total = matrix[i, j]
            for k in range(1, j):
                total -= matrix[i, k] * matrix[j, k]
            matrix[i, j] = total * matrix[j, j]
        total = matrix[i, i]
        for k in range(1, i):
            total -= matrix[i, k] * matrix[i, k]
        matrix[i, i] = 1 / np.sqrt(max(total, _MIN_PIVOT))


@jit
def solve(factor: NDArray[np.float64], right: NDArray[np.float64], size: int) -> None:
    """Solve for unknowns 1 … size − 1, in place."""
    for i in range(1, size):
        for k in range(1, i):
            right[i] -= factor[i, k] * right[k]
        right[i] *= factor[i, i]
    for i in range(size - 1, 0, -1):
        for k in range(i + 1, size):
            right[i] -= factor[k, i] * right[k]
        right[i] *= factor[i, i]
