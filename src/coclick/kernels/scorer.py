"""`Scorer`: score rows of an index through their vectors and keep the best in a heap."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coclick.jit.compiler import jit_inline, jit_noalloc
from coclick.jit.intrinsics import prefetch
from coclick.jit.selection import push
from coclick.kernels.dots import dot, prefetch_rows


class Scorer(NamedTuple):
    """The vectors by place, the query, and the heap of the best rows."""

    order: NDArray[np.int32]
    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    data: NDArray[np.float32]
    query: NDArray[np.float32]  # by term
    allowed: NDArray[np.uint8]  # by row; empty allows every row
    stamps: NDArray[np.uint8]  # by place: the stamp of the last search that scored it
    stamp: np.uint8  # of this search
    rows: NDArray[np.int32]
    scores: NDArray[np.float32]


@jit_inline
def is_allowed(scorer: Scorer, place: int) -> bool:
    """Return whether the row at a place is allowed; damage is detected later, when it is scored."""
    if len(scorer.allowed) == 0:
        return True
    row = scorer.order[place]
    return not 0 <= row < len(scorer.allowed) or scorer.allowed[row] != 0


@jit_noalloc
def score_unstamped(scorer: Scorer, places: NDArray[np.int32], found: int) -> int:
    """Score the places without this stamp (overwrites `places`); return the heap size, or −1 for damage."""
    indptr, indices, data = scorer.indptr, scorer.indices, scorer.data
    n_rows = 0
    for place in places:
        if scorer.stamps[place] != scorer.stamp:
            scorer.stamps[place] = scorer.stamp
            row = scorer.order[place]
            prefetch(indptr, row)
            places[n_rows] = row
            n_rows += 1
    prefetch_rows(indptr, indices, data, places[:n_rows])
    for row in places[:n_rows]:
        value = dot(indptr, indices, data, scorer.query, row)
        if not value >= 0.0:
            return -1
        if value > 0.0:
            found = push(scorer.scores, scorer.rows, found, value, row)
    return found
