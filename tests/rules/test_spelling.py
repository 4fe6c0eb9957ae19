"""Spellings, compared with a definition by recursion."""

import hashlib
import random
from functools import cache

import pytest

from coclick.rules.rule import Rule, wilson_interval
from coclick.rules.spelling import deletions, edit_distance, is_abbreviation, is_other_number, is_respelling


def naive(one, two):
    """The optimal string alignment distance, by its recursion."""

    @cache
    def distance(i, j):
        if not i or not j:
            return i + j
        best = min(
            distance(i - 1, j) + 1,
            distance(i, j - 1) + 1,
            distance(i - 1, j - 1) + (one[i - 1] != two[j - 1]),
        )
        if i > 1 and j > 1 and one[i - 1] == two[j - 2] and one[i - 2] == two[j - 1]:
            best = min(best, distance(i - 2, j - 2) + 1)
        return best

    return distance(len(one), len(two))


def test_edit_distance_is_that_of_the_recursion():
    rng = random.Random(1)
    for _ in range(400):
        one, two = ("".join(rng.choices("abc", k=rng.randrange(8))) for _ in range(2))
        for most in (1, 2, 8):
            assert edit_distance(one, two, most) == min(naive(one, two), most + 1), (one, two)


def test_words_one_error_apart_share_a_deletion():
    rng = random.Random(2)
    for _ in range(300):
        one, two = ("".join(rng.choices("ab", k=rng.randrange(1, 6))) for _ in range(2))
        if naive(one, two) <= 1:
            assert set(deletions(one)) & set(deletions(two)), (one, two)


@pytest.mark.parametrize(
    ("left", "right", "same"),
    [
        ("warefare", "warfare", True),
        ("fransisco", "francisco", True),
        ("battlefeidl", "battlefield", True),
        ("black ops", "blackops", True),
        ("x-men", "xmen", True),
        ("mw2", "mw3", False),
        ("cat", "car", False),
        ("halo2x", "halo3x", False),
        ("hotel", "motels", False),
    ],
)
def test_respellings(left, right, same):
    assert is_respelling(left, right) is same


def test_abbreviations_and_other_numbers():
    assert is_abbreviation("mw3", ["modern", "warfare", "3"])
    assert is_abbreviation("cod", ["call", "of", "duty"])
    assert not is_abbreviation("cod", ["call", "duty"])
    assert not is_abbreviation("c", ["call"])
    assert is_other_number("2k", "2k12") and is_other_number("fifa 11", "fifa 12")
    assert not is_other_number("fifa 12", "fifa12")


def test_wilson():
    # Published values for 9 of 10 and 1 of 2; by symmetry the upper end for 1 of 10.
    assert wilson_interval(9, 10)[0] == pytest.approx(0.5958, abs=1e-4)
    assert wilson_interval(1, 2)[0] == pytest.approx(0.0945, abs=1e-4)
    assert wilson_interval(1, 10)[1] == pytest.approx(1 - 0.5958, abs=1e-4)
    assert wilson_interval(0, 0) == (0, 1)
    assert wilson_interval(10, 10)[1] == 1 and wilson_interval(0, 10)[0] == 0


def test_the_id_is_a_digest_of_the_text_alone():
    rule = Rule("synonym", "cod", "call of duty", 40, 0.9, (0.8, 0.95))
    assert rule.id == hashlib.sha256(b"synonym\tcod\tcall of duty").hexdigest()[:12]
    assert Rule("synonym", "cod", "call of duty", 9, 0.1, (0, 1)).id == rule.id
    assert Rule("rewrite", "cod", "call of duty", 40, 0.9, (0.8, 0.95)).id != rule.id
