"""`inlined`: like `borrowing`, for small functions that only other kernels call.

The compiler copies them into their callers. That matters where they take tuples of arrays: a call would
put every pointer and size of every array on the stack.
"""

from __future__ import annotations

from typing import Any

import numba

_OPTIONS: Any = {"_nrt": False}  # a private option of numba, whose versions pyproject.toml pins
inlined: Any = numba.njit(nogil=True, error_model="numpy", forceinline=True, **_OPTIONS)
