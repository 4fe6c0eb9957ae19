"""Exact solver of the transport problem: the least cost of moving the words of one text to those of another.

Every word of one side has a supply and every word of the other a demand, whole numbers with the same sum.
First each demand takes the cheapest supply, whatever the amounts: the relaxed problem. Then the excess of
overused supplies is rerouted along shortest paths to supplies with something left (successive shortest
paths). Paths only visit the words of the shorter side, and a query has few.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from coclick.jit.compiler import jit

_ROUNDING = 1e-12  # paths count as equally long if they differ by less than this fraction of the largest cost


@jit
def distances(
    vectors: NDArray[np.float32], left: NDArray[np.int32], right: NDArray[np.int32]
) -> NDArray[np.float32]:
    """Return Euclidean distances, infinite for rows out of bounds; a pair's distance depends on no other."""
    found = np.full((len(left), len(right)), np.float32(np.inf), np.float32)
    for i in range(len(left)):
        for j in range(len(right)):
            if 0 <= left[i] < len(vectors) and 0 <= right[j] < len(vectors):
                total = 0.0
                for dimension in range(vectors.shape[1]):
                    difference = vectors[left[i], dimension] - vectors[right[j], dimension]
                    total += difference * difference
                found[i, j] = np.sqrt(total)
    return found


@jit
def least_cost(costs: NDArray[np.float32], supply: NDArray[np.int64], demand: NDArray[np.int64]) -> float:
    """Return the least Σ flow · cost with row sums `supply`, column sums `demand`; NaN for infinite costs."""
    rows, columns = costs.shape
    if not np.isfinite(costs).all():
        return np.nan
    rounding = _ROUNDING * np.float64(costs.max())
    flow = np.zeros((rows, columns), np.int64)
    excess = -supply
    for j in range(columns):
        cheapest = np.argmin(costs[:, j])
        flow[cheapest, j] = demand[j]
        excess[cheapest] += demand[j]
    while excess.max() > 0:
        _reroute(costs, rounding, flow, excess)
    total = 0.0
    for i in range(rows):
        for j in range(columns):
            total += flow[i, j] * np.float64(costs[i, j])
    return total


@jit
def _reroute(
    costs: NDArray[np.float32], rounding: float, flow: NDArray[np.int64], excess: NDArray[np.int64]
) -> None:
    """Move flow along the cheapest path from a row with excess to one with supply left."""
    rows, columns = costs.shape
    step = np.full((rows, rows), np.inf)  # cost of moving one unit to another row, by the best column
    over = np.zeros((rows, rows), np.int64)
    for i in range(rows):
        for j in range(columns):
            if flow[i, j] > 0:
                for k in range(rows):
                    more = np.float64(costs[k, j]) - np.float64(costs[i, j])
                    if more < step[i, k]:
                        step[i, k], over[i, k] = more, j
    length = np.where(excess > 0, 0.0, np.inf)
    before = np.full(rows, -1, np.int64)
    for _ in range(rows):
        for i in range(rows):
            for k in range(rows):
                if length[i] + step[i, k] < length[k] - rounding:
                    length[k], before[k] = length[i] + step[i, k], i
    last = -1
    for k in range(rows):
        if excess[k] < 0 and (last < 0 or length[k] < length[last]):
            last = k
    amount, k = -excess[last], last
    while before[k] >= 0:
        amount = min(amount, flow[before[k], over[before[k], k]])
        k = before[k]
    amount = min(amount, excess[k])
    excess[k] -= amount
    excess[last] += amount
    k = last
    while before[k] >= 0:
        i, j = before[k], over[before[k], k]
        flow[i, j] -= amount
        flow[k, j] += amount
        k = i


@jit
def mover_distances(
    indptr: NDArray[np.int64],
    columns: NDArray[np.int64],
    counts: NDArray[np.int64],
    costs: NDArray[np.float32],
    asked: NDArray[np.int64],
) -> NDArray[np.float64]:
    """Return the word mover's distance of each row of counts from one other text, infinite for an empty row.

    Counts are normalised on both sides. `asked` holds the counts of the other text, and entry e of the rows
    belongs to column `columns[e]` of `costs`.
    """
    found = np.full(len(indptr) - 1, np.inf)
    for row in range(len(found)):
        first, last = indptr[row], indptr[row + 1]
        if first == last:
            continue
        between = np.empty((len(asked), last - first), np.float32)
        for at in range(first, last):
            between[:, at - first] = costs[:, columns[at]]
        have, want = counts[first:last], asked
        supply, demand = want * have.sum(), have * want.sum()
        if len(supply) <= len(demand):
            total = least_cost(between, supply, demand)
        else:
            total = least_cost(between.T.copy(), demand, supply)
        found[row] = total / supply.sum()
    return found


@jit
def relaxed_costs(
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    counts: NDArray[np.float32],
    nearest: NDArray[np.float32],
) -> NDArray[np.float64]:
    """Return the mean cost of each row's words, given the cost of every word; infinite for an empty row.

    Entries out of bounds are skipped, because the rows may come from a damaged file.
    """
    found = np.full(len(indptr) - 1, np.inf)
    for row in range(len(found)):
        total, weight = 0.0, 0.0
        for at in range(max(indptr[row], 0), min(indptr[row + 1], len(indices))):
            if 0 <= indices[at] < len(nearest):
                total += np.float64(counts[at]) * nearest[indices[at]]
                weight += counts[at]
        if weight > 0:
            found[row] = total / weight
    return found
