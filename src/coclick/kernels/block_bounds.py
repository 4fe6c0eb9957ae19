"""Upper bounds on what the common terms of a query add to the rows of a block or strip (see blocks.py)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coclick.jit.compiler import jit_inline, jit_noalloc
from coclick.jit.intrinsics import prefetch
from coclick.kernels.blocks import BLOCK, STRIP

TILE = 128  # blocks whose highest bound is kept


class CommonTerms(NamedTuple):
    """The common terms of a query, and the bounds of the blocks."""

    lines: NDArray[np.int64]
    steps: NDArray[np.int32]  # units per share of a weight
    unit: np.float32
    strips: NDArray[np.uint8]
    bounds: NDArray[np.int32]  # by block
    peaks: NDArray[np.int32]  # by tile: the highest bound of the blocks that are not yet visited
    slack: np.float32  # for rounding


@jit_noalloc
def sum_bounds(common: CommonTerms, shares: NDArray[np.uint8]) -> int:
    """Compute the bounds of all blocks and tiles; return the highest."""
    bounds, peaks = common.bounds, common.peaks
    bounds[:] = 0
    for i in range(len(common.lines)):
        line, step = shares[common.lines[i]], common.steps[i]
        for block in range(len(bounds)):
            bounds[block] = np.int32(bounds[block] + np.int32(step * np.int32(line[block])))
    top = np.int32(0)
    for tile in range(len(peaks)):
        part = bounds[tile * TILE : (tile + 1) * TILE]
        highest = np.int32(0)
        for i in range(len(part)):
            highest = np.int32(max(highest, part[i]))
        peaks[tile] = highest
        top = max(top, highest)
    return int(top)


@jit_inline
def blocks_between(
    bounds: NDArray[np.int32], tile: int, level: int, below: int, listed: NDArray[np.int64]
) -> tuple[int, np.int32]:
    """List the blocks of a tile with level ≤ bound < below; return how many, and the next lower bound."""
    count, following = np.uint64(0), np.int32(0)
    lowest, above = np.int32(level), np.int32(below)
    for block in range(np.uint64(tile * TILE), np.uint64(min((tile + 1) * TILE, len(bounds)))):
        bound = bounds[block]
        listed[count] = block
        count += np.uint64((bound >= lowest) & (bound < above))
        following = max(following, bound if bound < lowest else np.int32(0))
    return int(count), following


@jit_inline
def prefetch_strips(common: CommonTerms, block: int) -> None:
    """Prefetch the shares of the common terms in the strips of a block."""
    for line in common.lines:
        prefetch(common.strips[block, line], 0)


@jit_inline
def sum_strips(common: CommonTerms, block: int, bounds: NDArray[np.int32]) -> None:
    """Compute the bounds of the strips of a block."""
    bounds[:] = 0
    for i in range(len(common.lines)):
        shares, step = common.strips[block, common.lines[i]], common.steps[i]
        for strip in range(BLOCK // STRIP):
            bounds[strip] = np.int32(bounds[strip] + np.int32(step * np.int32(shares[strip])))


@jit_inline
def strip_bound(common: CommonTerms, place: int) -> int:
    """Return the bound of the strip that a place belongs to."""
    bound = 0
    for i in range(len(common.lines)):
        bound += common.steps[i] * common.strips[place // BLOCK, common.lines[i], place % BLOCK // STRIP]
    return bound
