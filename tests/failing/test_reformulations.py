"""Rewordings and typing errors, by hand and against a plain recursion."""

from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coclick.failing.reformulations import is_rewording, is_typo
from coclick.rules.spelling import edit_distance


@pytest.mark.parametrize(
    ("query", "other", "typo"),
    [
        ("red lmap", "red lamp", True),
        ("macs", "macys", True),
        ("iphone 4 case", "iphone 5 case", False),
        ("hat", "cat", False),
        ("shoe", "shoes", False),
        ("running shoes", "running shoe", False),
        ("playstaton", "playstation", True),
        ("sofa", "couch", False),
        ("sofa", "sofa", False),
    ],
)
def test_typing_errors(query, other, typo):
    assert is_typo(query, other) == is_typo(other, query) == typo


def test_rewordings_share_a_word_or_are_typing_errors():
    assert is_rewording("red lamp", "lamp shade") and is_rewording("lampe", "lampr")
    assert not is_rewording("red lamp", "blue sofa")


@given(st.text("abc", max_size=6), st.text("abc", max_size=6))
def test_distance_equals_a_recursion(one, other):
    @cache
    def distance(i, j):
        if not i or not j:
            return i + j
        best = min(distance(i - 1, j), distance(i, j - 1)) + 1
        best = min(best, distance(i - 1, j - 1) + (one[i - 1] != other[j - 1]))
        if i > 1 and j > 1 and one[i - 2 : i] == other[j - 2 : j][::-1]:
            best = min(best, distance(i - 2, j - 2) + 1)
        return best

    found = edit_distance(one, other, 9)
    assert found == distance(len(one), len(other))
    assert edit_distance(one, other, 1) == found or found > 1
