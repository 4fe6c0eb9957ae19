"""Rows of an event log without a user: anonymous visitors."""

import json
import random

import numpy as np
import pytest

from coclick.errors import UserError
from coclick.graph.click_graph import ClickGraph
from coclick.logs import build, rejects, variants
from coclick.logs.report import build_report
from logs.reference_log import tables
from logs.test_log_like import edges
from logs.test_log_privacy import DAY, HEAD, random_events, write

NOTE = "{} without a user: their clicks count, but as no user"


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def log(path, rows, head=HEAD):
    path.write_text(head + "".join(f"{row}\n" for row in rows))
    return path


def test_clicks_count_but_in_no_session_and_as_no_user(tmp_path):
    rows = [
        *("2026-03-02T10:00:00Z,ann,hat,A,impression,1", "2026-03-02T10:00:00Z,ann,hat,B,impression,2"),
        "2026-03-02T10:00:05Z,ann,hat,B,click,2",
        *("2026-03-02T10:00:00Z,,hat,A,impression,1", "2026-03-02T10:00:01Z,,hat,A,impression,3"),
        *("2026-03-02T10:00:02Z,,hat,B,click,2", "2026-03-02T10:00:02Z,,hat,B,click,2"),
        *("2026-03-02T10:00:09Z, ,cap,C,click,1", "2026-03-05T10:00:09Z,,hat,C,click,4"),
    ]
    graph = build(log(tmp_path / "log.csv", rows), None, tmp_path / "graph", duplicates="drop")
    found = tables(graph)
    pairs = {("hat", "A"): 0, ("hat", "B"): 3, ("hat", "C"): 1, ("cap", "C"): 1}
    assert found["clicks"] == {pair: n for pair, n in pairs.items() if n}
    assert found["users"] == found["navigational"] == {("hat", "B"): 1}
    # Each impression counts, and a click on a day without one counts as one.
    shown = {("hat", "A"): 3, ("hat", "B"): 1, ("hat", "C"): 1, ("cap", "C"): 1}
    assert found["impressions"] == shown
    day = 20514  # 2 March 2026
    assert found["daily"] == {
        ("hat", "A", day): (0, 3, 0, 0, {1: 2, 3: 1}),
        ("hat", "B", day): (3, 1, 1, 1, {2: 1}),
        ("cap", "C", day): (1, 1, 0, 0, {}),
        ("hat", "C", day + 3): (1, 1, 0, 0, {}),
    }
    assert found["skips"] == {("hat", "B", "A"): 1} and found["sessions"] == 1
    stats = graph.stats
    assert stats["users"] == 1 and stats["rejected"] == {} and stats["last"].startswith("2026-03-05")
    assert stats["busiest_users_share"] == 0.2  # one of five clicks
    assert stats["duplicates"] == {"by_id": 0, "exact": 0, "dropped": 0}
    assert (stats["without_user"], stats["without_session"]) == (6, 6)
    notes = build_report(stats).notes
    assert notes[0] == NOTE.format("6 events") + ", and 6 events in no session"
    assert sum("without a user" in note for note in notes) == 1


def test_session_ids_group_rows_without_a_user(tmp_path):
    head = "timestamp,user,session,query,doc,action,position\n"
    rows = [
        *("2026-03-02T10:00:00Z,,s1,hat,A,impression,1", "2026-03-02T10:00:00Z,,s1,hat,B,impression,2"),
        *("2026-03-02T10:00:05Z,,s1,hat,B,click,2", "2026-03-02T10:00:05Z,,s1,hat,B,click,2"),
        "2026-03-02T10:01:00Z,,s1,cap,C,impression,1",
        *("2026-03-02T10:00:05Z,,s2,hat,B,click,2", "2026-03-02T10:00:05Z,ann,s2,hat,B,click,2"),
        *("2026-03-02T10:00:05Z,,,hat,B,click,2", "2026-03-02T10:00:05Z,ann,,hat,A,click,1"),
    ]
    graph = build(log(tmp_path / "log.csv", rows, head), None, tmp_path / "graph")
    found = tables(graph)
    # s1 without a user, s2 without a user, s2 of ann, ann's day
    assert found["sessions"] == 4 and graph.stats["users"] == 1
    assert found["clicks"] == {("hat", "A"): 1, ("hat", "B"): 5}
    assert found["users"] == {("hat", "A"): 1, ("hat", "B"): 1}
    assert found["impressions"] == {("hat", "A"): 2, ("hat", "B"): 3, ("cap", "C"): 1}
    assert found["navigational"] == {("hat", "A"): 1, ("hat", "B"): 2}  # s1 clicked twice
    assert found["skips"] == {("hat", "B", "A"): 1}
    assert graph.followups.count.tolist() == [1] and graph.followups.users.tolist() == [0]
    assert graph.stats["duplicates"]["exact"] == 1  # within s1
    assert (graph.stats["without_user"], graph.stats["without_session"]) == (7, 1)


