"""Event logs: sessions, navigational clicks, positions, days, users and skips against expected counts."""

import csv
import datetime as dt
import json
import random
from collections import Counter

import duckdb
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from coclick.errors import UserError
from coclick.graph.click_graph import ClickGraph
from coclick.logs import build, variants
from logs.reference_log import aggregate, tables

MINUTE = 60_000_000
DAY = 20_000  # 2024-10-04, in days since 1970
COLUMNS = ["timestamp", "user", "query", "doc", "action", "position"]


def write_events(path, events, columns=COLUMNS):
    with path.open("w", encoding="utf-8", newline="") as stream:
        out = csv.writer(stream)
        out.writerow(columns)
        out.writerows([["" if e[c] is None else e[c] for c in columns] for e in events])
    return path


def event(minutes, user, query, doc, action="impression", position=None):
    values = [DAY * 1440 * MINUTE + int(minutes * MINUTE), user, query, doc, action, position]
    return dict(zip(COLUMNS, values, strict=True))


@pytest.fixture
def small_log():
    """Two users, three sessions; the first day ends at minute 1440."""
    return [
        # ann, first session: sees three results, clicks the third, then the first
        event(1400, "ann", "Shoes", "A", position=1),
        event(1400, "ann", "Shoes", "B", position=2),
        event(1400, "ann", "Shoes", "C", position=3),
        event(1401, "ann", "shoes", "C", "click", 3),
        event(1402, "ann", "shoes", "A", "click", 1),
        # exactly 30 minutes later and on the next day: the same session; the click has no impression
        event(1432, "ann", "hats", "D", position=1),
        event(1450, "ann", "hats", "E", "click", 2),
        # a second more than 30 minutes later: a new session, with one click only
        event(1480.1, "ann", "shoes", "A", position=1),
        event(1480.1, "ann", "shoes", "B", position=2),
        event(1481, "ann", "shoes", "B", "click", 2),
        # bob clicks once, and puts it into his cart
        event(1500, "bob", "SHOES ", "B", position=1),
        event(1501, "bob", "SHOES ", "B", "click", 1),
        event(1502, "bob", "SHOES ", "B", "add_to_cart", 1),
    ]


def test_all_counts_of_a_small_log(tmp_path, small_log):
    graph = build([write_events(tmp_path / "log.csv", small_log)], None, tmp_path / "graph")
    assert list(graph.queries) == ["hats", "shoes"]
    assert list(graph.docs) == ["A", "B", "C", "D", "E"]
    found = tables(graph)
    assert found["clicks"] == {("shoes", "C"): 1, ("shoes", "A"): 1, ("shoes", "B"): 2, ("hats", "E"): 1}
    assert found["impressions"] == {
        ("shoes", "A"): 2, ("shoes", "B"): 3, ("shoes", "C"): 1, ("hats", "D"): 1, ("hats", "E"): 1,
    }  # fmt: skip
    assert found["users"] == {("shoes", "A"): 1, ("shoes", "B"): 2, ("shoes", "C"): 1, ("hats", "E"): 1}
    assert found["navigational"] == {("shoes", "B"): 2}
    assert found["skips"] == {("shoes", "C", "B"): 1, ("hats", "E", "D"): 1, ("shoes", "B", "A"): 1}
    assert found["daily"] == {
        ("shoes", "A", DAY): (1.0, 1, 1, 0, {1: 1}),
        ("shoes", "A", DAY + 1): (0.0, 1, 0, 0, {1: 1}),
        ("shoes", "B", DAY): (0.0, 1, 0, 0, {2: 1}),
        ("shoes", "B", DAY + 1): (2.0, 2, 2, 2, {1: 1, 2: 1}),
        ("shoes", "C", DAY): (1.0, 1, 1, 0, {3: 1}),
        ("hats", "D", DAY): (0.0, 1, 0, 0, {1: 1}),
        ("hats", "E", DAY + 1): (1.0, 1, 1, 0, {2: 1}),
    }
    stats = graph.stats
    assert (stats["rows"], stats["right"], stats["rejected"]) == (13, 13, {})
    assert (stats["users"], stats["sessions"], stats["format"]) == (2, 3, "events")
    assert stats["other_actions"] == {"add_to_cart": 1}
    assert stats["first"] == "2024-10-04T23:20:00+00:00"
    assert stats["last"] == "2024-10-05T01:01:00+00:00"
    assert stats["busiest_users_share"] == 1.0
    assert variants(graph) == [("shoes", "SHOES ", 3), ("shoes", "Shoes", 3)]
    assert stats["merged_spellings"] == 2
    assert not (tmp_path / "graph" / "rejects.parquet").exists()


