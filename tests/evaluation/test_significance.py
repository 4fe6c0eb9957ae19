"""Paired tests, compared with scipy, with all sign changes, and with values computed by hand."""

import math
from itertools import product

import numpy as np
import pytest
import scipy.stats

from coclick.evaluation.significance import bootstrap, holm, intervals, paired_tests, sign_test, t_test

RNG = np.random.default_rng(3)
FIRST, SECOND = RNG.random(60), RNG.random(60) * 0.8


def test_t_test_agrees_with_scipy():
    assert t_test(FIRST - SECOND) == pytest.approx(scipy.stats.ttest_rel(FIRST, SECOND).pvalue)
    assert t_test(np.zeros(10)) == 1.0
    assert t_test(np.array([0.5])) == 1.0
    assert t_test(np.full(10, 0.25)) == 0.0


@pytest.mark.parametrize(("won", "lost"), [(0, 0), (1, 0), (7, 2), (2, 7), (5, 5), (300, 240)])
def test_sign_test_agrees_with_scipy(won, lost):
    expected = scipy.stats.binomtest(won, won + lost).pvalue if won + lost else 1.0
    assert sign_test(won, lost) == pytest.approx(expected)


def test_holm_by_hand():
    """0.01 · 4, 0.02 · 3, 0.03 · 2, and 0.04 · 1, which may not be smaller than the one before."""
    assert holm([0.04, 0.01, 0.03, 0.02]) == pytest.approx([0.06, 0.04, 0.06, 0.06])
    assert holm([0.9, 0.6]) == [1.0, 1.0]
    assert holm([]) == []


def test_randomisation_against_all_sign_changes():
    a, b = np.array([0.5, 0.2, 0.9, 0.4, 0.7, 0.6]), np.array([0.1, 0.3, 0.5, 0.3, 0.2, 0.6])
    observed = abs((a - b).sum())
    exact = np.mean([abs(np.dot(signs, a - b)) >= observed - 1e-9 for signs in product((1, -1), repeat=6)])
    [row] = paired_tests({"a": a, "b": b}, "RR")
    assert row["p_random"] == pytest.approx(exact, abs=0.02)
    assert (row["won"], row["tied"], row["lost"]) == (4, 1, 1)
    assert row["difference"] == pytest.approx((a - b).mean())


def test_intervals_agree_with_the_normal_approximation():
    values = RNG.random(2000)
    interval = intervals({"a": values})["a"]
    half = 1.96 * values.std() / math.sqrt(len(values))
    assert interval.low == pytest.approx(values.mean() - half, abs=0.002)
    assert interval.high == pytest.approx(values.mean() + half, abs=0.002)


def test_same_seed_gives_the_same_result():
    assert paired_tests({"a": FIRST, "b": SECOND}, "AP") == paired_tests({"a": FIRST, "b": SECOND}, "AP")
    assert np.array_equal(bootstrap(FIRST[None])[0], bootstrap(FIRST[None])[0])


def test_all_pairs_are_corrected_together():
    rows = paired_tests({"a": FIRST, "b": SECOND, "c": FIRST}, "AP")
    assert [(row["a"], row["b"]) for row in rows] == [("a", "b"), ("a", "c"), ("b", "c")]
    assert rows[0]["p_holm"] == pytest.approx(min(1, 3 * rows[0]["p_t"]))
    assert rows[1]["p_holm"] == 1.0
