"""Sums of weighted sparse rows: against dense arithmetic, and damaged entries."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coclick.arrays.csr import Csr
from coclick.errors import ArtefactError
from coclick.kernels.sparse_product import dense_product


def matrix(dense):
    rows, columns = np.nonzero(dense)
    return Csr.from_triples(rows, columns, dense[rows, columns].astype(np.float32), dense.shape)


@given(st.integers(0, 2**32 - 1), st.integers(0, 6), st.integers(0, 6))
def test_equals_the_dense_product(seed, first, size):
    random = np.random.default_rng(seed)
    left = random.random((4, 5)) * (random.random((4, 5)) < 0.5)
    right = random.random((5, 12)).astype(np.float32) * (random.random((5, 12)) < 0.5)
    lines, rows = np.nonzero(left)
    indptr = np.searchsorted(lines, np.arange(5))
    found = dense_product(
        indptr, rows.astype(np.int32), left[lines, rows], matrix(right), first, first + size
    )
    np.testing.assert_allclose(found, (left @ right)[:, first : first + size], atol=1e-12)


@pytest.mark.parametrize(
    ("indices", "pointers", "columns"),
    [
        ([7], [0, 1, 2], [0, 1]),  # a row that does not exist
        ([-1], [0, 1, 2], [0, 1]),
        ([1], [0, 1, 9], [0, 1]),  # beyond the entries
        ([1], [0, 1, -1], [0, 1]),
        ([0], [0, 3, 3], [2, 2, -5]),  # columns do not ascend
    ],
)
def test_damaged_entries_are_an_error(indices, pointers, columns):
    damaged = Csr(np.array(pointers), np.array(columns, np.int32), np.ones(len(columns), np.float32), 3)
    with pytest.raises(ArtefactError, match="entries of a sparse matrix are damaged"):
        dense_product(np.array([0, 1]), np.array(indices, np.int32), np.ones(1), damaged)