def test_min_clicks_ignores_weights(tmp_path):
    log = [event(0, "u1", "hat", "A", "hover"), event(1, "u1", "hat", "B", "hover"),
           event(2, "u2", "hat", "B", "click"), event(3, "u2", "hat", "C", "click")]  # fmt: skip
    path, weights = write_events(tmp_path / "log.csv", log), {"click": 4, "hover": 0.25}
    graph = build([path], None, tmp_path / "graph", actions=weights)
    assert graph.clicks.data.tolist() == [0.25, 4.25, 4]
    graph = build([path], None, tmp_path / "two", actions=weights, min_clicks=2)
    assert [graph.docs[doc] for doc in graph.clicks.indices] == ["B"]


def test_actions_count_with_their_weights(tmp_path, small_log):
    path = write_events(tmp_path / "log.csv", small_log)
    graph = build([path], None, tmp_path / "graph", actions={"click": 1, "cart": 2.5})
    assert tables(graph)["clicks"]["shoes", "B"] == 4.5
    assert tables(graph)["navigational"] == {("shoes", "B"): 2}  # a cart follows a click
    only_carts = build([path], None, tmp_path / "carts", actions={"add_to_cart": 1})
    assert tables(only_carts)["clicks"] == {("shoes", "B"): 1}


def test_thresholds(tmp_path, small_log):
    path = write_events(tmp_path / "log.csv", small_log)
    by_users = build([path], None, tmp_path / "users", min_users=2)
    assert tables(by_users)["clicks"] == {("shoes", "B"): 2}
    assert list(by_users.queries) == ["shoes"]  # only one user clicked hats: the query is left out
    assert list(by_users.docs) == ["B"]  # two users saw it; only one saw A and C
    assert by_users.stats["pairs_below_thresholds"] == 3
    assert by_users.stats["clicks_below_thresholds"] == 3
    assert by_users.stats["queries_below_thresholds"] == 1
    by_clicks = build([path], None, tmp_path / "clicks", min_clicks=2)
    assert tables(by_clicks)["clicks"] == {("shoes", "B"): 2}
    assert tables(by_clicks)["impressions"] == {("shoes", "A"): 2, ("shoes", "B"): 3, ("shoes", "C"): 1}
    with pytest.raises(UserError, match=r"clicked .* pairs are below the thresholds"):
        build([path], None, tmp_path / "none", min_clicks=3)


_EVENTS = st.lists(
    st.builds(
        event,
        minutes=st.sampled_from([0, 1, 29, 30, 31, 59, 61, 90, 120, 1425, 1439, 1441, 1470, 3000, 3030.5]),
        user=st.sampled_from(["u1", "u2", "ü3"]),
        query=st.sampled_from(["red shoe", "Red  shoe", "ＲＥＤ shoe", "hat", "Straße", "strasse"]),
        doc=st.sampled_from(["A", "B", "C", "é"]),
        action=st.sampled_from(["impression", "impression", "click", "cart", "hover"]),
        position=st.sampled_from([None, 0, 1, 2, 3]),
    ),
    min_size=1,
    max_size=60,
)  # fmt: skip


