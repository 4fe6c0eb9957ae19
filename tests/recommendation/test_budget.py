"""The budget of a comparison, and estimates of what a model takes."""

import math

import pytest

from coclick.errors import UserError
from coclick.graph.click_graph import ClickGraph
from coclick.progress import quiet
from coclick.recommendation.budget import Budget, OutOfTimeError, format_duration, next_longer, read_duration
from coclick.recommendation.costs import Costs

GRAPH = ClickGraph.from_clicks([("a", "x", 5), ("b", "z", 1)])


def test_durations():
    read: dict[str | float | None, float]
    read = {"90": 90, "90s": 90, "3m": 180, "1.5m": 90, "1h": 3600, "none": math.inf, None: math.inf, 20: 20}
    assert {given: read_duration(given) for given in read} == read
    for wrong in ("", "3 days", "-1m", "0", "m", True):
        with pytest.raises(UserError, match="cannot read the budget"):
            read_duration(wrong)
    assert [format_duration(seconds) for seconds in (0.43, 12.3, 180, math.inf)] == [
        "0.4 s", "12 s", "3 min", "no limit"]  # fmt: skip
    assert [next_longer(seconds) for seconds in (10, 181, 1e6)] == ["3m", "5m", "none"]


def test_training_stops_when_the_budget_is_exceeded(monkeypatch):
    budget = Budget("10s")
    budget.allow(60)
    progress = budget.stop_late(quiet)
    with progress("step", 2) as done:
        done(1)
        monkeypatch.setattr(Budget, "used", property(lambda self: 11.4))
        done(1)  # a little late
        monkeypatch.setattr(Budget, "used", property(lambda self: 11.6))
        with pytest.raises(OutOfTimeError):
            done(1)
    budget.allow_any()
    with progress("another step") as done:
        done(1)


def test_training_stops_when_it_takes_longer_than_allowed(monkeypatch):
    budget = Budget("100s")
    monkeypatch.setattr(Budget, "used", property(lambda self: 30.0))
    budget.allow(5)
    with budget.stop_late(quiet)("step") as done:
        monkeypatch.setattr(Budget, "used", property(lambda self: 34.9))
        done(1)
        monkeypatch.setattr(Budget, "used", property(lambda self: 35.1))
        with pytest.raises(OutOfTimeError):
            done(1)


def test_costs_are_learned_from_what_has_run():
    """bm25 has cost 1, wmd 5: after five models that took 2 s per unit, wmd is expected to take 10 s."""
    costs = Costs(GRAPH)
    assert costs.estimate("wmd") == pytest.approx(5 * costs.estimate("bm25"))
    for spec in ("bm25", "vsm", "um", "bm25sd", "cos_words"):
        costs.record(spec, 2.0)
    assert costs.estimate("wmd") == pytest.approx(10)
    costs.record("wmd", 3.0)
    assert costs.estimate("wmd") == 3.0


def test_trained_parts_of_a_combination_cost_nothing():
    costs = Costs(GRAPH)
    for spec in ("bm25", "vsm", "um", "bm25sd", "cos_words"):
        costs.record(spec, 2.0)
    spec = "backoff(wmd + bm25)"
    own = 2 * (2 + 5 + 1)  # it trains its parts once more to learn the weights
    assert costs.estimate(spec) == pytest.approx(own + 10 + 2)
    assert costs.estimate(spec, {"bm25"}.__contains__) == pytest.approx(own + 10)


def test_a_large_graph_is_expected_to_take_longer():
    rows = [(f"q{i}", f"d{i % 7}", 1) for i in range(1000)]
    assert Costs(ClickGraph.from_clicks(rows)).estimate("bm25") > Costs(GRAPH).estimate("bm25")
