"""`Csr`: sparse rows in the layout that every kernel is compiled for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from coclick.arrays.content_checks import ascends, is_finite, is_within
from coclick.errors import CoclickError, corrupt_error

if TYPE_CHECKING:  # imported where it is needed, because that takes as long as a search
    import scipy.sparse


@dataclass(frozen=True)
class Csr:
    """Compressed sparse rows: int64 pointers, int32 columns ascending in each row, float32 values."""

    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    data: NDArray[np.float32]
    columns: int

    @property
    def rows(self) -> int:
        """The number of rows."""
        return len(self.indptr) - 1

    @property
    def nnz(self) -> int:
        """The number of stored entries."""
        return len(self.indices)

    @classmethod
    def from_scipy(cls, matrix: scipy.sparse.sparray | scipy.sparse.spmatrix) -> Csr:
        """Convert any scipy matrix, which is not changed; duplicates are summed."""
        import scipy.sparse

        csr = scipy.sparse.csr_array(matrix)
        if not csr.has_canonical_format:
            csr = csr.copy()  # it may share its arrays with the caller's
            csr.sum_duplicates()
        return cls(
            csr.indptr.astype(np.int64),
            csr.indices.astype(np.int32),
            csr.data.astype(np.float32),
            csr.shape[1],
        )

    @classmethod
    def from_triples(
        cls,
        rows: NDArray[np.integer],
        columns: NDArray[np.integer],
        values: NDArray[np.floating] | NDArray[np.integer],
        shape: tuple[int, int],
    ) -> Csr:
        """Build a matrix from coordinates in any order; duplicates are summed in float64."""
        import scipy.sparse

        coo = scipy.sparse.coo_array((np.asarray(values, np.float64), (rows, columns)), shape=shape)
        return cls.from_scipy(coo)

    @classmethod
    def empty(cls, rows: int, columns: int) -> Csr:
        """Return a matrix without entries."""
        return cls(np.zeros(rows + 1, np.int64), np.empty(0, np.int32), np.empty(0, np.float32), columns)

    def find_defect(self) -> str | None:
        """Read all of the content and return what is wrong with it, or None."""
        if not ascends(self.indptr, self.nnz) or len(self.data) != self.nnz:
            return "row pointers do not ascend to the number of entries"
        if not is_within(self.indices, 0, self.columns):
            return "a column is out of bounds"
        if not is_finite(self.data):
            return "a value is not a finite number"
        return None

    def to_scipy(self) -> scipy.sparse.csr_array:
        """Return a scipy matrix (values shared, pointers copied)."""
        import scipy.sparse

        matrix = scipy.sparse.csr_array(
            (self.data, self.indices, self.indptr), shape=(self.rows, self.columns)
        )
        matrix.has_sorted_indices = True
        return matrix

    def transpose(self) -> Csr:
        """Return the transposed matrix."""
        flipped = self.to_scipy().tocsc()
        return Csr(
            flipped.indptr.astype(np.int64),
            flipped.indices.astype(np.int32),
            flipped.data.astype(np.float32, copy=False),
            self.rows,
        )

    def row(self, index: int) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
        """Return the columns and values of one row."""
        first, last = self.indptr[index], self.indptr[index + 1]
        return self.indices[first:last], self.data[first:last]

    def row_slice(self, first: int, last: int) -> Csr:
        """Return rows `first` … `last` − 1 without copying their entries."""
        entries = slice(self.indptr[first], self.indptr[last])
        pointers = self.indptr[first : last + 1] - self.indptr[first]
        return Csr(pointers, self.indices[entries], self.data[entries], self.columns)

    def take(self, rows: NDArray[np.integer]) -> Csr:
        """Return the given rows; −1 gives an empty row."""
        return _gather([(self, np.asarray(rows, np.int32), np.arange(len(rows)))], len(rows))

    def take_checked(self, rows: NDArray[np.integer], what: str) -> Csr:
        """Like `take`, for rows of a mapped file that go to code without bounds checks."""
        return self.take(rows).checked(what)

    def checked(self, what: str) -> Csr:
        """Return the matrix itself, or raise if its content is invalid."""
        if problem := self.find_defect():
            raise corrupt_error(f"{what} ({problem}) are")
        return self

    def with_data(self, data: NDArray[np.float32]) -> Csr:
        """Return a matrix of the same pattern with other values."""
        return Csr(self.indptr, self.indices, data, self.columns)

    def positive(self, above: float = 0.0) -> Csr:
        """Return only the entries above a value."""
        keep = self.data > above
        if keep.all():
            return self
        kept = np.concatenate([[0], np.cumsum(keep)])
        return Csr(kept[self.indptr], self.indices[keep], self.data[keep], self.columns)

    def only_columns(self, kept: NDArray[np.integer]) -> Csr:
        """Return only these columns, given in ascending order, renumbered from 0."""
        new_ids = np.full(self.columns, -1, np.int32)
        new_ids[kept] = np.arange(len(kept), dtype=np.int32)
        known = new_ids[self.indices] >= 0
        before = np.concatenate([[0], np.cumsum(known)])
        return Csr(before[self.indptr], new_ids[self.indices[known]], self.data[known], len(kept))

    def row_nnz(self) -> NDArray[np.int64]:
        """Return the number of entries of each row."""
        return np.diff(self.indptr)

    def row_sums(self) -> NDArray[np.float64]:
        """Return the sum of each row, which does not depend on other rows, not even in the last bit."""
        row_of = np.repeat(np.arange(self.rows), self.row_nnz())
        return np.bincount(row_of, self.data, self.rows).astype(np.float64)


def vstack(*parts: Csr) -> Csr:
    """Stack matrices vertically."""
    if len(parts) == 1:
        return parts[0]
    lengths = np.concatenate([part.row_nnz() for part in parts])
    return Csr(
        np.concatenate([[0], np.cumsum(lengths)]),
        np.concatenate([part.indices for part in parts]),
        np.concatenate([part.data for part in parts]),
        parts[0].columns,
    )


def hstack(left: Csr, right: Csr) -> Csr:
    """Stack two matrices horizontally."""
    from coclick.arrays.kernels import copy_rows

    every = np.arange(left.rows, dtype=np.int32)
    indptr = left.indptr + right.indptr
    out = np.empty(indptr[-1], np.int32), np.empty(indptr[-1], np.float32)
    shifted = right.indices + np.int32(left.columns)
    sound = copy_rows(left.indptr, left.indices, left.data, every, indptr[:-1], *out)
    sound &= copy_rows(right.indptr, shifted, right.data, every, indptr[:-1] + left.row_nnz(), *out)
    if not sound:
        raise corrupt_error("row pointers are")
    return Csr(indptr, *out, left.columns + right.columns)


def fill_rows(condition: NDArray[np.bool_], vectors: Csr, otherwise: Csr) -> Csr:
    """Return row i of `vectors` where the condition holds, else the next row of `otherwise`."""
    own, others = np.flatnonzero(condition), np.flatnonzero(~condition)
    parts = [
        (vectors, own.astype(np.int32), own),
        (otherwise, np.arange(len(others), dtype=np.int32), others),
    ]
    return _gather(parts, len(condition))


def check_count(largest: int, table: str, column: str, where: str | None = None) -> None:
    """Raise if the largest count of a column does not fit into 32 bits."""
    if largest > np.iinfo(np.int32).max:
        raise CoclickError(f"the counts in {table} ({column}) are too large for 32 bits", where=where)


def _gather(parts: Sequence[tuple[Csr, NDArray[np.int32], NDArray[Any]]], count: int) -> Csr:
    """A matrix of `count` rows from (source, rows of the source, positions in the result)."""
    from coclick.arrays.kernels import copy_rows

    sound = True
    lengths = np.zeros(count, np.int64)
    for source, rows, places in parts:
        found = np.zeros(len(rows), np.int64)
        if source.rows:
            known = np.clip(rows, 0, source.rows - 1)
            found = np.where(rows >= 0, source.indptr[known + 1] - source.indptr[known], 0)
        sound &= bool(((found >= 0) & (found <= source.nnz)).all())
        lengths[places] = found
    if sound:
        indptr = np.zeros(count + 1, np.int64)
        np.cumsum(lengths, out=indptr[1:])
        indices, data = np.empty(indptr[-1], np.int32), np.empty(indptr[-1], np.float32)
        for source, rows, places in parts:
            arrays = source.indptr, source.indices, source.data
            sound &= copy_rows(*arrays, rows, indptr[:-1][places], indices, data)
    if not sound:
        raise corrupt_error("row pointers are")
    return Csr(indptr, indices, data, parts[0][0].columns)
