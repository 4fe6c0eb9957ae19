"""Builds with `min_users`, `scrub` and `hash_users`: what the graph and its rejected rows hold."""

import hashlib
import json
import random
from collections import defaultdict

import pytest

from coclick.errors import UserError
from coclick.graph.click_graph import ClickGraph
from coclick.logs import build, rejects, variants
from coclick.logs.user_view import add_view
from logs.reference_log import aggregate, normal, tables

HEAD = "timestamp,user,query,doc,action,position\n"
DAY = 86_400_000_000
SPELLINGS = ["hat", "Hat", "HAT", "red shoe", "Red  Shoe", "rare"]


def random_events(seed):
    """Users with random events; on a day of their own, five of them skip D0 and click D1."""
    rng = random.Random(seed)
    skips = [
        {"timestamp": 20_005 * DAY, "user": f"u{user}", "query": "hat", "doc": f"D{doc}"}
        | {"action": "click" if doc else "impression", "position": 1 + doc}
        for user in range(5)
        for doc in (0, 1)
    ]
    return skips + [
        {
            "timestamp": 20_000 * DAY + rng.randrange(3) * DAY + rng.randrange(20) * 60_000_000,
            "user": f"u{min(rng.randrange(8), rng.randrange(8))}",
            "query": rng.choice(SPELLINGS[: rng.choice([2, 4, 5, 6])]),
            "doc": f"D{min(rng.randrange(9), rng.randrange(9))}",
            "action": rng.choice(["impression", "impression", "impression", "click"]),
            "position": rng.randrange(1, 6),
        }
        for _ in range(260)
    ]


def write(path, events, columns):
    rows = [",".join(str(event[column]) for column in columns) for event in events]
    path.write_text("\n".join([",".join(columns), *rows]) + "\n")
    return path


def users_of(events, key):
    """The users of each key."""
    found = defaultdict(set)
    for event in events:
        found[key(event)].add(event["user"])
    return found


def pair_of(event):
    return normal(event["query"]), event["doc"]


@pytest.mark.parametrize("seed", [1, 2])
def test_nothing_is_stored_that_fewer_users_did(tmp_path, seed):
    events, k = random_events(seed), 4
    path = write(tmp_path / "log.csv", events, list(events[0]))
    graph = build([path], None, tmp_path / "graph", min_users=k)
    every = aggregate(events, {"click": 1.0})
    seen = {pair for pair, users in users_of(events, pair_of).items() if len(users) >= k}
    clicks = [event for event in events if event["action"] == "click"]
    clicked = {pair for pair, users in users_of(clicks, pair_of).items() if len(users) >= k}
    kept = {query for query, _ in clicked}
    seen = {pair for pair in seen if pair[0] in kept}
    skippers = defaultdict(int)  # sessions belong to one user, so each user can be aggregated alone
    for user in {event["user"] for event in events}:
        for skip in aggregate([e for e in events if e["user"] == user], {"click": 1.0})["skips"]:
            skippers[skip] += 1

    found = tables(graph)
    assert 0 < len(clicked) < len(seen) < len(every["impressions"])
    assert found["clicks"] == {pair: every["clicks"][pair] for pair in clicked}
    assert found["users"] == {pair: every["users"][pair] for pair in clicked}
    assert found["impressions"] == {pair: every["impressions"][pair] for pair in seen}
    assert found["navigational"] == {p: n for p, n in every["navigational"].items() if p in clicked}
    assert found["skips"] == {s: n for s, n in every["skips"].items() if skippers[s] >= k and s[0] in kept}
    assert found["skips"]
    expected_days = {}
    for (query, doc, day), (count, shown, users, alone, places) in every["daily"].items():
        if (query, doc) in seen:
            of_clicks = (count, users, alone) if (query, doc) in clicked else (0, 0, 0)
            expected_days[query, doc, day] = (of_clicks[0], shown, of_clicks[1], of_clicks[2], places)
    assert found["daily"] == expected_days
    assert set(graph.docs) == {doc for _, doc in seen}
    typed = users_of(events, lambda event: event["query"])
    spelt = {s for s, users in typed.items() if len(users) >= k and normal(s) != s and normal(s) in kept}
    assert {spelling for _, spelling, _ in variants(graph)} == spelt
    queries = {normal(event["query"]) for event in events}
    assert graph.stats["queries_below_thresholds"] == len(queries - kept)


