"""Entries of sparse vectors."""

import numpy as np

from coclick.arrays.sparse_vector import SparseVector


def test_values_at_indices():
    vector = SparseVector(np.array([2, 5, 9]), np.array([0.5, 1.5, 2.5]))
    assert vector.at(np.array([9, 0, 5, 5, 10, 2])).tolist() == [2.5, 0, 1.5, 1.5, 0, 0.5]
    assert SparseVector.none().at(np.array([0, 3])).tolist() == [0, 0]
