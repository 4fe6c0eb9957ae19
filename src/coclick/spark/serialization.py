"""Serialize arrays to the bytes of one DataFrame cell: Spark sees a part of a graph as one such cell.

Sparse matrices are compact, because they are shuffled: row lengths instead of pointers, and columns in two
bytes where they fit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from coclick.arrays.csr import Csr
from coclick.jit.threads import set_threads

_TYPES = [np.dtype(name) for name in ("u1", "u2", "<i4", "<i8", "<f4", "<f8")]
_SMALL = 1 << 16


def pack(arrays: Sequence[NDArray[Any]]) -> bytes:
    """Concatenate one-dimensional arrays behind a header with their types and lengths."""
    header = [len(arrays)]
    for array in arrays:
        header += [_TYPES.index(array.dtype), len(array)]
    return b"".join([np.array(header, np.int64).tobytes(), *(array.tobytes() for array in arrays)])


def unpack(payload: pa.Buffer | bytes) -> list[NDArray[Any]]:
    """Return the arrays as copies: Arrow buffers are not aligned for compiled code."""
    count = int(np.frombuffer(payload, np.int64, 1)[0])
    header = np.frombuffer(payload, np.int64, 2 * count, 8).tolist()
    at, found = 8 * (1 + 2 * count), []
    for kind, length in zip(header[::2], header[1::2], strict=True):
        found.append(np.frombuffer(payload, _TYPES[kind], length, at).copy())
        at += length * _TYPES[kind].itemsize
    return found


def csr_arrays(matrix: Csr) -> list[NDArray[Any]]:
    """Convert a matrix to arrays for `pack`."""
    lengths = matrix.row_nnz()
    short = np.uint16 if lengths.max(initial=0) < _SMALL else np.int64
    narrow = np.uint16 if matrix.columns <= _SMALL else np.int32
    return [
        np.array([matrix.columns], np.int64),
        lengths.astype(short),
        matrix.indices.astype(narrow),
        matrix.data.astype(np.float32, copy=False),
    ]


def csr_from_arrays(arrays: Sequence[NDArray[Any]]) -> Csr:
    """Invert `csr_arrays`."""
    columns, lengths, indices, data = arrays
    indptr = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=indptr[1:])
    return Csr(indptr, indices.astype(np.int32, copy=False), data, int(columns[0]))


def pack_csr(matrix: Csr) -> bytes:
    """Serialize a single matrix."""
    return pack(csr_arrays(matrix))


def unpack_csr(payload: pa.Buffer | bytes) -> Csr:
    """Deserialize a single matrix."""
    return csr_from_arrays(unpack(payload))


def buffers(table: pa.Table | pa.RecordBatch, name: str) -> list[Any]:
    """Return the buffers of a binary column without copying; None for null."""
    return [value.as_buffer() if value.is_valid else None for value in table[name]]


def buffers_by(table: pa.Table, key: str, name: str = "payload") -> dict[Any, Any]:
    """Return the buffers of a binary column by the values of a key column; the last of a key wins."""
    return dict(zip(table[key].to_pylist(), buffers(table, name), strict=True))


def map_parts(
    function: Callable[..., Iterable[pa.RecordBatch]], *columns: str
) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """Return a function for `mapInArrow` that calls `function(part, buffer of each column …)` per part."""

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        set_threads(1)
        for batch in batches:
            payloads = (buffers(batch, name) for name in columns)
            for part, *found in zip(batch["part"].to_pylist(), *payloads, strict=True):
                yield from function(part, *found)

    return run


def part_row(part: int, **payloads: bytes) -> pa.Table:
    """Return a one-row table for a part with binary columns."""
    columns = {name: pa.array([payload], pa.binary()) for name, payload in payloads.items()}
    return pa.table({"part": pa.array([part], pa.int32()), **columns})


def to_numpy(table: pa.Table | pa.RecordBatch, name: str) -> NDArray[Any]:
    """Return a numeric column without nulls as one contiguous array."""
    values = table[name]
    if isinstance(values, pa.ChunkedArray):
        values = values.combine_chunks()
    return np.array(values.to_numpy(zero_copy_only=False))
