"""Sparse rows: conversion from scipy, selection of rows, and pointers out of bounds."""

import numpy as np
import pytest
import scipy.sparse

from coclick.arrays.csr import Csr
from coclick.errors import ArtefactError


def test_from_scipy_does_not_change_its_argument():
    """Unsorted entries with a duplicate are sorted and summed in a copy."""
    arrays = np.array([1.0, 2.0, 3.0]), np.array([2, 0, 2]), np.array([0, 3])
    given = scipy.sparse.csr_array(tuple(array.copy() for array in arrays), shape=(1, 3))
    converted = Csr.from_scipy(given)
    assert [values.tolist() for values in converted.row(0)] == [[0, 2], [2.0, 4.0]]
    for before, after in zip(arrays, (given.data, given.indices, given.indptr), strict=True):
        np.testing.assert_array_equal(before, after)


def test_unknown_rows_are_empty():
    some = Csr.from_scipy(scipy.sparse.csr_array(np.array([[0, 1.5], [0, 0]])))
    taken = some.take(np.array([-1, 0, 1, 0]))
    assert taken.row_nnz().tolist() == [0, 1, 0, 1]
    assert taken.indices.tolist() == [1, 1] and taken.data.tolist() == [1.5, 1.5]
    assert Csr.empty(0, 5).take(np.array([-1, -1])).row_nnz().tolist() == [0, 0]


def test_missing_rows_are_an_error():
    for matrix in (Csr.empty(0, 5), Csr.empty(3, 5)):
        with pytest.raises(ArtefactError, match="damaged"):
            matrix.take(np.array([3]))
