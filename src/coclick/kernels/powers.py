"""Powers of many numbers at once, in float32 to a few parts in ten million.

The library's functions take one number a call; these are plain arithmetic, which the compiler turns into
arithmetic on vectors.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from coclick.kernels.inlined import inlined

_F = np.float32
_MANTISSA, _ONE, _HALF_ROOT = np.int32(0x7FFFFF), np.int32(0x3F800000), np.int32(0x3504F3)
_TO_BITS = _F(2 / np.log(2))
_LN2 = _F(np.log(2))
_LOWEST, _HIGHEST = _F(-126), _F(126)


@inlined
def powers(base: NDArray[np.float32], exponent: np.float32, out: NDArray[np.float32]) -> None:
    """`out` = base ** exponent for normal positive numbers; what leaves float32 stays at its ends."""
    for j in range(len(base)):
        power = exponent * _log2(base[j])
        out[j] = _exp2(min(max(power, _LOWEST), _HIGHEST))


@inlined
def _log2(x: np.float32) -> np.float32:
    """Exponent and mantissa m between √½ and √2; log m = 2 artanh t = 2 (t + t³/3 + …), t = (m−1)/(m+1)."""
    bits = _F(x).view(np.int32) + _HALF_ROOT + np.int32(7)
    exponent = _F((bits - _ONE) >> np.int32(23))
    mantissa = np.int32((bits & _MANTISSA) + _ONE - _HALF_ROOT - np.int32(7)).view(np.float32)
    t = (mantissa - _F(1)) / (mantissa + _F(1))
    square = t * t
    series = _F(1) + square * (_F(1 / 3) + square * (_F(1 / 5) + square * _F(1 / 7)))
    return exponent + _TO_BITS * t * series


@inlined
def _exp2(x: np.float32) -> np.float32:
    """2 to the nearest whole number, times e to the rest, by six terms of its series."""
    whole = np.floor(x + _F(0.5))
    rest = (x - whole) * _LN2
    series = _F(1 / 120) + rest * _F(1 / 720)
    series = _F(1) + rest * (
        _F(1) + rest * (_F(1 / 2) + rest * (_F(1 / 6) + rest * (_F(1 / 24) + rest * series)))
    )
    return series * np.int32((np.int32(whole) + np.int32(127)) << np.int32(23)).view(np.float32)