@pytest.mark.slow
@given(_EVENTS, st.booleans())
@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
def test_random_logs_equal_the_reference(tmp_path_factory, events, carts):
    events = [*events, event(5, "u1", "hat", "A", "click", 2), event(5, "u1", "hat", "B", position=1)]
    weights = {"click": 1.0, "cart": 0.1} if carts else {"click": 1.0}
    place = tmp_path_factory.mktemp("log")
    path = write_events(place / "log.csv", events)
    graph = build([path], None, place / "graph", actions=weights)
    expected, found = aggregate(events, weights), tables(graph)
    assert found.pop("clicks") == pytest.approx(expected.pop("clicks"))
    days, expected_days = found.pop("daily"), expected.pop("daily")
    assert {key: row[1:] for key, row in days.items()} == {key: row[1:] for key, row in expected_days.items()}
    assert {k: row[0] for k, row in days.items()} == pytest.approx(
        {k: r[0] for k, r in expected_days.items()}
    )
    assert found == expected


def random_events(count, seed):
    rng = random.Random(seed)
    return [
        event(
            rng.randrange(5000) + rng.random(), f"u{rng.randrange(40)}", rng.choice("abcdefghij") * 2,
            f"D{rng.randrange(30)}", rng.choice(["impression"] * 4 + ["click"]), rng.randrange(1, 11),
        )
        for _ in range(count)
    ]  # fmt: skip


def test_order_of_rows_and_files_does_not_matter(tmp_path):
    events = random_events(3000, 7)
    first = build([write_events(tmp_path / "one.csv", events)], None, tmp_path / "one")
    random.Random(8).shuffle(events)
    parts = [write_events(tmp_path / f"part{i}.csv", events[i::3]) for i in (2, 0, 1)]
    second = build(parts, None, tmp_path / "two", threads=1)
    assert first.digest == second.digest
    assert first.stats["sessions"] == second.stats["sessions"]


@pytest.mark.slow
def test_small_blocks_give_the_same_graph(tmp_path, monkeypatch):
    head = [
        event(i, f"u{i % 40}", "aa", "D1", position=1 + i % 3) for i in range(500)
    ]  # one pair, many blocks
    events = write_events(tmp_path / "events.csv", random_events(2000, 3) + head)
    pairs = tmp_path / "pairs.csv"
    counted = Counter((e["query"], e["doc"]) for e in random_events(1000, 4))
    rows = [f"{query},{doc},{number},{number + 1}\n" for (query, doc), number in counted.items()]
    pairs.write_text("query,doc,clicks,impressions\n" + "".join(rows))
    cases = [(events, 1), (events, 4), (pairs, 1), (pairs, 9)]  # the thresholds leave blocks without a query
    whole = [build([path], None, tmp_path / "whole", min_clicks=n, force=True).digest for path, n in cases]
    from coclick.logs import write_arrays
    from coclick.logs.duckdb_session import DuckDBSession

    enter = DuckDBSession.__enter__

    def few_rows(self):
        self.block_rows = 37
        return enter(self)

    monkeypatch.setattr(DuckDBSession, "__enter__", few_rows)
    monkeypatch.setattr(write_arrays, "_BLOCK_BYTES", 200)
    blocks = [build([path], None, tmp_path / "blocks", min_clicks=n, force=True).digest for path, n in cases]
    assert blocks == whole and len(set(whole)) == len(whole)


