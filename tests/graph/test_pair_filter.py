"""Scores of clicked pairs from impressions and positions, and the filter by them."""

from collections import defaultdict

import numpy as np
import pytest
from typer.testing import CliRunner

import planted
from coclick.cli import app
from coclick.errors import UserError
from coclick.graph.click_graph import ClickGraph, DailyStats, PairStats, SkipPairs
from coclick.graph.pair_filter import pair_scores


def ints(*values):
    return np.array(values, np.int32)


@pytest.fixture
def graph():
    """Ten impressions for each pair of two queries and two documents, which change places."""
    clicks = [("one", "a", 5), ("one", "b", 1), ("two", "a", 3), ("two", "b", 1)]
    plain = ClickGraph.from_clicks(clicks)
    pairs = PairStats(plain.clicks.indptr, plain.clicks.indices, ints(10, 10, 10, 10))
    daily = DailyStats(
        np.arange(5), ints(1, 1, 1, 1), plain.clicks.data, ints(10, 10, 10, 10),
        position_indptr=np.arange(5), position=ints(1, 2, 2, 1), shown=ints(10, 10, 10, 10),
    )  # fmt: skip
    skips = SkipPairs(np.array([0, 1, 3]), ints(1, 0, 1), ints(0, 1, 0), ints(1, 2, 3))
    return ClickGraph(plain.queries, plain.docs, plain.clicks, {}, pairs, daily, skips)


def test_scores_by_hand(graph):
    """The first position has 6 clicks of 20, the second 4 of 20: 3 and 2 clicks are expected of ten."""
    expected = [(5 + 1) / (3 + 1), (1 + 1) / (2 + 1), (3 + 1) / (2 + 1), (1 + 1) / (3 + 1)]
    assert pair_scores(graph).tolist() == pytest.approx(expected)


def test_pairs_below_the_score_are_dropped(graph):
    rest = graph.filter_pairs(min_score=1)
    assert rest.clicks.row(0)[0].tolist() == [0] and rest.clicks.row(1)[0].tolist() == [0]
    assert rest.clicks.data.tolist() == [5, 3]
    assert rest.clicks_by_doc.row_nnz().tolist() == [2, 0]
    assert rest.pairs is graph.pairs and rest.daily is graph.daily, "they are what was shown"
    assert rest.skips is not None
    assert rest.skips.indptr.tolist() == [0, 0, 1], "only the skip of the click on a for two is left"
    assert (rest.skips.clicked.tolist(), rest.skips.count.tolist()) == ([0], [2])
    assert rest.stats["pair_filter"]["dropped_pairs"] == 2
    assert graph.clicks.nnz == 4, "the graph itself does not change"


def test_a_threshold_itself_passes(graph):
    assert graph.filter_pairs(min_score=4 / 3 - 1e-6).clicks.nnz == 2
    assert graph.filter_pairs(min_score=1.5).clicks.nnz == 1
    assert graph.filter_pairs(min_clicks=3).clicks.data.tolist() == [5, 3]
    assert graph.filter_pairs(min_clicks=4, min_score=1).clicks.data.tolist() == [5]
    assert graph.filter_pairs().clicks.nnz == 4


def test_scores_by_a_plain_count():
    """Planted data, each pair at two positions, one of them unknown for the first pair."""
    plain = planted.graph()
    daily, pairs = plain.daily, plain.pairs
    assert daily is not None and pairs is not None and daily.position is not None and daily.shown is not None
    position = daily.position.copy()
    position[1::2] += 1
    position[0] = 0
    graph = ClickGraph(
        plain.queries,
        plain.docs,
        plain.clicks,
        {},
        pairs,
        DailyStats(**{**vars(daily), "position": position}),
    )
    shown: dict[int, dict[int, int]] = defaultdict(dict)
    for row, (where, times) in enumerate(zip(position.tolist(), daily.shown.tolist(), strict=True)):
        if where:
            shown[row // 2][where] = times  # two rows for each pair
    clicks = dict(enumerate(plain.clicks.data.tolist()))
    at_position, views = defaultdict(float), defaultdict(float)
    for pair, places in shown.items():
        for where, times in places.items():
            at_position[where] += clicks[pair] * times / sum(places.values())
            views[where] += times
    for pair, score in enumerate(pair_scores(graph).tolist()):
        expected = sum(times * at_position[p] / views[p] for p, times in shown[pair].items())
        assert score == pytest.approx((clicks[pair] + 1) / (expected + 1), rel=1e-5)


def test_what_cannot_be_filtered_is_refused(graph):
    with pytest.raises(UserError, match="need positions"):
        ClickGraph.from_clicks([("a", "x", 1)]).filter_pairs(min_score=1)
    with pytest.raises(UserError, match="no clicked pair is left"):
        graph.filter_pairs(min_score=99)
    with pytest.raises(UserError, match="min_clicks"):
        graph.filter_pairs(min_clicks="many")


def test_the_command(graph, tmp_path):
    graph.save(tmp_path / "graph")
    arguments = ["filter", str(tmp_path / "graph"), "-o", str(tmp_path / "less"), "--min-score", "1"]
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 0, done.output
    assert "kept 2 of 4 clicked pairs" in done.output
    assert ClickGraph.open(tmp_path / "less").clicks.data.tolist() == [5, 3]
    assert CliRunner().invoke(app, arguments).exit_code != 0, "the output exists"
