"""Merged graphs against graphs built from both logs, and against counts in plain Python."""

import csv
import random
from dataclasses import replace

import numpy as np
import pytest

import planted
from coclick.graph.click_graph import ClickGraph
from coclick.logs import build
from coclick.models.registry import create
from logs.reference_log import aggregate, tables

DAY = 24 * 60 * 60 * 1_000_000
COLUMNS = ["timestamp", "user", "query", "doc", "action", "position"]


def random_log(seed, users, first_day, days=4):
    """Result pages of four documents, some of them clicked; no session goes on past midnight."""
    chance = random.Random(seed)
    events = []
    for page in range(60):
        day, user, query = first_day + chance.randrange(days), chance.choice(users), chance.choice("abcdef")
        time = day * DAY + page * 20 * 60_000_000  # pages of one user may be in one session
        for position, doc in enumerate(chance.sample("stuvwxyz", 4), 1):
            values = [time, user, query, doc, "impression", position]
            events.append(dict(zip(COLUMNS, values, strict=True)))
            if chance.random() < 0.4:
                events.append({**events[-1], "timestamp": time + position * 1_000_000, "action": "click"})
    return events


def write_log(path, events, columns=COLUMNS):
    with path.open("w", newline="") as stream:
        out = csv.writer(stream)
        out.writerow(columns)
        out.writerows([[event[column] for column in columns] for event in events])
    return path


def built(folder, name, events, columns=COLUMNS):
    return build([write_log(folder / f"{name}.csv", events, columns)], None, folder / name)


def test_a_merged_graph_is_the_graph_of_both_logs(tmp_path):
    first = random_log(1, ["ann", "bob"], 20_000)
    second = random_log(2, ["cat", "dan", "eve"], 20_002)  # other users, two days in common
    merged = built(tmp_path, "first", first).merge(built(tmp_path, "second", second))
    together = built(tmp_path, "both", first + second)
    assert tables(merged) == tables(together) == aggregate(first + second, {"click": 1.0})
    assert merged.provides == together.provides
    assert "not_merged" not in merged.stats
    assert {name: merged.stats[name] for name in ("first", "last")} == {
        name: together.stats[name] for name in ("first", "last")
    }
    for name, array in vars(together.pairs).items():
        assert np.array_equal(array, getattr(merged.pairs, name)), name
    for name, array in vars(together.daily).items():
        assert np.array_equal(array, getattr(merged.daily, name)), name
    for table in ("searches", "followups"):
        for name, array in vars(getattr(together, table)).items():
            assert array is None or np.array_equal(array, getattr(getattr(merged, table), name)), name
    assert merged.stats["searches"] == together.stats["searches"] > 0
    merged.save(tmp_path / "merged")
    assert tables(ClickGraph.open(tmp_path / "merged")) == tables(together)
    scores = [list(create("ctr").fit(graph).search("a")) for graph in (merged, together)]
    assert scores[0] == scores[1]


def test_common_users_are_counted_in_each_log(tmp_path):
    first, second = random_log(1, ["ann"], 20_000), random_log(2, ["ann"], 20_010)
    merged = tables(built(tmp_path, "first", first).merge(built(tmp_path, "second", second)))
    together = aggregate(first + second, {"click": 1.0})
    twice = {pair for pair in merged["users"] if merged["users"][pair] == 2}
    assert twice
    assert set(together["users"].values()) == {1}
    assert {**merged, "users": None} == {
        **together,
        "users": None,
    }  # the days differ, so daily users are exact


def test_what_only_one_graph_has_is_left_out(tmp_path):
    events = random_log(1, ["ann", "bob"], 20_000)
    full = built(tmp_path, "full", events)
    without_positions = built(tmp_path, "plain", events, COLUMNS[:-1])
    merged = full.merge(without_positions)
    assert merged.stats["not_merged"] == ["positions", "skips"]
    assert merged.provides == {"impressions", "sessions", "days", "searches", "followups"}
    assert merged.pairs.impressions.tolist() == (2 * full.pairs.impressions).tolist()
    assert merged.daily.position is None
    clicks = ClickGraph.from_clicks([("a", "s", 1)])
    assert full.merge(clicks).stats["not_merged"] == sorted(full.provides)
    assert full.merge(clicks).pairs is None


def test_merging_with_itself_doubles_every_count():
    graph = planted.graph()
    merged = graph.merge(graph)
    for table in ("pairs", "daily", "skips"):
        before, after = vars(getattr(graph, table)), vars(getattr(merged, table))
        for name, values in before.items():
            factor = (
                1
                if name in ("indptr", "docs", "day", "position_indptr", "position", "clicked", "skipped")
                else 2
            )
            assert np.array_equal(np.asarray(values) * factor, after[name]), (table, name)


def test_counts_above_32_bits_are_an_error():
    graph = planted.graph()
    huge = replace(
        graph, pairs=replace(graph.pairs, impressions=np.full_like(graph.pairs.impressions, 2**30 + 1))
    )
    with pytest.raises(Exception, match=r"pairs \(impressions\) are too large"):
        huge.merge(huge)
