"""Logarithms and powers of whole arrays in float32.

They have a relative error of about 1e-6. The C library computes one number per call; this is
plain arithmetic, which the compiler vectorises. The casts keep integers at 32 bits: numba adds them as int64,
for which there are fewer vector instructions.
"""

from __future__ import annotations

from math import log

import numpy as np
from numpy.typing import NDArray

from coclick.jit.compiler import jit_fastmath, jit_inline

_F, _I = np.float32, np.int32
_ROOT = _I(0x3F3504F3)  # the bits of √½
_MANTISSA = _I(0x7FFFFF)
_SHIFT, _BIAS = _I(23), _I(127)
_TWO_BY_LN2, _LN2 = _F(2 / log(2)), _F(log(2))
_ROUNDER, _ROUNDER_BITS = _F(3 << 22), _I(0x4B400000)
_LOWEST, _HIGHEST = _F(-126), _F(126)


@jit_inline
def powers(base: NDArray[np.float32], exponent: np.float32, out: NDArray[np.float32]) -> None:
    """Set `out` = base ** exponent for normal positive numbers; results beyond float32 are clipped."""
    for j in range(len(base)):
        power = exponent * log2(base[j])
        power = power if power > _LOWEST else _LOWEST
        out[j] = exp2(power if power < _HIGHEST else _HIGHEST)


@jit_fastmath
def sum_of_logs(row: NDArray[np.float32], count: int) -> float:
    """Return Σ log of the first `count` values, which are normal and positive."""
    total = _F(0)
    for j in range(count):
        total += log2(row[j])
    return total * np.float64(_LN2)


@jit_inline
def log2(x: np.float32) -> np.float32:
    """Return the exponent plus log₂ of the mantissa m in [√½, √2): log m = 2 artanh t, t = (m−1)/(m+1)."""
    bits = _I(_F(x).view(np.int32) - _ROOT)
    exponent = _I(bits >> _SHIFT)
    mantissa = _I(_I(bits & _MANTISSA) + _ROOT).view(np.float32)
    t = (mantissa - _F(1)) / (mantissa + _F(1))
    square = t * t
    series = _F(1) + square * (_F(1 / 3) + square * (_F(1 / 5) + square * _F(1 / 7)))
    return _F(exponent) + _TWO_BY_LN2 * t * series


@jit_inline
def exp2(x: np.float32) -> np.float32:
    """Return 2 to the nearest integer, times e to the remainder by the first terms of its series."""
    shifted = x + _ROUNDER  # rounds: the integer ends up in the lowest bits
    rest = (x - (shifted - _ROUNDER)) * _LN2
    series = _F(1 / 24) + rest * (_F(1 / 120) + rest * _F(1 / 720))
    series = _F(1) + rest * (_F(1) + rest * (_F(1 / 2) + rest * (_F(1 / 6) + rest * series)))
    whole = _I(_F(shifted).view(np.int32) - _ROUNDER_BITS)
    return series * _I(_I(whole + _BIAS) << _SHIFT).view(np.float32)
