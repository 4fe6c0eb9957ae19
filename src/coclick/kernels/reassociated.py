"""`reassociated`: like `inlined`, for sums that the compiler may take in any order.

Without that freedom it adds one number after the other; with it, a vector at a time. The order is fixed when
the code is compiled, so results are the same in every call and on every thread.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

reassociated: Any = numba.njit(
    nogil=True, error_model="numpy", forceinline=True, fastmath={"reassoc", "contract", "nsz"}
)


@reassociated
def dot(left: NDArray[np.float32], right: NDArray[np.float32]) -> np.float32:
    """The dot product of two rows of the same length."""
    total = np.float32(0)
    for j in range(len(left)):
        total += left[j] * right[j]
    return total


@reassociated
def add_scaled(total: NDArray[np.float32], scale: np.float32, row: NDArray[np.float32]) -> None:
    """Add `scale` times a row to another."""
    for j in range(len(total)):
        total[j] += scale * row[j]
