"""Arrays as the bytes of one cell of a DataFrame: what a partition of a graph is to Spark.

Sparse rows take as few bytes as they can, because they travel: lengths instead of pointers, and columns in
two bytes where there are few of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from coclick.arrays.csr import Csr

_TYPES = [np.dtype(name) for name in ("u1", "u2", "<i4", "<i8", "<f4", "<f8")]
_SMALL = 1 << 16


def pack(arrays: Sequence[NDArray[Any]]) -> bytes:
    """One-dimensional arrays, one behind the other, with a header that tells them apart."""
    header = [len(arrays)]
    for array in arrays:
        header += [_TYPES.index(array.dtype), len(array)]
    return b"".join([np.array(header, np.int64).tobytes(), *(array.tobytes() for array in arrays)])


def unpack(payload: pa.Buffer | bytes) -> list[NDArray[Any]]:
    """The arrays, as copies: what Arrow holds is not aligned as compiled code wants it."""
    count = int(np.frombuffer(payload, np.int64, 1)[0])
    header = np.frombuffer(payload, np.int64, 2 * count, 8).tolist()
    at, found = 8 * (1 + 2 * count), []
    for kind, length in zip(header[::2], header[1::2], strict=True):
        found.append(np.frombuffer(payload, _TYPES[kind], length, at).copy())
        at += length * _TYPES[kind].itemsize
    return found


def csr_arrays(matrix: Csr) -> list[NDArray[Any]]:
    """A matrix as arrays for `pack`."""
    lengths = matrix.row_nnz()
    short = np.uint16 if lengths.max(initial=0) < _SMALL else np.int64
    narrow = np.uint16 if matrix.columns <= _SMALL else np.int32
    return [
        np.array([matrix.columns], np.int64),
        lengths.astype(short),
        matrix.indices.astype(narrow),
        matrix.data.astype(np.float32, copy=False),
    ]


def csr_of(arrays: Sequence[NDArray[Any]]) -> Csr:
    """The matrix that `csr_arrays` took apart."""
    columns, lengths, indices, data = arrays
    indptr = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=indptr[1:])
    return Csr(indptr, indices.astype(np.int32, copy=False), data, int(columns[0]))


def pack_csr(matrix: Csr) -> bytes:
    """A matrix alone."""
    return pack(csr_arrays(matrix))


def unpack_csr(payload: pa.Buffer | bytes) -> Csr:
    """A matrix that was packed alone."""
    return csr_of(unpack(payload))


def cells(table: pa.Table | pa.RecordBatch, name: str) -> list[Any]:
    """The buffers of a column of bytes, none of them copied; None where there is nothing."""
    return [value.as_buffer() if value.is_valid else None for value in table[name]]


def cells_by(table: pa.Table, key: str, name: str = "payload") -> dict[Any, Any]:
    """The same by the values of another column, which are distinct, or of which the last counts."""
    return dict(zip(table[key].to_pylist(), cells(table, name), strict=True))


def part_row(part: int, **payloads: bytes) -> pa.Table:
    """The one row of a part, with its columns of bytes."""
    columns = {name: pa.array([payload], pa.binary()) for name, payload in payloads.items()}
    return pa.table({"part": pa.array([part], pa.int32()), **columns})


def column(table: pa.Table | pa.RecordBatch, name: str) -> NDArray[Any]:
    """A column of numbers without nulls as one array that compiled code can take."""
    values = table[name]
    if isinstance(values, pa.ChunkedArray):
        values = values.combine_chunks()
    return np.array(values.to_numpy(zero_copy_only=False))
