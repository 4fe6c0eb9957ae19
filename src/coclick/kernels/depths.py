"""How deep to read impact-ordered lists so that no row outside what was read matters.

Outside the prefixes weights are at most the caps c (the next posting's weight), and no row is longer
than N. So for every τ ≥ 0 a row d that was met in the lists S, and in no other, scores

    q·d ≤ q·d + τ/2 (N² − ‖d‖²) ≤ τN²/2 + Σ_{t ∈ S} (q_t d_t − τ d_t²/2) + Σ_{t ∉ S} g_t(c_t)
    g_t(c) = max_{0 ≤ d ≤ c} (q_t d − τ d²/2), reached at d = min(c, q_t/τ)

With S empty it holds for every row outside. It is convex in τ and least where ‖min(c, q/τ)‖ = N, or
at τ = 0 if ‖c‖ ≤ N: the tight stopping rule of Li et al. ("Index-based, high-dimensional, cosine
threshold querying with optimality guarantees", ICDT 2019). For a fixed τ it is a sum over terms, which
makes the cheapest depths a greedy choice: read on where g falls most for each posting read. That looks
ahead, along rungs at doubling depths, because a list may begin with a plateau.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from coclick.kernels.jit import jit

RUNGS = 32  # depths of a list to choose from: 0, h, 2h, 4h, …, all of it
DECAY = 8.0  # measured: reading on until the bound is θ(1 − x) leaves about e^(−8x) of the rows to score


@jit
def ladder(
    post_weights: NDArray[np.float32],
    start: int,
    length: int,
    head: int,
    depths: NDArray[np.int64],
    impacts: NDArray[np.float32],
) -> int:
    """Depths to choose from, and the largest weight beyond each: the number of the last."""
    rung, depth = 0, 0
    while depth < length and rung < RUNGS - 1:
        depths[rung] = depth
        impacts[rung] = post_weights[start + depth]
        depth = head << rung
        rung += 1
    depths[rung] = length
    impacts[rung] = 0.0
    return rung


@jit
def plan(
    query: NDArray[np.float64],
    depths: NDArray[np.int64],
    impacts: NDArray[np.float32],
    tops: NDArray[np.int64],
    tau: float,
    norm: float,
    theta: float,
    scoring: float,
    rungs: NDArray[np.int64],
) -> None:
    """Choose a rung for each list so that the bound is below θ; all of them if θ is 0.

    Reading deeper leaves fewer rows to score, so choose what has the least estimated cost
    altogether: a posting costs 1, a row `scoring`.
    """
    lists = len(query)
    at = np.zeros(lists, np.int64)
    slopes = np.empty(lists, np.float64)
    nexts = np.empty(lists, np.int64)
    bound = 0.5 * tau * norm * norm
    for i in range(lists):
        rungs[i] = tops[i]
        bound += below(query[i], impacts[i, 0], tau)
        slopes[i], nexts[i] = _step(query[i], depths[i], impacts[i], 0, tops[i], tau)
    read, least, enough = 0, np.inf, -1.0
    while True:
        if bound < theta:
            if enough < 0.0:
                enough = read
            cost = read + scoring * enough * math.exp(-DECAY * (1.0 - bound / theta))
            if cost < least:
                least = cost
                rungs[:] = at
            elif read > least:
                break
        best = 0
        for i in range(1, lists):
            if slopes[i] > slopes[best]:
                best = i
        if not slopes[best] > 0.0:
            break
        weight, depth, impact = query[best], depths[best], impacts[best]
        rung, further = at[best], nexts[best]
        read += depth[further] - depth[rung]
        bound -= below(weight, impact[rung], tau) - below(weight, impact[further], tau)
        at[best] = further
        slopes[best], nexts[best] = _step(weight, depth, impact, further, tops[best], tau)


@jit
def _step(
    weight: float,
    depths: NDArray[np.int64],
    impacts: NDArray[np.float32],
    rung: int,
    top: int,
    tau: float,
) -> tuple[float, int]:
    """Where to read on to in a list: the steepest fall of g for each posting, and its rung."""
    here = below(weight, impacts[rung], tau)
    steepest, chosen = 0.0, rung
    for further in range(rung + 1, top + 1):
        fall = here - below(weight, impacts[further], tau)
        slope = fall / (depths[further] - depths[rung])
        if slope > steepest:
            steepest, chosen = slope, further
    return steepest, chosen


@jit
def tightest(query: NDArray[np.float64], caps: NDArray[np.float64], norm: float) -> float:
    """The τ with ‖min(caps, query/τ)‖ = norm; 0 without a norm or where the caps alone are shorter.

    τ falls from ‖query‖/norm to its place: the terms at their caps can only become more.
    """
    if norm == 0.0 or _square(caps) <= norm * norm:
        return 0.0
    tau = math.sqrt(_square(query)) / norm
    while True:
        room, free = norm * norm, 0.0
        for i in range(len(query)):
            if tau * caps[i] <= query[i]:
                room -= caps[i] * caps[i]
            else:
                free += query[i] * query[i]
        if free == 0.0 or room <= 0.0:
            return tau
        smaller = math.sqrt(free / room)
        if not smaller < tau * (1.0 - 1e-9):
            return tau
        tau = smaller


@jit
def _square(vector: NDArray[np.float64]) -> float:
    """‖vector‖²."""
    found = 0.0
    for value in vector:
        found += value * value
    return found


@jit
def below(weight: float, cap: float, tau: float) -> float:
    """g(cap): the most that a term of this query weight adds to the bound of a row below the cap."""
    if tau * cap >= weight:
        return 0.5 * weight * weight / tau
    return (weight - 0.5 * tau * cap) * cap
