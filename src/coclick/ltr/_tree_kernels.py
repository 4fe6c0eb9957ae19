"""The sum of regression trees for each row of features."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from coclick.jit.compiler import jit

Ints = NDArray[np.int32]


@jit
def add_outputs(
    rows: NDArray[np.float32],
    roots: Ints,
    feature: Ints,
    threshold: NDArray[np.float32],
    left: Ints,
    right: Ints,
    missing: NDArray[np.uint8],
    value: NDArray[np.float64],
    out: NDArray[np.float64],
) -> None:
    """Sum the outputs of all trees for each row; `missing`: 0 treats NaN as zero, 1 goes left, 2 right."""
    for row in range(len(rows)):
        total = 0.0
        for root in roots:
            node = root
            while feature[node] >= 0:
                x = rows[row, feature[node]]
                if np.isnan(x) and missing[node]:
                    goes_left = missing[node] == 1
                else:
                    goes_left = (np.float32(0) if np.isnan(x) else x) <= threshold[node]
                node = left[node] if goes_left else right[node]
            total += value[node]
        out[row] = total
