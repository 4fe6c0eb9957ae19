"""A product of sparse matrices that is applied to dense blocks factor by factor, and never formed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from coclick.arrays.csr import Csr
from coclick.arrays.reorder import transpose
from coclick.kernels.products import times_dense

Floats = NDArray[np.float32]


class FactoredOperator:
    """factors[0] @ factors[1] @ …, without zero rows and columns, scaled by a power of two.

    `rows` and `columns` are the rows and columns of the full product that are kept. The full product is this
    one times `scale`.
    """

    def __init__(self, factors: Sequence[Csr]) -> None:
        self.scale = 1.0
        used = _used_rows(factors)
        self.rows, self.columns = used[0], used[-1]
        scaled = [self._scaled(_part(factor, used[i], used[i + 1])) for i, factor in enumerate(factors)]
        self._forward = _multiply_small(scaled)
        self._backward = [transpose(factor) for factor in reversed(self._forward)]
        self._scratch = [np.empty(0, np.float32)] * 2

    def times(self, dense: Floats) -> Floats:
        """Return the product times a dense matrix."""
        for factor in reversed(self._forward):
            dense = times_dense(factor, dense)
        return dense

    def gram_times(self, dense: Floats) -> Floats:
        """Return MᵀM times a dense matrix. The result is valid until the next call.

        Its memory is reused, because the first write to new memory is slow.
        """
        steps = [*reversed(self._forward), *reversed(self._backward)]
        needed = max(step.rows for step in steps) * dense.shape[1]
        if len(self._scratch[0]) < needed:
            self._scratch = [np.empty(needed, np.float32) for _ in range(2)]
        for step in steps:
            self._scratch.reverse()
            out = self._scratch[0][: step.rows * dense.shape[1]].reshape(step.rows, -1)
            dense = times_dense(step, dense, out)
        return dense

    def transposed(self) -> FactoredOperator:
        """Return the transposed product."""
        other = FactoredOperator.__new__(FactoredOperator)
        other.rows, other.columns, other.scale = self.columns, self.rows, self.scale
        other._forward, other._backward, other._scratch = self._backward, self._forward, self._scratch
        return other

    def rescale(self, size: float) -> None:
        """Divide the product by about `size`."""
        power = int(np.frexp(size)[1])
        for factors in self._forward, self._backward:
            factors[0] = factors[0].with_data(np.ldexp(factors[0].data, -power))
        self.scale *= 2.0**power

    def _scaled(self, factor: Csr) -> Csr:
        """Scale the largest entry to between ½ and 1, so that products do not overflow."""
        power = int(np.frexp(np.abs(factor.data).max(initial=0))[1])
        self.scale *= 2.0**power
        return factor.with_data(np.ldexp(factor.data, -power))


def _used_rows(factors: Sequence[Csr]) -> list[NDArray[np.intp]]:
    """For the rows of the first factor and the columns of each: those on a path of non-zero entries."""
    reached = [np.ones(factors[0].rows, bool)]
    for factor in factors:
        entries = np.repeat(reached[-1], factor.row_nnz()) & (factor.data != 0)
        found = np.zeros(factor.columns, bool)
        found[factor.indices[entries]] = True
        reached.append(found)
    for i in reversed(range(len(factors))):
        factor = factors[i]
        entries = np.repeat(reached[i], factor.row_nnz()) & reached[i + 1][factor.indices]
        counts = np.concatenate([[0], np.cumsum(entries & (factor.data != 0))])
        reached[i] = counts[factor.indptr[1:]] > counts[factor.indptr[:-1]]
    return [np.flatnonzero(found) for found in reached]


def _part(factor: Csr, rows: NDArray[np.intp], columns: NDArray[np.intp]) -> Csr:
    if len(rows) == factor.rows and len(columns) == factor.columns:
        return factor
    return Csr.from_scipy(factor.to_scipy()[rows][:, columns])


def _multiply_small(factors: list[Csr]) -> list[Csr]:
    """Multiply neighbours whose product has no more entries than the two."""
    merged = factors[:1]
    for factor in factors[1:]:
        before = merged[-1]
        max_entries = np.bincount(before.indices, minlength=before.columns) @ factor.row_nnz()
        if max_entries <= before.nnz + factor.nnz:
            merged[-1] = Csr.from_scipy(before.to_scipy() @ factor.to_scipy())
        else:
            merged.append(factor)
    return merged