def test_without_times_and_without_impressions(tmp_path):
    events, k = random_events(2), 4
    clicks = [event for event in events if event["action"] == "click"]
    clicked = {pair for pair, users in users_of(clicks, pair_of).items() if len(users) >= k}
    seen = {pair for pair, users in users_of(events, pair_of).items() if len(users) >= k}
    cases = [(events, ["user", "query", "doc", "action"], seen), (clicks, ["user", "query", "doc"], clicked)]
    for rows, columns, pairs in cases:
        path = write(tmp_path / "log.csv", rows, columns)
        graph = build([path], None, tmp_path / "graph", min_users=k, force=True)
        queries, docs = list(graph.queries), list(graph.docs)
        found = {
            (query, docs[doc])
            for row, query in enumerate(queries)
            for doc in graph.pairs.docs[graph.pairs.indptr[row] : graph.pairs.indptr[row + 1]]
        }
        assert set(queries) == {query for query, _ in clicked}
        assert found == {pair for pair in pairs if pair[0] in queries}


def test_counted_users_of_an_aggregated_log(tmp_path):
    """Users of two rows may be the same people, so the largest row decides."""
    (tmp_path / "log.csv").write_text(
        "query,doc,clicks,users\n"
        "hat,A,9,5\nhat,A,9,2\nHat,A,3,3\nHAT,A,7,6\n"
        "hat,B,6,3\nhat,B,6,3\n"
        "cap,B,4,4\n"
    )
    graph = build([tmp_path / "log.csv"], None, tmp_path / "graph", min_users=5)
    assert list(graph.queries) == ["hat"]
    assert list(graph.docs) == ["A"]
    assert graph.pairs.users.tolist() == [16]
    assert variants(graph) == [("hat", "HAT", 1)]
    assert graph.stats["pairs_below_thresholds"] == 2


def test_scrubbed_queries(tmp_path):
    (tmp_path / "log.csv").write_text(
        "query,doc,clicks\n"
        "red shoes,A,1\nRed SHOES ann@mail.example,A,2\nred shoes 4111 1111 1111 1111,B,4\n"
        "RED shoes,A,8\n"
        "ann@mail.example,A,1\n+49 170 1234567,B,1\n  ,A,1\n9780306406157,A,1\n"
    )
    graph = build([tmp_path / "log.csv"], None, tmp_path / "graph", scrub="pii")
    assert list(graph.queries) == ["9780306406157", "red shoes"]
    assert graph.clicks.row(1)[1].tolist() == [11, 4]
    assert variants(graph) == [("red shoes", "RED shoes", 1)]
    assert graph.stats["scrubbed"] == {"email": 2, "card": 1, "phone": 1}
    assert graph.stats["rejected"] == {
        "query is blank once scrubbed": 2,
        "query is blank once normalised": 1,
    }
    raw = [row[4] for row in rejects(graph)]
    assert [json.loads(text) for text in raw] == [{"doc": "A"}, {"doc": "B"}, {"doc": "A"}]


def test_a_plain_build_scrubs_nothing(tmp_path):
    (tmp_path / "log.csv").write_text("query,doc,clicks\nann@mail.example,A,2\n")
    graph = build([tmp_path / "log.csv"], None, tmp_path / "graph")
    assert list(graph.queries) == ["ann@mail.example"]
    assert "scrubbed" not in graph.stats
    assert "hashed_users" not in graph.stats


def bad_log(path):
    """Two users click a hat; rows with all kinds of errors name a secret user, query and document."""
    rows = [f"2026-05-0{day},user{day},hat,A,click,1" for day in (1, 2)]
    rows += [
        "yesterday,secretuser,hat,A,click,1",
        "yesterday,secretuser,secretquery,secretdoc,click,1",
        "2026-05-01,secretuser,,A,click,1",
        "2026-05-01,secretuser,secretquery,A,click,1,extra",
        '2026-05-01,secretuser,"secretquery,A,click,1',
        "2026-05-01,secretuser,secretquery,secretdoc,click,1",
    ]
    path.write_bytes(
        (HEAD + "\n".join(rows) + "\n").encode() + b"2026-05-01,secretuser,secretquery\xff,A,click,1\n"
    )
    return path


EXPECTED = {  # line → raw
    4: '{"query":"hat","doc":"A"}',
    5: "",
    6: '{"doc":"A"}',
    7: '{"doc":"A"}',
    8: "",
    10: "",
}


def test_rejected_rows_under_min_users(tmp_path):
    graph = build([bad_log(tmp_path / "log.csv")], None, tmp_path / "graph", min_users=2, max_rejected=1)
    found = {row[1]: row[4] for row in rejects(graph)}
    assert found == EXPECTED
    assert (graph.stats["rows"], graph.stats["right"]) == (9, 3)
    plain = build([bad_log(tmp_path / "log.csv")], None, tmp_path / "plain", max_rejected=1)
    assert {row[:4] for row in rejects(plain)} == {row[:4] for row in rejects(graph)}
    assert sum("secretuser" in row[4] for row in rejects(plain)) == 6


