"""Sums over rows of float32 whose length is a multiple of `LANES`, a vector at a time.

Left to itself the compiler would add one number after the other, or, if it may change the order, spend as
long on what is left over at the end of a row as on the row. The order of the sums is fixed here.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba.core import cgutils, types
from numba.extending import intrinsic

LANES = 16  # a cache line
_FLOAT = ir.FloatType()
_VECTOR = ir.VectorType(_FLOAT, LANES)
_ZEROS = ir.Constant(_VECTOR, [0.0] * LANES)


def _dot(typing: Any, left: Any, right: Any) -> Any:
    """The dot product of two rows."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        rows = [_Row(context, builder, *typed) for typed in zip(signature.args, arguments, strict=True)]
        return _dots(builder, rows[0], rows[1:])[0]

    return types.float32(left, right), generate


def _four_dots(typing: Any, left: Any, a: Any, b: Any, c: Any, d: Any) -> Any:
    """The dot products of a row with four others: it is read once."""
    result = types.UniTuple(types.float32, 4)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        rows = [_Row(context, builder, *typed) for typed in zip(signature.args, arguments, strict=True)]
        return context.make_tuple(builder, result, _dots(builder, rows[0], rows[1:]))

    return result(left, a, b, c, d), generate


def _add_scaled(typing: Any, total: Any, scale: Any, row: Any) -> Any:
    """Add `scale` times a row to another."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        total = _Row(context, builder, signature.args[0], arguments[0])
        row = _Row(context, builder, signature.args[2], arguments[2])
        lane = builder.insert_element(ir.Constant(_VECTOR, ir.Undefined), arguments[1], ir.IntType(32)(0))
        everywhere = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
        scale = builder.shuffle_vector(lane, ir.Constant(_VECTOR, ir.Undefined), everywhere)
        with cgutils.for_range(builder, total.vectors) as loop:
            total.store(
                loop.index, _multiply_add(builder, scale, row.load(loop.index), total.load(loop.index))
            )
        return context.get_dummy_value()

    return types.void(total, types.float32, row), generate


class _Row:
    """The data of a one-dimensional array, as vectors."""

    def __init__(self, context: Any, builder: Any, kind: Any, value: Any) -> None:
        array = context.make_array(kind)(context, builder, value)
        length = builder.extract_value(array.shape, 0)
        self._builder = builder
        self._data = builder.bitcast(array.data, _VECTOR.as_pointer())
        self.vectors = builder.udiv(length, ir.Constant(length.type, LANES))

    def load(self, index: Any) -> Any:
        loaded = self._builder.load(self._builder.gep(self._data, [index]))
        loaded.align = 4
        return loaded

    def store(self, index: Any, vector: Any) -> None:
        self._builder.store(vector, self._builder.gep(self._data, [index])).align = 4


def _dots(builder: Any, left: _Row, others: list[_Row]) -> list[Any]:
    totals = [cgutils.alloca_once_value(builder, _ZEROS) for _ in others]
    for total in totals:
        builder.store(_ZEROS, total)
    with cgutils.for_range(builder, left.vectors) as loop:
        vector = left.load(loop.index)
        for total, other in zip(totals, others, strict=True):
            product = _multiply_add(builder, vector, other.load(loop.index), builder.load(total))
            builder.store(product, total)
    return [_sum(builder, builder.load(total)) for total in totals]


def _multiply_add(builder: Any, a: Any, b: Any, c: Any) -> Any:
    kind = ir.FunctionType(_VECTOR, [_VECTOR] * 3)
    function = cgutils.get_or_insert_function(builder.module, kind, f"llvm.fmuladd.v{LANES}f32")
    return builder.call(function, [a, b, c])


def _sum(builder: Any, vector: Any) -> Any:
    """Halves are added until one number is left."""
    half = LANES
    while half > 1:
        half //= 2
        numbers = ir.VectorType(ir.IntType(32), half)
        low, high = (ir.Constant(numbers, list(range(at, at + half))) for at in (0, half))
        parts = [
            builder.shuffle_vector(vector, ir.Constant(vector.type, ir.Undefined), at) for at in (low, high)
        ]
        vector = builder.fadd(*parts)
    return builder.extract_element(vector, ir.IntType(32)(0))


dot: Any = intrinsic(_dot)
four_dots: Any = intrinsic(_four_dots)
add_scaled: Any = intrinsic(_add_scaled)
