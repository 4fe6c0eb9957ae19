"""Linear maps from sparse features to dense embeddings: one row, dense or sparse, per feature."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np
from numpy.typing import NDArray

from coclick.arrays.csr import Csr
from coclick.errors import corrupt_error
from coclick.index.dense import longest_row
from coclick.kernels.products import times_dense
from coclick.kernels.sparse_products import times_sparse
from coclick.storage.layout import Shape
from coclick.storage.state import stored

Floats = NDArray[np.float32]

_MAPS = "the maps of the model"


@stored
@dataclass(frozen=True)
class MapBlock:
    """The map of one view, from its columns of the features to its own dimensions."""

    first_column: int
    first_dimension: int
    matrix: Annotated[Floats, Shape("columns", "dimensions")]  # one row per column of the view


@stored
@dataclass(frozen=True)
class DenseMap:
    """A map with dense rows: one block per view that has its own dimensions."""

    dimensions: ClassVar = ("features", "dim")
    blocks: list[MapBlock]
    longest: float

    def sizes(self) -> dict[str, int]:
        """Return the number of features and of dimensions of all blocks."""
        return {"features": sum(len(block.matrix) for block in self.blocks), "dim": self.dim}

    def find_defect(self) -> str | None:
        """Return whether a block does not begin where the one before ends."""
        column, dimension = 0, 0
        for block in self.blocks:
            if (block.first_column, block.first_dimension) != (column, dimension):
                return "its blocks do not follow each other"
            column, dimension = column + block.matrix.shape[0], dimension + block.matrix.shape[1]
        return None

    @classmethod
    def from_blocks(cls, matrices: Sequence[Floats]) -> DenseMap:
        """Create a block-diagonal map; a single matrix maps all features together."""
        blocks, column, dimension = [], 0, 0
        for matrix in matrices:
            blocks.append(MapBlock(column, dimension, np.ascontiguousarray(matrix, np.float32)))
            column, dimension = column + matrix.shape[0], dimension + matrix.shape[1]
        return cls(blocks, max((longest_row(matrix) for matrix in matrices), default=0.0))

    @property
    def dim(self) -> int:
        """The number of dimensions of all blocks."""
        return sum(block.matrix.shape[1] for block in self.blocks)

    def apply(self, features: Csr) -> Floats:
        """Multiply sparse features with dense blocks."""
        check_columns(features)
        if len(self.blocks) == 1:
            return times_dense(features, self.blocks[0].matrix)
        embeddings = np.empty((features.rows, self.dim), np.float32)
        for block in self.blocks:
            rows, dims = block.matrix.shape
            own = columns_between(features, block.first_column, block.first_column + rows)
            embeddings[:, block.first_dimension : block.first_dimension + dims] = times_dense(
                own, block.matrix
            )
        return embeddings


@stored
@dataclass(frozen=True)
class SparseMap:
    """A map with sparse rows."""

    dimensions: ClassVar = ("features", "dim")
    matrix: Annotated[Csr, Shape("features", "dim")]
    longest: float

    @property
    def dim(self) -> int:
        """The number of columns of the map."""
        return self.matrix.columns

    def apply(self, features: Csr) -> Floats:
        """Multiply sparse features with the map; only the rows that are needed are read and checked."""
        check_columns(features)
        if features.nnz >= self.matrix.rows:
            return times_sparse(features, self.matrix.checked(_MAPS))
        used, places = np.unique(features.indices, return_inverse=True)
        renumbered = Csr(features.indptr, places.astype(np.int32), features.data, len(used))
        return times_sparse(renumbered, self.matrix.take_checked(used, _MAPS))


LinearMap = DenseMap | SparseMap  # both have `dim`, `longest` (the length of the longest row) and `apply`


def check_columns(features: Csr) -> None:
    """Raise if a column is out of bounds, because features may come from a file."""
    if features.nnz and not 0 <= features.indices.min() <= features.indices.max() < features.columns:
        raise corrupt_error("the features of the model are")


def columns_between(matrix: Csr, first: int, last: int) -> Csr:
    """Return the columns of a range, renumbered from 0."""
    inside = (matrix.indices >= first) & (matrix.indices < last)
    before = np.zeros(matrix.nnz + 1, np.int64)
    np.cumsum(inside, out=before[1:])
    return Csr(
        before[matrix.indptr], matrix.indices[inside] - np.int32(first), matrix.data[inside], last - first
    )