def test_rejected_rows_without_user_ids(tmp_path):
    (tmp_path / "key").write_text("ab" * 32)
    options = {"hash_users": True, "key_file": tmp_path / "key"}
    graph = build([bad_log(tmp_path / "log.csv")], None, tmp_path / "graph", max_rejected=1, **options)
    assert graph.stats["hashed_users"] is True
    raw = {row[1]: row[4] for row in rejects(graph)}
    assert raw[5] == '{"query":"secretquery","doc":"secretdoc"}'  # in the graph, by the valid row
    for path in (tmp_path / "graph").rglob("*"):
        assert b"secretuser" not in path.read_bytes()
        assert b"abababab" not in path.read_bytes()
    plain = build([bad_log(tmp_path / "log.csv")], None, tmp_path / "plain", max_rejected=1)
    assert tables_of(graph) == tables_of(plain)


def tables_of(graph: ClickGraph):
    return list(graph.queries), list(graph.docs), graph.clicks.data.tolist(), graph.pairs.users.tolist()


def test_the_list_of_bots_has_digests(tmp_path):
    """One user clicks every half second, for more than a minute."""
    times = [20_000 * DAY + i * 500_000 for i in range(200)]
    rows = [f"{time},secretuser,hat,A,click,1" for time in times] + [f"{times[0]},u1,hat,A,click,1"]
    (tmp_path / "log.csv").write_text(HEAD + "\n".join(rows) + "\n")
    (tmp_path / "key").write_text("ab" * 32)
    plain = build([tmp_path / "log.csv"], None, tmp_path / "plain")
    assert [bot["user"] for bot in plain.stats["bots"]["users"]] == ["secretuser"]
    options = {"hash_users": True, "key_file": tmp_path / "key"}
    graph = build([tmp_path / "log.csv"], None, tmp_path / "graph", **options)
    digest = hashlib.blake2b(b"secretuser", digest_size=16, key=bytes.fromhex("ab" * 32)).hexdigest()
    assert [bot["user"] for bot in graph.stats["bots"]["users"]] == [digest]
    with pytest.raises(UserError) as error:  # all users are bots
        (tmp_path / "log.csv").write_text(HEAD + "\n".join(rows[:-1]) + "\n")
        build([tmp_path / "log.csv"], None, tmp_path / "none", bots="drop", **options)
    assert "secretuser" not in str(error.value)


def test_errors_do_not_show_what_is_hidden(tmp_path):
    (tmp_path / "log.csv").write_text(HEAD + "yesterday,secretuser,secretquery,A,click,1\n")
    with pytest.raises(UserError) as shown:
        build([tmp_path / "log.csv"], None, tmp_path / "graph")
    assert "secretuser" in str(shown.value)
    with pytest.raises(UserError, match="line 2") as hidden:
        build([tmp_path / "log.csv"], None, tmp_path / "graph", scrub="pii")
    assert "secret" not in str(hidden.value)


def test_rejected_rows_of_documents_stay(tmp_path):
    (tmp_path / "docs.csv").write_text("doc,title\nA,a hat\nA,the same hat\n")
    docs = tmp_path / "docs.csv"
    graph = build([bad_log(tmp_path / "log.csv")], docs, tmp_path / "graph", min_users=2, max_rejected=1)
    assert [row[4] for row in rejects(graph) if row[0] == str(docs)] == ["A,the same hat"]


def test_options_that_do_not_fit_the_log(tmp_path):
    (tmp_path / "log.csv").write_text("query,doc,clicks\nhat,A,2\n")
    for options, message in [
        ({"scrub": "names"}, "'names'"),
        ({"key_file": tmp_path / "key"}, "only used to hash users"),
        ({"hash_users": True, "key_file": tmp_path / "missing"}, "cannot be read"),
    ]:
        with pytest.raises(UserError, match=message):
            build([tmp_path / "log.csv"], None, tmp_path / "graph", **options)
    (tmp_path / "key").write_text("ab" * 32)
    with pytest.raises(UserError, match="column for the user"):
        build([tmp_path / "log.csv"], None, tmp_path / "graph", hash_users=True, key_file=tmp_path / "key")
    assert not (tmp_path / "graph").exists()


def test_rejected_rows_of_a_view_are_hidden_too(tmp_path):
    graph = build([bad_log(tmp_path / "log.csv")], None, tmp_path / "graph", min_users=2, max_rejected=1)
    (tmp_path / "queries.csv").write_text("query,feature,value\nhat,warm,1\nsecretquery,warm,much\n")
    (tmp_path / "docs.csv").write_text("doc,feature,value\nA,warm,1\n")
    files = [tmp_path / "queries.csv"], [tmp_path / "docs.csv"]
    add_view(graph.artefact.path, "tags", *files, tmp_path / "more")
    for path in (tmp_path / "more").rglob("*"):
        assert b"secret" not in path.read_bytes()
