"""Ranks of many numbers at once: a loop over vectors, which numba offers no way to write."""

from __future__ import annotations

from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba.core import cgutils, types
from numba.extending import intrinsic

LANES = 32


def _rank_lanes(typing: Any, numbers: Any, count: Any, first: Any, ranks: Any) -> Any:
    """`ranks[i]` becomes how many of the first `count` numbers are smaller than `numbers[i]`.

    For i = `first` … `first` + 31 at once; there must be room for as many behind the `count` in both arrays.
    """
    vector = ir.VectorType(ir.IntType(32), LANES)
    undefined = ir.Constant(vector, ir.Undefined)
    first_lane = ir.Constant(vector, [0] * LANES)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        numbers, count, first, ranks = arguments
        numbers = context.make_array(signature.args[0])(context, builder, numbers).data
        ranks = context.make_array(signature.args[3])(context, builder, ranks).data
        lanes = builder.load(builder.bitcast(builder.gep(numbers, [first]), vector.as_pointer()))
        lanes.align = 4
        smaller = cgutils.alloca_once_value(builder, ir.Constant(vector, [0] * LANES))
        builder.store(ir.Constant(vector, [0] * LANES), smaller)
        with cgutils.for_range(builder, count) as loop:
            other = builder.load(builder.gep(numbers, [loop.index]))
            other = builder.insert_element(undefined, other, ir.IntType(32)(0))
            other = builder.shuffle_vector(other, undefined, first_lane)
            is_smaller = builder.sext(builder.icmp_signed("<", other, lanes), vector)  # 0 or −1
            builder.store(builder.sub(builder.load(smaller), is_smaller), smaller)
        found = builder.store(
            builder.load(smaller), builder.bitcast(builder.gep(ranks, [first]), vector.as_pointer())
        )
        found.align = 4
        return context.get_dummy_value()

    return types.void(numbers, types.uint64, types.uint64, ranks), generate


rank_lanes: Any = intrinsic(_rank_lanes)
