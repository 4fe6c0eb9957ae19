"""The trend test against a permutation test and by hand; corrections by hand."""

import numpy as np
import pytest

from coclick.failing import find_failing
from coclick.failing.trends import Week, false_discovery_rates, trend_p_value
from failing.shop_log import Log


def weeks(*counts):
    return [Week(7 * i, searches, clicked) for i, (searches, clicked) in enumerate(counts)]


def test_by_hand():
    """n = 20 each, c = 15, 10, 5: t = -1, 0, 1; T = -10, variance = 1/4 · 40, no deviation from the line."""
    z = -10 / np.sqrt(0.25 * 40)
    from scipy.stats import norm

    assert trend_p_value(weeks((20, 15), (20, 10), (20, 5))) == pytest.approx(norm.cdf(z))
    assert trend_p_value(weeks((20, 5), (20, 10), (20, 15))) == pytest.approx(norm.cdf(-z)), "rises"


def test_equals_a_permutation_test():
    counts = weeks((30, 20), (40, 22), (20, 10), (35, 15))
    times = np.repeat(np.arange(4), [week.searches for week in counts])
    clicked = np.concatenate([np.arange(week.searches) < week.clicked for week in counts])
    chance = np.random.default_rng(0)
    observed = times[clicked].sum()
    permuted = [times[chance.permutation(clicked)].sum() for _ in range(20_000)]
    expected = np.mean([(value < observed) + 0.5 * (value == observed) for value in permuted])
    assert trend_p_value(counts) == pytest.approx(expected, abs=0.004)


def test_weeks_that_go_up_and_down_are_no_trend():
    steady = trend_p_value(weeks((50, 30), (50, 28), (50, 26), (50, 24), (50, 22)))
    jumping = trend_p_value(weeks((50, 45), (50, 10), (50, 48), (50, 5), (50, 22)))
    assert steady < 0.05 < jumping


def test_too_few_counts_are_not_tested():
    assert trend_p_value(weeks((50, 40), (50, 10))) is None, "two weeks"
    assert trend_p_value(weeks((9, 8), (9, 4), (9, 1))) is None, "27 searches"
    assert trend_p_value(weeks((20, 20), (20, 19), (20, 18))) is None, "3 without a click"


def test_false_discovery_rates_by_hand():
    """Sorted .005, .01, .03, .04 times 4 / rank: .02, .02, .04, .04; the smallest to the right."""
    assert false_discovery_rates([0.04, 0.01, 0.03, 0.005]) == pytest.approx([0.04, 0.02, 0.04, 0.02])
    assert false_discovery_rates([]) == []
    assert false_discovery_rates([0.9, 0.95]) == pytest.approx([0.95, 0.95])


def test_a_query_whose_click_rate_falls_is_found(tmp_path):
    """The rate of "falling" goes from 18 to 2 of 20 over four weeks; "steady" stays at half."""
    log = Log()
    for week, clicked in enumerate((18, 13, 7, 2)):
        for i in range(20):
            log.session(("falling lamp", "lamp" if i < clicked else ""), day=7 * week)
            log.session(("steady hat", "hat" if i < 10 else ""), day=7 * week)
    found = find_failing(log.build(tmp_path), "cos_clicks")
    rows = {query["query"]: query for cluster in found["clusters"] for query in cluster["examples"]}
    assert found["trends_tested"] == 2
    assert rows["falling lamp"]["kinds"] == ["falling"] and rows["falling lamp"]["p"] < 0.001
    assert [week["clicked"] for week in rows["falling lamp"]["weeks"]] == [18, 13, 7, 2]
    assert rows["falling lamp"]["weeks"][0]["first_day"] == "2024-10-04"
    assert "steady hat" not in rows
