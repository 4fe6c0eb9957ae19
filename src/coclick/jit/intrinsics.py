"""Instructions that numba cannot express: vector comparisons, prefetch, bit scan, unpacking, dot products."""

from __future__ import annotations

from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba.core import cgutils, types
from numba.extending import intrinsic

LANES = 32
MASK_BITS = 64  # numbers that one mask covers
_VECTOR = ir.VectorType(ir.IntType(32), LANES)
_ZEROS = ir.Constant(_VECTOR, [0] * LANES)
_SIZES = ir.VectorType(ir.FloatType(), MASK_BITS)


def _pointer(context: Any, builder: Any, kind: Any, array: Any, index: Any, lanes: Any = _VECTOR) -> Any:
    """A pointer to the vector that begins at an index of an array."""
    data = context.make_array(kind)(context, builder, array).data
    return builder.bitcast(builder.gep(data, [index]), lanes.as_pointer())


def _load(builder: Any, pointer: Any) -> Any:
    lanes = builder.load(pointer)
    lanes.align = 4
    return lanes


def _broadcast(builder: Any, number: Any, lanes: Any = _VECTOR) -> Any:
    nothing = ir.Constant(lanes, ir.Undefined)
    first = builder.insert_element(nothing, number, ir.IntType(32)(0))
    every = ir.Constant(ir.VectorType(ir.IntType(32), lanes.count), [0] * lanes.count)
    return builder.shuffle_vector(first, nothing, every)


def _add_where(builder: Any, condition: Any, counts: Any) -> None:
    """Add 1 to the counts of the lanes whose condition holds (sign-extended to −1)."""
    builder.store(builder.sub(builder.load(counts), builder.sext(condition, _VECTOR)), counts)


def _zero_counts(builder: Any) -> Any:
    counts = cgutils.alloca_once_value(builder, _ZEROS)
    builder.store(_ZEROS, counts)
    return counts


def _count_intrinsic(comparison: str) -> Any:
    """An intrinsic that counts, for each lane, the numbers that compare with it in this way."""

    def count_others(typing: Any, numbers: Any, start: Any, count: Any, first: Any, counts: Any) -> Any:
        """Set `counts[i]` to how many of `count` numbers from `start` on are smaller (larger) than the i-th.

        Computed for i = `first` … `first` + 31 at once; both arrays need room for 32 more after the `count`.
        """

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            numbers, start, count, first, counts = arguments
            own = builder.add(start, first)
            lanes = _load(builder, _pointer(context, builder, signature.args[0], numbers, own))
            data = context.make_array(signature.args[0])(context, builder, numbers).data
            found = _zero_counts(builder)
            with cgutils.for_range_slice(
                builder, start, builder.add(start, count), start.type(1), inc=True
            ) as (
                index,
                _,
            ):
                other = _broadcast(builder, builder.load(builder.gep(data, [index])))
                _add_where(builder, builder.icmp_signed(comparison, other, lanes), found)
            pointer = _pointer(context, builder, signature.args[4], counts, first)
            builder.store(builder.load(found), pointer).align = 4
            return context.get_dummy_value()

        return types.void(numbers, types.uint64, types.uint64, types.uint64, counts), generate

    return intrinsic(count_others)


def _count_at_least(typing: Any, numbers: Any, start: Any, end: Any, bound: Any) -> Any:
    """Count the `numbers[start:end]`, a multiple of 32, that reach the bound."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        numbers, start, end, bound = arguments
        least = _broadcast(builder, bound)
        counts = _zero_counts(builder)
        step = ir.IntType(64)(LANES)
        with cgutils.for_range_slice(builder, start, end, step, inc=True) as (index, _):
            lanes = _load(builder, _pointer(context, builder, signature.args[0], numbers, index))
            _add_where(builder, builder.icmp_signed(">=", lanes, least), counts)
        kind = ir.FunctionType(ir.IntType(32), [_VECTOR])
        total = cgutils.get_or_insert_function(builder.module, kind, f"llvm.vector.reduce.add.v{LANES}i32")
        return builder.call(total, [builder.load(counts)])

    return types.int32(numbers, types.uint64, types.uint64, types.int32), generate


def _larger_mask(typing: Any, numbers: Any, first: Any, bound: Any) -> Any:
    """Return a mask with a bit for each of `numbers[first]` … `numbers[first + 63]`: is |x| > bound?"""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        numbers, first, bound = arguments
        lanes = _load(builder, _pointer(context, builder, signature.args[0], numbers, first, _SIZES))
        kind = ir.FunctionType(_SIZES, [_SIZES])
        size = cgutils.get_or_insert_function(builder.module, kind, f"llvm.fabs.v{MASK_BITS}f32")
        above = builder.fcmp_ordered(">", builder.call(size, [lanes]), _broadcast(builder, bound, _SIZES))
        return builder.bitcast(above, ir.IntType(MASK_BITS))

    return types.uint64(numbers, types.uint64, types.float32), generate


count_smaller: Any = _count_intrinsic("<")
count_larger: Any = _count_intrinsic(">")
count_at_least: Any = intrinsic(_count_at_least)
larger_mask: Any = intrinsic(_larger_mask)


def _prefetch(typing: Any, array: Any, index: Any) -> Any:
    """Start to load the cache line of `array[index]`. It is only a hint, safe for any index."""
    byte = ir.IntType(8).as_pointer()
    number = ir.IntType(32)
    read, keep, into_data_cache = (ir.Constant(number, value) for value in (0, 3, 1))

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        offset = context.cast(builder, arguments[1], signature.args[1], types.intp)
        address = builder.bitcast(builder.gep(data, [offset]), byte)
        kind = ir.FunctionType(ir.VoidType(), [byte, number, number, number])
        function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        builder.call(function, [address, read, keep, into_data_cache])
        return context.get_dummy_value()

    return types.void(array, index), generate


prefetch: Any = intrinsic(_prefetch)


def _lowest_bit(typing: Any, word: Any) -> Any:
    """Return the position of the lowest set bit of a uint64 that is not 0."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], ir.IntType(1)(1))

    return types.uint64(types.uint64), generate


