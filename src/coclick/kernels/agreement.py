"""The E-step in which both texts of a pair end up with the same share of each topic (paper 001, App. A).

The projected posteriors are P′(z|q) ∝ mix[z] e^(−λ_z/|q|) P(q|z) for the first text, mix[z] e^(λ_z/|d|)
P(w|z) for the second: as if each text had a mix of its own, tilted by λ. The dual is to minimise G(λ) = Σ n
log s over all tokens, s the normalisers. Because log s = min over u of u + s·e^(−u) − 1, that is the minimum
over λ *and* one u for each token of a convex function, and for given u the best λ is known:

    λ_z (1/|q| + 1/|d|) = log A_z / B_z,   A_z = Σ n e^(−u) P(q|z) / |q|,   B_z = Σ n e^(−u) P(w|z) / |d|.

What is left is h(u) = Σ n u + N Σ_z m_z, N = |q| + |d|, m = mix · A^(|q|/N) · B^(|d|/N), in as many unknowns
as the pair has distinct words. Its gradient is n (1 − r), r = s e^(−u), its Hessian diag(n r) − κ Σ_z m_z y
yᵀ with κ = |q||d|/N and y the token's part in A or minus its part in B: the low-rank form of −H that
Woodbury's formula leads to. A shift of λ changes nothing, so the first u stays where it is. Newton's step is
taken if h falls, otherwise u = log s, after which it always does.

The u of the last round are a good start for the next one and are all that has to be kept.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from coclick.kernels.em import fetch_row, sum_of_logs
from coclick.kernels.jit import jit
from coclick.kernels.powers import powers
from coclick.kernels.reassociated import add_scaled, dot

_AHEAD = 4  # tokens whose rows are asked for before they are needed
_MOST_STEPS = 100
_LEAST = np.float32(1e-30)  # added to A and B: padding has no probability
_ROUNDING = 1e-6  # of h, for each token
_FARTHEST = 5.0  # that a step leads
_TINY = 1e-12
_RIDGE = 1e-6  # of the Hessian's diagonal: words without a common topic hardly know of each other


@jit
def expect_agreeing(
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
    inverse: NDArray[np.float32],
    tilted: NDArray[np.float32],
    fitted: NDArray[np.float32],
    gains: NDArray[np.float64],
    disagreement: NDArray[np.float32],
) -> int:
    """As `expect`, after the projection; returns how many steps it took.

    `inverse` has e^(−u) of the round before, or zeros, and gets the new ones; `tilted` the two mixes of each
    pair. Where one text is empty, there is nothing to agree with.
    """
    width = given.shape[1]
    longest = 0
    for pair in range(first, last):
        longest = max(longest, starts[2 * pair + 2] - starts[2 * pair])
    near = np.empty((longest, width), np.float32)  # the pair's rows of `given`, side by side
    parts = np.empty((longest, width), np.float32)
    hessian = np.empty((longest, longest))
    sums = np.empty((2, width), np.float32)
    steps = 0
    for pair in range(first, last):
        start, middle, end = starts[2 * pair], starts[2 * pair + 1], starts[2 * pair + 2]
        mix, tilts, weight = mixes[pair], tilted[2 * pair : 2 * pair + 2], weights[pair]
        for at in range(start, end):
            if at + _AHEAD < starts[2 * last]:
                fetch_row(given, words[at + _AHEAD])
            near[at - start] = given[words[at]]
        tilts[0], tilts[1] = mix, mix
        if start < middle < end:
            own = counts[start:end], mix, tolerance, inverse[start:end], tilts
            steps += agree(middle - start, near[: end - start], *own, parts, hessian, sums)
        sums[:] = 0
        tokens = np.zeros(2, np.float32)
        logs = 0.0
        for at in range(start, end):
            side = 0 if at < middle else 1
            chance = dot(tilts[side], near[at - start])
            logs += counts[at] * np.log(np.float64(chance))
            tokens[side] += counts[at]
            counts[at] = weight * counts[at] / chance
            add_scaled(sums[side], counts[at], near[at - start])
        gains[pair] = weight * logs + prior * sum_of_logs(mix, topics)
        scale = np.float32(1) / (topics * prior + weight * (tokens[0] + tokens[1]))
        worst = np.float32(0)
        for z in range(topics):
            left, right = tilts[0, z] * sums[0, z], tilts[1, z] * sums[1, z]
            fitted[pair, z] = (prior + left + right) * scale
            worst = max(worst, abs(left / tokens[0] - right / tokens[1]))
        disagreement[pair] = worst / weight if start < middle < end else np.float32(0)
    return steps


@jit
def agree(
    split: int,
    rows: NDArray[np.float32],
    counts: NDArray[np.float32],
    mix: NDArray[np.float32],
    tolerance: np.float32,
    inverse: NDArray[np.float32],
    tilts: NDArray[np.float32],
    parts: NDArray[np.float32],
    hessian: NDArray[np.float64],
    sums: NDArray[np.float32],
) -> int:
    """Tilt a pair's mix for both texts, the tokens before `split` and the others; returns the steps taken.

    No share of a topic differs by more than about `tolerance` of itself then.
    """
    tokens = len(counts)
    first, second = counts[:split].sum(), counts[split:].sum()
    both = first + second
    if inverse[0] == 0:
        for i in range(tokens):
            inverse[i] = np.float32(1) / dot(mix, rows[i])
    left, right = tilts[0], tilts[1]
    exponent = -second / both
    ratios = np.empty(len(mix), np.float32)
    chances = np.empty(tokens, np.float32)
    gradient = np.empty(tokens)
    linear, lowest = 0.0, np.inf
    steps = 0
    while steps < _MOST_STEPS:
        steps += 1
        sums[:] = _LEAST
        for i in range(tokens):
            side, size = (0, first) if i < split else (1, second)
            add_scaled(sums[side], counts[i] * inverse[i] / size, rows[i])
        for z in range(len(mix)):
            ratios[z] = sums[0, z] / sums[1, z]
        powers(ratios, exponent, left)
        for z in range(len(mix)):
            left[z] *= mix[z]
            right[z] = left[z] * ratios[z]
        height = linear + both * np.float64(dot(left, sums[0]))
        if height > lowest + _ROUNDING * both:
            for i in range(tokens):
                linear += counts[i] * np.log(np.float64(inverse[i]) * np.float64(chances[i]))
                inverse[i] = np.float32(1) / chances[i]  # of the point where the step began
            lowest = np.inf  # h has fallen for certain
            continue
        lowest = height
        worst = np.float32(0)
        for i in range(tokens):
            chances[i] = dot(left if i < split else right, rows[i])
            worst = max(worst, abs(np.float32(1) - chances[i] * inverse[i]))
        if worst <= np.float32(0.5) * tolerance:
            break
        for z in range(len(mix)):
            root = np.sqrt(first * second / both * left[z] * sums[0, z])
            sums[0, z], sums[1, z] = root / sums[0, z], -root / sums[1, z]
        for i in range(tokens):
            side, size = (0, first) if i < split else (1, second)
            share = counts[i] * inverse[i] / size
            for z in range(len(mix)):
                parts[i, z] = share * rows[i, z] * sums[side, z]
        for i in range(1, tokens):
            ratio = np.float64(chances[i]) * np.float64(inverse[i])
            gradient[i] = counts[i] * (ratio - 1)
            for j in range(1, i + 1):
                hessian[i, j] = -np.float64(dot(parts[i], parts[j]))
            hessian[i, i] += (1 + _RIDGE) * counts[i] * ratio
        solve(hessian, gradient, tokens)
        for i in range(1, tokens):
            shift = min(max(gradient[i], -_FARTHEST), _FARTHEST)
            inverse[i] *= np.float32(np.exp(-shift))
            linear += counts[i] * shift
    for i in range(tokens):
        inverse[i] = np.float32(1) / chances[i]
    return steps


@jit
def solve(matrix: NDArray[np.float64], right: NDArray[np.float64], size: int) -> None:
    """Solve for unknowns 1 … size − 1 by Cholesky, in place; the matrix is read below its diagonal."""
    for i in range(1, size):
        for j in range(1, i + 1):
            total = matrix[i, j]
            for k in range(1, j):
                total -= matrix[i, k] * matrix[j, k]
            if i == j:
                matrix[i, i] = np.sqrt(max(total, _TINY))
            else:
                matrix[i, j] = total / matrix[j, j]
        for k in range(1, i):
            right[i] -= matrix[i, k] * right[k]
        right[i] /= matrix[i, i]
    for i in range(size - 1, 0, -1):
        for k in range(i + 1, size):
            right[i] -= matrix[k, i] * right[k]
        right[i] /= matrix[i, i]
