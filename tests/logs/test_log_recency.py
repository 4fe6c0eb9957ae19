"""Recency: the half-life of clicks, gaps and dates in the future. Expected values are computed by hand."""

from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest

from coclick.errors import UserError
from coclick.logs import build

ROWS = [  # day of May 2026, query, document, action
    (1, "shoe", "A", "click"),
    (1, "shoe", "A", "click"),
    (3, "shoe", "A", "cart"),
    (3, "shoe", "B", "click"),
    (5, "hat", "A", "click"),
]
WEIGHTS = {"click": 1.0, "cart": 3.0}


def write(path, rows, year=2026):
    lines = [f"{year}-05-{day:02}T10:00:00\tu{i}\t{q}\t{d}\t{a}" for i, (day, q, d, a) in enumerate(rows)]
    path.write_text("\n".join(["timestamp\tuser\tquery\tdoc\taction", *lines]) + "\n")
    return path


def clicks_of(graph):
    rows, matrix = {}, graph.clicks
    for query, text in enumerate(graph.queries):
        docs, values = matrix.row(query)
        rows |= {(text, graph.docs[int(doc)]): float(value) for doc, value in zip(docs, values, strict=True)}
    return rows


def test_clicks_decay_by_their_age_in_days(tmp_path):
    path = write(tmp_path / "log.tsv", ROWS)
    graph = build([path], None, tmp_path / "graph", half_life="2d", actions=WEIGHTS)
    # day 1 is 4 days before the last day: 1/4; day 3: 1/2
    expected = {("shoe", "A"): 2 / 4 + 3 / 2, ("shoe", "B"): 1 / 2, ("hat", "A"): 1.0}
    assert clicks_of(graph) == pytest.approx(expected)
    assert graph.stats["half_life"] == {"days": 2.0, "last_day": "2026-05-05"}
    assert graph.daily is not None and sorted(graph.daily.clicks.tolist()) == [1, 1, 2, 3]  # in full
    few = build([path], None, tmp_path / "few", half_life="2d", actions=WEIGHTS, min_clicks=2)
    assert clicks_of(few) == pytest.approx({("shoe", "A"): 2.0})  # three actions, whatever they count now
    halves = build([path], None, tmp_path / "halves", half_life="12h")
    assert clicks_of(halves) == pytest.approx(
        {("shoe", "A"): 2 / 2**8, ("shoe", "B"): 1 / 2**4, ("hat", "A"): 1}
    )
    assert "half_life" not in build([path], None, tmp_path / "plain").stats


def test_a_log_without_times_has_no_half_life(tmp_path):
    path = tmp_path / "log.tsv"
    path.write_text("query\tdoc\nshoe\tA\n")
    with pytest.raises(UserError, match="--half-life needs a log of events with a column for the time"):
        build([path], None, tmp_path / "graph", half_life="2d")


def test_faded_pairs_are_not_edges(tmp_path):
    path = write(tmp_path / "log.tsv", [(1, "shoe", "A", "click"), (31, "shoe", "B", "click")])
    graph = build([path], None, tmp_path / "graph", half_life="12h")  # 2^-60 clicks are none
    assert clicks_of(graph) == {("shoe", "B"): 1.0} and graph.stats["pairs_below_thresholds"] == 1


def test_a_split_by_time_equals_the_graph_of_the_earlier_days(tmp_path):
    path = write(tmp_path / "log.tsv", ROWS)
    early = write(tmp_path / "early.tsv", [row for row in ROWS if row[0] < 5])
    options: dict[str, Any] = {"half_life": "2d", "actions": WEIGHTS}
    split = build([path], None, tmp_path / "graph", **options).split(by="time", fraction=0.3)
    expected = build([early], None, tmp_path / "early", **options)
    found = {pair: clicks for pair, clicks in clicks_of(split.train).items() if clicks}
    assert found == pytest.approx(clicks_of(expected))
    assert split.train.stats["half_life"] == expected.stats["half_life"]


def test_merged_graphs_refer_to_the_last_day_of_both(tmp_path):
    parts = [[row for row in ROWS if row[0] < 4], [row for row in ROWS if row[0] >= 4]]
    graphs = [
        build([write(tmp_path / f"{i}.tsv", rows)], None, tmp_path / f"g{i}", half_life="2d")
        for i, rows in enumerate(parts)
    ]
    whole = build([write(tmp_path / "log.tsv", ROWS)], None, tmp_path / "graph", half_life="2d")
    merged = graphs[0].merge(graphs[1])
    assert clicks_of(merged) == pytest.approx(clicks_of(whole))
    assert merged.stats["half_life"] == whole.stats["half_life"]
    other = build([tmp_path / "1.tsv"], None, tmp_path / "other")
    with pytest.raises(UserError, match="different half-lives"):
        graphs[0].merge(other)


def test_gaps_and_dates_in_the_future(tmp_path):
    path = write(tmp_path / "log.tsv", [(day, "shoe", "A", "click") for day in (1, 2, 6, 7, 9)], year=2021)
    stats = build([path], None, tmp_path / "graph").stats
    assert stats["gaps"] == [["2021-05-03", "2021-05-05"], ["2021-05-08", "2021-05-08"]]
    assert stats["future"] == 0
    now = datetime.now(tz=UTC)
    times = [now - timedelta(days=1), now + timedelta(hours=20), now + timedelta(days=400)]
    path.write_text("time\tquery\tdoc\n" + "".join(f"{time.isoformat()}\tshoe\tA\n" for time in times))
    graph = build([path], None, tmp_path / "future", half_life="10d")
    assert graph.stats["future"] == 1 and len(graph.stats["gaps"]) >= 1
    assert float(np.sum(graph.clicks.data)) > 2.5  # the event of next year does not make the others old