@pytest.mark.parametrize("seed", [1, 2])
def test_min_users_keeps_what_it_keeps_without_anonymous_rows(tmp_path, seed):
    """They add clicks and impressions to pairs that enough users know, and nothing else."""
    rng, events, k = random.Random(seed), random_events(seed), 4
    some = [event | {"user": "", "timestamp": event["timestamp"] + 7} for event in events]
    day = 20_001 * DAY
    rare: dict[str, object] = {
        "timestamp": day,
        "user": "",
        "query": "Secret  Query",
        "doc": "D1",
        "position": 1,
    }
    some += [rare | {"action": action, "timestamp": day + n}
             for n in range(9) for action in ("click", "impression")]  # fmt: skip
    mixed = [*events, *some]
    rng.shuffle(mixed)
    known = build(write(tmp_path / "known.csv", events, list(events[0])), None, tmp_path / "a", min_users=k)
    graph = build(write(tmp_path / "mixed.csv", mixed, list(events[0])), None, tmp_path / "b", min_users=k)
    before, after = tables(known), tables(graph)
    for name in ("users", "navigational", "skips", "sessions"):
        assert before[name] == after[name], name
    assert before["clicks"].keys() == after["clicks"].keys()
    assert all(after["clicks"][pair] > n for pair, n in before["clicks"].items())
    assert before["impressions"].keys() == after["impressions"].keys()
    assert list(known.queries) == list(graph.queries) and list(known.docs) == list(graph.docs)
    assert [pair[:2] for pair in variants(known)] == [pair[:2] for pair in variants(graph)]
    assert np.array_equal(known.followups.users, graph.followups.users)


@pytest.mark.parametrize("seed", [3, 4])
def test_an_empty_column_of_users_is_like_none(tmp_path, seed):
    events = [event | {"user": ""} for event in random_events(seed)]
    names = list(events[0])
    graph = build(write(tmp_path / "empty.csv", events, names), None, tmp_path / "a")
    none = build(
        write(tmp_path / "none.csv", events, [n for n in names if n != "user"]), None, tmp_path / "b"
    )
    assert edges(graph) == edges(none) and list(graph.docs) == list(none.docs)
    assert graph.pairs.impressions.tolist() == none.pairs.impressions.tolist()
    for name in ("day", "clicks", "impressions", "position", "shown"):
        assert getattr(graph.daily, name).tolist() == getattr(none.daily, name).tolist(), name
    assert not graph.pairs.users.any() and not graph.pairs.navigational.any()
    assert graph.stats["last"] == none.stats["last"] and graph.stats["gaps"] == none.stats["gaps"]


def test_nobody_is_no_group_of_users(tmp_path):
    """Fifty anonymous clicks on a pair are not even one user."""
    rows = [f"2026-03-02T10:{n:02}:00Z,,hat,A,click,1" for n in range(50)]
    path = log(tmp_path / "log.csv", rows)
    with pytest.raises(UserError, match="below the thresholds") as error:
        build(path, None, tmp_path / "graph", min_users=2)
    assert "50 events without a user count as no user" in error.value.hint
    graph = build(path, None, tmp_path / "graph", hash_users=True)
    assert edges(graph) == {("hat", "A"): 50}
    assert graph.stats["users"] == graph.stats["sessions"] == 0
    assert graph.stats["busiest_users_share"] == 0


def test_anonymous_visitors_are_no_bot(tmp_path):
    """Together they click more often than any person; a bot's clicks are only its own."""
    rows = [f"2026-03-02T10:{n // 60:02}:{n % 60:02}Z,,hat,A,click,1" for n in range(900)]
    bot = [
        f"2026-03-02T10:{n // 60:02}:{n % 60:02}Z,bot,hat,{doc},click,1" for n in range(900) for doc in "AB"
    ]
    for sessions in (False, True):
        head = HEAD.replace("user,", "user,session,") if sessions else HEAD
        given = [*rows, *bot]
        if sessions:
            cells = [line.split(",") for line in given]
            given = [",".join([*row[:2], f"s{n % 5}", *row[2:]]) for n, row in enumerate(cells)]
        graph = build(log(tmp_path / "log.csv", given, head), None, tmp_path / f"g{sessions}", bots="drop")
        found = graph.stats["bots"]
        assert [user["user"] for user in found["users"]] == ["bot"]
        assert (found["n_clicks"], found["n_edges"]) == (1800, 1)  # nobody else clicked (hat, B)
        assert edges(graph) == {("hat", "A"): 900}


def test_an_event_that_must_find_its_search_needs_a_user(tmp_path):
    """Without one, it would get the last search of any visitor."""

    def row(name, second, user, **params):
        given = [{"key": key, "value": {"string_value": value}} for key, value in params.items()]
        time = 1_772_445_600_000_000 + second * 1_000_000
        return {"event_name": name, "event_timestamp": time, "event_date": "20260302",
                "user_pseudo_id": user, "event_params": given,
                "items": [{"item_id": "A"}] if name == "select_item" else []}  # fmt: skip

    rows = [
        row("view_search_results", 0, "ann", search_term="hat"), row("select_item", 1, "ann"),
        row("view_search_results", 2, None, search_term="cap"), row("select_item", 3, None),
    ]  # fmt: skip
    (tmp_path / "ga4.ndjson").write_text("\n".join(map(json.dumps, rows)))
    graph = build("ga4.ndjson", None, tmp_path / "graph", max_rejected=1)
    assert edges(graph) == {("hat", "A"): 1}
    assert graph.stats["rejected"] == {"user is missing": 1}
    assert [row[1:4] for row in rejects(graph)] == [(4, "user", "is missing")]
    assert graph.stats["without_user"] == 1


def test_a_log_without_times(tmp_path):
    rows = ["ann,hat,A,click,1", "ann,hat,A,click,1", ",hat,A,click,1", ",hat,B,impression,2"]
    graph = build(log(tmp_path / "log.csv", rows, "user,query,doc,action,position\n"), None, tmp_path / "g")
    assert edges(graph) == {("hat", "A"): 3}
    assert graph.pairs.users.tolist() == [1, 0] and graph.stats["users"] == 1
    assert graph.stats["without_user"] == 1 + 1 and "without_session" not in graph.stats
    assert ClickGraph.open(tmp_path / "g").pairs.impressions.tolist() == [1, 1]