lowest_bit: Any = intrinsic(_lowest_bit)


def _load_word(typing: Any, data: Any, index: Any) -> Any:
    """Return the eight bytes from `data[index]` on as a number; all of them must be in the array."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data, index = arguments
        word = builder.load(_pointer(context, builder, signature.args[0], data, index, ir.IntType(64)))
        word.align = 1
        return word

    return types.uint64(data, types.int64), generate


load_word: Any = intrinsic(_load_word)


GROUP = 4  # entries of a packed row that are read at once
_PAIRS = ir.VectorType(ir.IntType(32), 2 * GROUP)
_NUMBERS = ir.VectorType(ir.IntType(32), GROUP)


def _split_group(typing: Any, entries: Any, start: Any, terms: Any, values: Any, to: Any) -> Any:
    """Copy the group at `entries[start]`: its terms to `terms[to:]`, its values to `values[to:]`."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        def at(argument: int, index: Any, kind: Any) -> Any:
            array = context.make_array(signature.args[argument])(context, builder, arguments[argument])
            return builder.bitcast(builder.gep(array.data, [index]), kind.as_pointer())

        _, start, _, _, to = arguments
        pairs = builder.load(at(0, start, _PAIRS))
        pairs.align = 4
        for first, target in ((0, 2), (1, 3)):
            every_other = ir.Constant(_NUMBERS, list(range(first, 2 * GROUP, 2)))
            numbers = builder.shuffle_vector(pairs, ir.Constant(_PAIRS, ir.Undefined), every_other)
            builder.store(numbers, at(target, to, _NUMBERS)).align = 4
        return context.get_dummy_value()

    return types.void(entries, types.uint64, terms, values, types.uint64), generate


split_group: Any = intrinsic(_split_group)


# Dot products and scaled sums of float32 rows that are padded to whole cache lines, in a fixed order. In
# plain numba with fastmath a round of EM takes 4 to 7 % longer at most widths, mainly due to `add_scaled`.
CACHE_LINE = 16  # float32 numbers
_LINE = ir.VectorType(ir.FloatType(), CACHE_LINE)
_ZERO_LINE = ir.Constant(_LINE, [0.0] * CACHE_LINE)


def _dot(typing: Any, left: Any, right: Any) -> Any:
    """Return the dot product of two padded rows."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        rows = [_Row(context, builder, *typed) for typed in zip(signature.args, arguments, strict=True)]
        return _dots(builder, rows[0], rows[1:])[0]

    return types.float32(left, right), generate


def _four_dots(typing: Any, left: Any, a: Any, b: Any, c: Any, d: Any) -> Any:
    """Return the dot products of a padded row with four others, reading it once."""
    result = types.UniTuple(types.float32, 4)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        rows = [_Row(context, builder, *typed) for typed in zip(signature.args, arguments, strict=True)]
        return context.make_tuple(builder, result, _dots(builder, rows[0], rows[1:]))

    return result(left, a, b, c, d), generate


def _add_scaled(typing: Any, total: Any, scale: Any, row: Any) -> Any:
    """Add `scale` times a padded row to another."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        total = _Row(context, builder, signature.args[0], arguments[0])
        row = _Row(context, builder, signature.args[2], arguments[2])
        scale = _broadcast(builder, arguments[1], _LINE)
        with cgutils.for_range(builder, total.vectors) as loop:
            total.store(
                loop.index, _multiply_add(builder, scale, row.load(loop.index), total.load(loop.index))
            )
        return context.get_dummy_value()

    return types.void(total, types.float32, row), generate


class _Row:
    """A one-dimensional array as a sequence of vectors."""

    def __init__(self, context: Any, builder: Any, kind: Any, value: Any) -> None:
        array = context.make_array(kind)(context, builder, value)
        length = builder.extract_value(array.shape, 0)
        self._builder = builder
        self._data = builder.bitcast(array.data, _LINE.as_pointer())
        self.vectors = builder.udiv(length, ir.Constant(length.type, CACHE_LINE))

    def load(self, index: Any) -> Any:
        loaded = self._builder.load(self._builder.gep(self._data, [index]))
        loaded.align = 4
        return loaded

    def store(self, index: Any, vector: Any) -> None:
        self._builder.store(vector, self._builder.gep(self._data, [index])).align = 4


def _dots(builder: Any, left: _Row, others: list[_Row]) -> list[Any]:
    totals = [cgutils.alloca_once_value(builder, _ZERO_LINE) for _ in others]
    for total in totals:
        builder.store(_ZERO_LINE, total)
    with cgutils.for_range(builder, left.vectors) as loop:
        vector = left.load(loop.index)
        for total, other in zip(totals, others, strict=True):
            product = _multiply_add(builder, vector, other.load(loop.index), builder.load(total))
            builder.store(product, total)
    return [_sum(builder, builder.load(total)) for total in totals]


def _multiply_add(builder: Any, a: Any, b: Any, c: Any) -> Any:
    kind = ir.FunctionType(_LINE, [_LINE] * 3)
    function = cgutils.get_or_insert_function(builder.module, kind, f"llvm.fmuladd.v{CACHE_LINE}f32")
    return builder.call(function, [a, b, c])


def _sum(builder: Any, vector: Any) -> Any:
    """The sum of a vector: halves are added until one number is left."""
    half = CACHE_LINE
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
