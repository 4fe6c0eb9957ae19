"""Sets of list positions as bits of a word: two machine operations that numba does not offer."""

from __future__ import annotations

from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba.core import types
from numba.extending import intrinsic

LANES = 64


def _lanes_at_least(typing: Any, keys: Any, start: Any, bound: Any) -> Any:
    """Bit i of the result says whether `keys[start + i] >= bound`, for 64 int32 keys at once."""
    number = ir.IntType(32)
    vector = ir.VectorType(number, LANES)
    undefined = ir.Constant(vector, ir.Undefined)
    first_lane = ir.Constant(vector, [0] * LANES)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        keys, start, bound = arguments
        data = context.make_array(signature.args[0])(context, builder, keys).data
        loaded = builder.load(builder.bitcast(builder.gep(data, [start]), vector.as_pointer()))
        loaded.align = 4
        bound = builder.insert_element(undefined, bound, number(0))
        bound = builder.shuffle_vector(bound, undefined, first_lane)
        return builder.bitcast(builder.icmp_signed(">=", loaded, bound), ir.IntType(LANES))

    return types.uint64(keys, start, types.int32), generate


def _lowest_bit(typing: Any, word: Any) -> Any:
    """The position of the lowest set bit of a word that is not zero."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        never_zero = ir.Constant(ir.IntType(1), 1)
        return builder.cttz(arguments[0], never_zero)

    return types.uint64(types.uint64), generate


lanes_at_least: Any = intrinsic(_lanes_at_least)
lowest_bit: Any = intrinsic(_lowest_bit)
