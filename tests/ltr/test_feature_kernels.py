"""The highest scores of parts and the ranks among them, by hand and against sorting."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from coclick.ltr._feature_kernels import describe, find_best


def described(scores, best):
    features = np.full((scores.shape[1], 3 * len(scores) + 1), -1, np.float32)
    describe(scores, best, features)
    assert (features[:, -1] == -1).all()  # columns after those of the parts are not touched
    return features


def test_features_by_hand():
    scores = np.array([[0, 5, 3, 3, 9, 1]], np.float32)
    found = described(scores, np.array([[9, 5, 3]], np.float32))
    np.testing.assert_allclose(found[:, 0], scores[0])
    np.testing.assert_allclose(found[:, 1], scores[0] / 9, rtol=1e-6)
    np.testing.assert_allclose(found[:, 2], [0, 1 / 2, 1 / 3, 1 / 3, 1, 0], rtol=1e-6)


def test_a_part_that_finds_nothing_has_no_ranks():
    found = described(np.zeros((1, 3), np.float32), np.zeros((1, 2), np.float32))
    assert found[:, :3].tolist() == [[0, 0, 0]] * 3


@given(
    arrays.arrays(np.float32, (3, 12), elements=st.sampled_from([-1, 0, 0.5, 1, 2, 3])),
    st.integers(1, 12),
)
def test_the_best_are_the_first_by_score_and_row(scores, depth):
    searched, finding = np.array([True, True, False]), np.array([True, False, False])
    best, candidates = np.zeros((3, depth), np.float32), np.zeros(12, bool)
    find_best(scores, searched, finding, best, candidates)
    for part in range(2):
        rows = sorted((row for row in range(12) if scores[part, row] > 0), key=lambda row: -scores[part, row])
        expected = [scores[part, row] for row in rows[:depth]]
        assert best[part].tolist() == expected + [0] * (depth - len(expected))
        if part == 0:
            assert np.flatnonzero(candidates).tolist() == sorted(rows[:depth])
    assert not best[2].any()
