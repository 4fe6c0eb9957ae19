"""`prefetch`: ask the processor for a piece of memory before it is needed."""

from __future__ import annotations

from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba.core import cgutils, types
from numba.extending import intrinsic


def _prefetch(typing: Any, array: Any, index: Any) -> Any:
    """Start to load the cache line of `array[index]`; a hint only, harmless at any index."""
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
