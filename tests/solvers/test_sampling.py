"""Training pairs and negative samples, by hand."""

import numpy as np
import pytest
import scipy.sparse

from coclick.arrays.csr import Csr
from coclick.errors import UserError
from coclick.graph.click_graph import SkipPairs
from coclick.solvers.sampling import (
    Sampler,
    concatenate_preferences,
    pairs_with_features,
    restrict_to_pairs,
    skip_preferences,
)


def ints(*values):
    return np.array(values, np.int32)


def matrix(rows):
    return Csr.from_scipy(scipy.sparse.csr_array(np.array(rows, np.float32)))


CLICKS = matrix([[1, 0, 2, 0], [1, 1, 1, 1], [0, 0, 0, 3]])


def test_only_pairs_with_features_of_both_sides():
    queries, docs = matrix([[1, 0], [0, 0], [0, 1]]), matrix([[1], [1], [0], [1]])
    asked, clicked = pairs_with_features(CLICKS, queries, docs)
    assert list(zip(asked.tolist(), clicked.tolist(), strict=True)) == [(0, 0), (2, 3)]
    with pytest.raises(UserError, match="nothing to learn"):
        pairs_with_features(CLICKS, matrix([[0], [0], [0]]), docs)
    with pytest.raises(UserError, match="finite"):
        pairs_with_features(CLICKS, matrix([[np.nan], [1], [1]]), docs)


def test_negatives_are_not_clicked():
    asked, clicked = np.repeat(ints(0, 2), 200), np.repeat(ints(2, 3), 200)
    drawn = Sampler(0).draw_unclicked(CLICKS, asked, clicked, 3, np.arange(4, dtype=np.int32))
    assert drawn.shape == (400, 3)
    assert set(drawn[:200].ravel().tolist()) == {1, 3}
    assert set(drawn[200:].ravel().tolist()) == {0, 1, 2}


def test_negatives_are_candidates():
    asked, clicked = ints(*[0] * 50), ints(*[2] * 50)
    drawn = Sampler(0).draw_unclicked(CLICKS, asked, clicked, 2, ints(0, 3))
    assert set(drawn.ravel().tolist()) == {3}


def test_without_negatives_a_document_is_compared_with_itself():
    drawn = Sampler(0).draw_unclicked(CLICKS, ints(1), ints(2), 5, np.arange(4, dtype=np.int32))
    assert drawn.tolist() == [[2] * 5]


def test_sampled_preferences_repeat_the_pair():
    found = Sampler(0).prefer(CLICKS, ints(0, 2), ints(0, 3), 2, ints(1))
    assert [column.tolist() for column in found] == [[0, 0, 2, 2], [0, 0, 3, 3], [1, 1, 1, 1]]


def test_skip_preferences():
    skips = SkipPairs(np.array([0, 2, 2, 3]), ints(5, 6, 7), ints(1, 2, 3), ints(9, 1, 1))
    found = skip_preferences(skips)
    assert [column.tolist() for column in found] == [[0, 0, 2], [5, 6, 7], [1, 2, 3]]
    some = restrict_to_pairs(found, ints(0, 2, 1), ints(5, 7, 6))
    assert [column.tolist() for column in some] == [[0, 2], [5, 7], [1, 3]]
    twice = concatenate_preferences(some, some)
    assert twice.worse.tolist() == [1, 3, 1, 3]


@pytest.mark.parametrize(
    "pairs, share, held",
    [
        (100_000, 0.005, 500),
        (1000, 0.005, 100),
        (20_000, 0.005, 200),
        (155, 0.005, 16),
        (19, 0.5, 0),
        (50, 0, 0),
    ],
)
def test_how_many_pairs_are_held_out(pairs, share, held):
    assert Sampler(0).hold_out(pairs, share).sum() == held
