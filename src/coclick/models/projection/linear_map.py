"""Linear maps from sparse features to dense images: a row of the map, dense or sparse, for each feature."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from coclick.arrays.csr import Csr
from coclick.errors import corrupt_error
from coclick.index.dense import longest_row
from coclick.kernels.products import times_dense
from coclick.kernels.sparse_products import times_sparse
from coclick.storage.state import stored

Floats = NDArray[np.float32]

_MAPS = "the maps of the model"


class LinearMap(Protocol):
    """From features to `dim` dimensions."""

    @property
    def dim(self) -> int:
        """How many dimensions images have."""

    @property
    def longest(self) -> float:
        """The length of the map's longest row."""

    def apply(self, features: Csr) -> Floats:
        """The images of rows of features."""


@stored
@dataclass(frozen=True)
class MapBlock:
    """The map of one view: its columns of the features lead to dimensions of its own."""

    first_column: int
    first_dimension: int
    matrix: Floats  # a row for each column of the view


@stored
@dataclass(frozen=True)
class DenseMap:
    """A map of dense rows, one block for each view that has dimensions of its own."""

    blocks: list[MapBlock]
    longest: float

    @classmethod
    def of(cls, matrices: Sequence[Floats]) -> DenseMap:
        """Blocks along the diagonal; a single matrix maps all features together."""
        blocks, column, dimension = [], 0, 0
        for matrix in matrices:
            blocks.append(MapBlock(column, dimension, np.ascontiguousarray(matrix, np.float32)))
            column, dimension = column + matrix.shape[0], dimension + matrix.shape[1]
        return cls(blocks, max((longest_row(matrix) for matrix in matrices), default=0.0))

    @property
    def dim(self) -> int:
        """The dimensions of all blocks together."""
        return sum(block.matrix.shape[1] for block in self.blocks)

    def apply(self, features: Csr) -> Floats:
        """Sparse times dense, block by block."""
        check_columns(features)
        if len(self.blocks) == 1:
            return times_dense(features, self.blocks[0].matrix)
        images = np.empty((features.rows, self.dim), np.float32)
        for block in self.blocks:
            rows, dims = block.matrix.shape
            own = columns_between(features, block.first_column, block.first_column + rows)
            images[:, block.first_dimension : block.first_dimension + dims] = times_dense(own, block.matrix)
        return images


@stored
@dataclass(frozen=True)
class SparseMap:
    """A map of sparse rows."""

    matrix: Csr
    longest: float

    @property
    def dim(self) -> int:
        """The columns of the map."""
        return self.matrix.columns

    def apply(self, features: Csr) -> Floats:
        """Sparse times sparse; only the rows of the map that are needed are read, and checked."""
        check_columns(features)
        if features.nnz >= self.matrix.rows:
            return times_sparse(features, self.matrix.checked(_MAPS))
        named, places = np.unique(features.indices, return_inverse=True)
        renumbered = Csr(features.indptr, places.astype(np.int32), features.data, len(named))
        return times_sparse(renumbered, self.matrix.take_checked(named, _MAPS))


def check_columns(features: Csr) -> None:
    """Raise if a column is outside: features may come from a file."""
    if features.nnz and not 0 <= features.indices.min() <= features.indices.max() < features.columns:
        raise corrupt_error("the features of the model are")


def columns_between(matrix: Csr, first: int, last: int) -> Csr:
    """Only the columns of a range, numbered from 0."""
    inside = (matrix.indices >= first) & (matrix.indices < last)
    before = np.zeros(matrix.nnz + 1, np.int64)
    np.cumsum(inside, out=before[1:])
    return Csr(
        before[matrix.indptr], matrix.indices[inside] - np.int32(first), matrix.data[inside], last - first
    )