def test_missing_columns_leave_out_what_needs_them(tmp_path):
    events = random_events(500, 5)
    path = write_events(tmp_path / "bare.csv", events, ["query", "doc"])
    bare = build([path], None, tmp_path / "bare")  # every row is a click
    assert bare.clicks.data.sum() == 500
    assert bare.pairs is None and bare.daily is None and bare.skips is None

    clicks = [e for e in events if e["action"] == "click"]
    path = write_events(tmp_path / "clicks.csv", clicks, ["timestamp", "user", "query", "doc"])
    no_impressions = build([path], None, tmp_path / "no_impressions")
    pairs, daily = no_impressions.pairs, no_impressions.daily
    assert pairs.impressions is None and pairs.sessions is None and no_impressions.skips is None
    assert daily.impressions is None and daily.position is None
    expected = aggregate(clicks, {"click": 1})
    assert pairs.users.sum() == sum(expected["users"].values())
    assert pairs.navigational.sum() == sum(expected["navigational"].values())
    assert daily.clicks.sum() == len(clicks)

    path = write_events(tmp_path / "no_user.csv", events, ["timestamp", "query", "doc", "action", "position"])
    no_user = build([path], None, tmp_path / "no_user")
    assert no_user.pairs.users is None and no_user.pairs.navigational is None and no_user.skips is None
    shown = {(e["query"], e["doc"]) for e in events}
    assert len(no_user.pairs.docs) == len(shown)
    by_day = {}
    for e in events:
        key = (e["query"], e["doc"], e["timestamp"] // (24 * 60 * MINUTE))
        by_day.setdefault(key, []).append(e["action"])
    rows = [max(actions.count("impression"), 1) for actions in by_day.values()]
    assert no_user.daily.impressions.sum() == sum(rows) == no_user.pairs.impressions.sum()

    path = write_events(tmp_path / "no_time.csv", events, ["user", "query", "doc", "action"])
    no_time = build([path], None, tmp_path / "no_time", min_users=2)
    assert no_time.daily is None and no_time.pairs.sessions is None
    expected = {}
    for e in clicks:
        expected.setdefault((e["query"], e["doc"]), set()).add(e["user"])
    assert no_time.clicks.nnz == sum(len(users) > 1 for users in expected.values())
    with pytest.raises(UserError, match="--min-users needs a log with a column for the user"):
        build([tmp_path / "no_user.csv"], None, tmp_path / "no", min_users=2)


COLUMNS = ["timestamp", "user", "query", "doc", "action", "position"]
EVERYTHING = {"impressions", "sessions", "days", "positions", "skips", "searches", "followups"}
MISSING_WITHOUT = {  # column → what the graph lacks without it
    "timestamp": {"sessions", "days", "positions", "skips", "searches", "followups"},
    "user": {"sessions", "skips", "searches", "followups"},
    "action": {
        "impressions",
        "positions",
        "skips",
        "searches",
    },  # every row is a click; users and times make sessions
    "position": {"positions", "skips"},
}


@pytest.mark.parametrize("missing", MISSING_WITHOUT)
def test_a_graph_of_any_log_can_be_split(tmp_path, missing):
    """`provides` matches the columns; training and held-out clicks sum to all clicks, also by day."""
    columns = [name for name in COLUMNS if name != missing]
    path = write_events(tmp_path / "log.csv", random_events(300, 8), columns)
    graph = build([path], None, tmp_path / "graph")
    assert graph.provides == EVERYTHING - MISSING_WITHOUT[missing]
    for by in ["queries", "pairs", *(["time"] if "days" in graph.provides else [])]:
        train, held = graph.split(by, 0.3)
        assert held.data.sum() > 0
        assert train.clicks.data.sum() + held.data.sum() == graph.clicks.data.sum()
        if train.daily is not None:
            assert train.daily.clicks.sum() == train.clicks.data.sum()
            assert len(train.daily.indptr) == len(train.pairs.docs) + 1


def test_formats_of_timestamps(tmp_path):
    moment = dt.datetime(2024, 12, 10, 13, 1, 29, 500_000, tzinfo=dt.UTC)
    seconds = moment.timestamp()
    spellings = [
        "2024-12-10T13:01:29.5Z", "2024-12-10 13:01:29.5", "2024-12-10T15:01:29.5+02:00",
        str(seconds), str(int(seconds * 1e3)), str(int(seconds * 1e6)), str(int(seconds * 1e9)),
    ]  # fmt: skip
    rows = [f"{text}\tu\tshoe\tD{number}" for number, text in enumerate(spellings)]
    text = tmp_path / "text.tsv"
    text.write_text("\n".join(["ts\tuser_id\tq\tdoc_id", *rows]))
    typed = []
    for kind in ("TIMESTAMP", "TIMESTAMP WITH TIME ZONE", "TIMESTAMP_NS", "TIMESTAMP_MS"):
        typed.append(tmp_path / f"{kind}.parquet")
        duckdb.execute("SET TimeZone = 'UTC'")
        duckdb.execute(
            f"""COPY (SELECT CAST('2024-12-10 13:01:29.5' AS {kind}) AS ts, 'u' AS "user", 'shoe' AS query,
            '{kind}' AS doc) TO '{typed[-1]}' (FORMAT parquet)"""
        )
    graph = build([text, *typed], None, tmp_path / "graph")
    assert len(graph.docs) == len(spellings) + 4
    assert graph.stats["first"] == graph.stats["last"] == "2024-12-10T13:01:29.500000+00:00"
    assert set(graph.daily.day.tolist()) == {20067}


def test_positions_from_zero_are_counted_from_one(tmp_path):
    events = [event(0, "u", "q", "A", position=0), event(0, "u", "q", "B", "click", 1)]
    graph = build([write_events(tmp_path / "log.csv", events)], None, tmp_path / "graph")
    assert graph.daily.position.tolist() == [1, 2]
    assert graph.skips.count.tolist() == [1]


def test_the_largest_positions(tmp_path):
    places = [0, 10**9, 2**31 - 1]  # the last one would be 2³¹, counted from one
    events = [event(0, "u", "q", doc, "click", place) for doc, place in zip("ABC", places, strict=True)]
    events.append(event(0, "u", "q", "A"))
    graph = build([write_events(tmp_path / "events.csv", events)], None, tmp_path / "graph")
    assert graph.daily.position.tolist() == [1, 10**9 + 1]
    assert graph.stats["rejected"] == {"position is too large": 1}


def test_vocabularies_are_sorted_by_bytes(tmp_path):
    queries = ["z", "a", "ab", "é", "zebra", "日本", "😀", "a b", "ａ!", "ß", "\u00e9clair"]
    path = tmp_path / "log.ndjson"
    path.write_text("\n".join(json.dumps({"query": q, "doc": f"D{q}"}) for q in queries), encoding="utf-8")
    graph = build([path], None, tmp_path / "graph")
    for vocab in (graph.queries, graph.docs):
        entries = [text.encode() for text in vocab]
        assert entries == sorted(entries) and len(set(entries)) == len(entries)
        assert vocab.lookup(list(vocab)).tolist() == list(range(len(entries)))
    assert "ss" in list(graph.queries) and "a!" in list(graph.queries)
    assert np.array_equal(ClickGraph.open(tmp_path / "graph").clicks.data, np.ones(11, np.float32))


def test_searches_need_no_document(tmp_path):
    rows = [
        "query\tdoc\taction\tsession_id\ttimestamp",
        "shoe\t\tSearch\ts1\t2024-01-01T10:00:00",
        "shoe\tA\tclick\ts1\t2024-01-01T10:01:00",
        "hat\t\tclick\ts1\t2024-01-01T10:02:00",
        "\t\tsearch\ts2\t2024-01-01T10:03:00",
        "boot\tB\tview-search-results\ts2\t2024-01-01T10:04:00",
    ]
    log = tmp_path / "log.tsv"
    log.write_text("\n".join(rows))
    stats = build([log], None, tmp_path / "graph").stats
    assert stats["rows"] == 5 and stats["right"] == 4
    assert stats["rejected"] == {"doc is missing": 1}
    assert stats["other_actions"] == {"search without a query": 1}
    assert stats["users"] == 2  # in a log without users, sessions stand in
    with pytest.raises(UserError, match="'search' is a search and cannot count as a click"):
        build([log], None, tmp_path / "other", actions={"search": 1})
