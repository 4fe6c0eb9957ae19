"""`lowest_bit`: where the lowest set bit of a word is, in one instruction."""

from __future__ import annotations

from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba.core import types
from numba.extending import intrinsic


def _lowest_bit(typing: Any, word: Any) -> Any:
    """The place of the lowest set bit of a uint64 that is not 0."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], ir.IntType(1)(1))

    return types.uint64(types.uint64), generate


lowest_bit: Any = intrinsic(_lowest_bit)
