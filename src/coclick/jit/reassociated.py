"""`reassociated`: like `inlined`, for sums that the compiler may take in any order.

Without that freedom it adds one number after the other; with it, a vector at a time. The order is fixed when
the code is compiled, so results are the same in every call and on every thread.
"""

from __future__ import annotations

from typing import Any

import numba

reassociated: Any = numba.njit(
    nogil=True, error_model="numpy", forceinline=True, fastmath={"reassoc", "contract", "nsz"}
)
