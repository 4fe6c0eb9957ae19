"""`split_group`: a few terms and values that lie side by side, taken apart at once."""

from __future__ import annotations

from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba.core import types
from numba.extending import intrinsic

GROUP = 4  # entries
_PAIRS = ir.VectorType(ir.IntType(32), 2 * GROUP)
_NUMBERS = ir.VectorType(ir.IntType(32), GROUP)


def _split_group(typing: Any, entries: Any, start: Any, terms: Any, values: Any, to: Any) -> Any:
    """Copy the group at `entries[start]`: its terms to `terms`, its values to `values`, from `to` on."""

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
