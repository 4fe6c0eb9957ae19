"""Rows of an index scored through their vectors into a heap of the best."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coclick.jit.compiler import jit_inline, jit_noalloc
from coclick.jit.intrinsics import prefetch
from coclick.jit.selection import push
from coclick.kernels.dots import dot, fetch


class Scorer(NamedTuple):
    """What it takes to score the row at a place, and the heap of the best."""

    order: NDArray[np.int32]
    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    data: NDArray[np.float32]
    query: NDArray[np.float32]  # by term
    allowed: NDArray[np.uint8]  # by row; empty: all are
    stamps: NDArray[np.uint8]  # by place
    now: np.uint8  # the stamp of this search
    rows: NDArray[np.int32]
    scores: NDArray[np.float32]


@jit_inline
def is_allowed(target: Scorer, place: int) -> bool:
    """Whether the row at a place may be found; a damaged one may, and is noticed when it is scored."""
    if len(target.allowed) == 0:
        return True
    row = target.order[place]
    return not 0 <= row < len(target.allowed) or target.allowed[row] != 0


@jit_noalloc
def score_new(target: Scorer, places: NDArray[np.int32], found: int) -> int:
    """Score into the heap what has no stamp yet, overwriting `places`: the heap's size, or −1 for damage."""
    indptr, indices, data = target.indptr, target.indices, target.data
    fresh = 0
    for place in places:
        if target.stamps[place] != target.now:
            target.stamps[place] = target.now
            row = target.order[place]
            prefetch(indptr, row)
            places[fresh] = row
            fresh += 1
    fetch(indptr, indices, data, places[:fresh])
    for row in places[:fresh]:
        value = dot(indptr, indices, data, target.query, row)
        if not value >= 0.0:
            return -1
        if value > 0.0:
            found = push(target.scores, target.rows, found, value, row)
    return found
