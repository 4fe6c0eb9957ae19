"""Sparse rows where they are empty, in another order, or somebody else's."""

import numpy as np
import pytest
import scipy.sparse

from coclick.arrays.csr import Csr
from coclick.errors import ArtefactError


def test_a_matrix_that_is_taken_over_stays_as_it_is():
    """Entries out of order, one of them twice: ours has them sorted and summed, the caller's is untouched."""
    arrays = np.array([1.0, 2.0, 3.0]), np.array([2, 0, 2]), np.array([0, 3])
    theirs = scipy.sparse.csr_array(tuple(array.copy() for array in arrays), shape=(1, 3))
    ours = Csr.from_scipy(theirs)
    assert [values.tolist() for values in ours.row(0)] == [[0, 2], [2.0, 4.0]]
    for before, after in zip(arrays, (theirs.data, theirs.indices, theirs.indptr), strict=True):
        np.testing.assert_array_equal(before, after)


def test_rows_that_are_unknown_are_empty():
    some = Csr.from_scipy(scipy.sparse.csr_array(np.array([[0, 1.5], [0, 0]])))
    taken = some.take(np.array([-1, 0, 1, 0]))
    assert taken.row_nnz().tolist() == [0, 1, 0, 1]
    assert taken.indices.tolist() == [1, 1] and taken.data.tolist() == [1.5, 1.5]
    assert Csr.empty(0, 5).take(np.array([-1, -1])).row_nnz().tolist() == [0, 0]


def test_rows_that_are_not_there_are_an_error():
    for matrix in (Csr.empty(0, 5), Csr.empty(3, 5)):
        with pytest.raises(ArtefactError, match="damaged"):
            matrix.take(np.array([3]))
