"""Checks of the content of models."""

import numpy as np

from coclick.index.dense import DenseIndex
from coclick.models.integrity import out_of_bounds


def test_defects_of_an_index_are_reported():
    sound, damaged = (DenseIndex.build(np.full((2, 3), value, np.float32)) for value in (1.0, np.nan))
    assert list(out_of_bounds("doc_index_", sound)) == []
    assert list(out_of_bounds("doc_index_", damaged)) == [("doc_index_", "a value is not a number")]
