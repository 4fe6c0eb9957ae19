"""Models that need impressions, by hand."""

import math
from dataclasses import replace

import numpy as np
import pytest

from coclick import create
from coclick.errors import UserError
from coclick.graph.click_graph import ClickGraph, DailyStats, PairStats
from coclick.logs import build
from coclick.models.click_graph.ctr import wilson_lower

CLICKS = ClickGraph.from_clicks([("a", "x", 9), ("a", "y", 1), ("b", "z", 1)], {"never": "shown"})
DOCS = CLICKS.docs.lookup(["x", "y", "z"])


def history():
    """Query a: x in 10 sessions, the only click of 9; y in 2, the only click of 1. b: z, never shown."""
    sessions, navigational = (np.array(values, np.int32) for values in ([10, 2, 0], [9, 1, 0]))
    pairs = PairStats(np.array([0, 2, 3]), DOCS, np.array([10, 2, 0], np.int32), None, sessions, navigational)
    daily = DailyStats(
        indptr=np.array([0, 2, 3, 4]),
        day=np.array([1, 2, 1, 1], np.int32),
        clicks=np.array([5, 4, 1, 1], np.float32),
        impressions=np.array([6, 4, 2, 0], np.int32),
        users=np.ones(4, np.int32),
        sessions=np.array([6, 4, 2, 0], np.int32),
        navigational=np.array([5, 4, 1, 0], np.int32),
        position_indptr=np.array([0, 2, 3, 4, 4]),
        position=np.array([1, 3, 2, 1], np.int32),
        shown=np.array([5, 1, 4, 2], np.int32),
    )
    return ClickGraph(CLICKS.queries, CLICKS.docs, CLICKS.clicks, CLICKS.texts, pairs, daily)


def test_what_is_missing_is_named(tmp_path):
    """A log of clicks with users and times has sessions, but not what was shown."""
    log = tmp_path / "log.tsv"
    log.write_text("timestamp\tuser\tquery\tdoc\n2024-10-04T10:00:00\tann\ta\tx\n")
    graph = build([log], None, tmp_path / "graph")
    assert graph.provides >= {"sessions", "days"} and not graph.provides & {"impressions", "positions"}
    with pytest.raises(UserError) as error:
        create("ctr").fit(graph)
    assert error.value.what == "ctr needs impressions, and this graph has none"
    assert "action `impression`" in error.value.hint
    with pytest.raises(UserError, match="ctr needs impressions and sessions, and this graph has none"):
        create("ctr").fit(CLICKS)
    with pytest.raises(UserError, match="logged needs impressions and positions, and this graph has none"):
        create("logged").fit(graph)


def test_ctr_by_hand():
    model = create("ctr").fit(history())
    assert dict(model.search("a").hits()) == pytest.approx({"x": 0.5958, "y": 0.0945}, abs=5e-5)
    assert model.search("b").hits() == []
    assert model.search("never seen").hits() == []
    assert model.evidence("a") == {"support": 10 / 11}


def test_logged_by_hand():
    """Of a's 10 pages x led 5, was third on 1 and second on 4; y led 2."""
    with np.errstate(all="raise"):  # z was never shown
        model = create("logged").fit(history())
    x = (5 + 1 / 2 + 4 / math.log2(3)) / 10
    assert dict(model.search("a").hits()) == pytest.approx({"x": x, "y": 0.2})
    assert model.search("b").hits() == []
    assert model.search("never seen").hits() == []


def test_wilsons_interval_at_its_ends():
    """By the formula for 3 of 7; never negative, and 0 without successes or trials."""
    z, n, p = 1.96, 7, 3 / 7
    middle, spread = p + z**2 / (2 * n), z * math.sqrt(p * (1 - p) / n + z**2 / (4 * n**2))
    successes, trials = np.array([3, 0, 0, 2, 9, 7]), np.array([7, 5, 0, 0, 7, 7])
    found = wilson_lower(successes, trials).tolist()
    every = 7 / (7 + z**2)  # all of 7; more successes than trials count as all
    assert found == pytest.approx([(middle - spread) / (1 + z**2 / n), 0, 0, 0, every, every])


def test_positions_that_were_not_logged_do_not_count():
    graph = history()
    daily = graph.daily
    assert daily is not None
    unknown = replace(daily, position=np.array([0, 3, 2, 1], np.int32))
    model = create("logged").fit(replace(graph, daily=unknown))
    assert dict(model.search("a").hits()) == pytest.approx({"x": (1 / 2 + 4 / math.log2(3)) / 10, "y": 0.2})
