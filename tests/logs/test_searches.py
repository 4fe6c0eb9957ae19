"""Sessions by id, searches and follow-ups, against a naive count in plain Python and counts by hand."""

import csv
import random
from collections import Counter, defaultdict

import pytest

from coclick.graph.click_graph import ClickGraph
from coclick.logs import build

SECOND, HOUR, DAY = 1_000_000, 3_600_000_000, 86_400_000_000
FIELDS = ["timestamp", "user", "session", "query", "doc", "action", "position", "results"]


def row(seconds, user, session, query, doc="", action="impression", position="", results=""):
    time = 20_000 * DAY + int(seconds * SECOND)
    return dict(zip(FIELDS, [time, user, session, query, doc, action, position, results], strict=True))


def built(place, rows, fields=FIELDS, **options):
    path = place / f"{len(list(place.iterdir()))}.csv"
    with path.open("w", newline="") as stream:
        out = csv.writer(stream)
        out.writerow(fields)
        out.writerows([[row[name] for name in fields] for row in rows])
    return build([path], None, place / f"{path.stem}-graph", **options)


def searches(graph):
    """{(query, day): (searches, without clicks, without results)}; what the graph does not have is None."""
    found, table = {}, graph.searches
    for q, query in enumerate(graph.queries):
        for i in range(table.indptr[q], table.indptr[q + 1]):
            columns = table.day, table.searches, table.without_clicks, table.without_results
            day, *counts = (None if column is None else int(column[i]) for column in columns)
            found[query, day] = tuple(counts)
    return found


def followups(graph):
    """{(query, next query): (count, users)}."""
    found, table, queries = {}, graph.followups, list(graph.queries)
    for q, query in enumerate(queries):
        for i in range(table.indptr[q], table.indptr[q + 1]):
            found[query, queries[table.next[i]]] = (int(table.count[i]), int(table.users[i]))
    return found


def random_rows(seed, size=200):
    """Rows of a few users, whose sessions have ids, with searches without results among them."""
    chance = random.Random(seed)
    rows = []
    for _ in range(size):
        user = chance.choice("uvw")
        at = (chance.randrange(3 * 86_400), user, f"s{chance.randrange(4)}", chance.choice("abcdef"))
        kind = chance.random()
        if kind < 0.3:
            rows.append(row(*at, action="search", results=chance.choice([0, 0, 5, ""])))
        else:
            action = "click" if kind < 0.6 else "impression"
            rows.append(row(*at, chance.choice("xyz"), action, chance.randrange(1, 4)))
    return rows


def naive(rows, by_id):
    """Count sessions, searches, follow-ups and navigational clicks one by one."""
    session_of, last, number = {}, {}, Counter()
    for i in sorted(range(len(rows)), key=lambda i: rows[i]["timestamp"]):
        user, time = rows[i]["user"], rows[i]["timestamp"]
        if by_id:
            session_of[i] = user, rows[i]["session"]
            continue
        if user in last and time - last[user] > HOUR // 2:
            number[user] += 1
        last[user] = time
        session_of[i] = user, number[user]
    pages, clicks = defaultdict(list), defaultdict(list)
    for i, record in enumerate(rows):
        pages[session_of[i], record["query"]].append(record)
        if record["action"] == "click":
            clicks[session_of[i]].append((record["query"], record["doc"]))
    counts = defaultdict(lambda: [0, 0, 0])
    order = defaultdict(list)
    for (session, query), page in pages.items():
        first = min(record["timestamp"] for record in page)
        order[session].append((first, query))
        count = counts[query, first // DAY]
        count[0] += 1
        count[1] += all(record["action"] != "click" for record in page)
        nothing = all(record["action"] == "search" for record in page)
        count[2] += nothing and all(record["results"] in (0, "") for record in page)
    following = defaultdict(list)
    for (user, _), queries in order.items():
        names = [query for _, query in sorted(queries)]
        for pair in zip(names, names[1:], strict=False):
            following[pair].append(user)
    return {
        "sessions": len(order),
        "searches": {key: tuple(count) for key, count in counts.items()},
        "followups": {pair: (len(users), len(set(users))) for pair, users in following.items()},
        "navigational": Counter(made[0] for made in clicks.values() if len(made) == 1),
    }


def navigational(graph):
    pairs, docs = graph.pairs, list(graph.docs)
    found = Counter()
    for q, query in enumerate(graph.queries):
        for i in range(pairs.indptr[q], pairs.indptr[q + 1]):
            found[query, docs[pairs.docs[i]]] += int(pairs.navigational[i])
    return +found


@pytest.mark.parametrize(("seed", "by_id"), [(1, True), (2, False)])
def test_random_logs_equal_the_naive_count(tmp_path, seed, by_id):
    rows = random_rows(seed)
    graph = built(tmp_path, rows, [name for name in FIELDS if by_id or name != "session"])
    expected = naive(rows, by_id)
    assert searches(graph) == expected["searches"]
    assert followups(graph) == expected["followups"]
    assert navigational(graph) == expected["navigational"]
    assert graph.stats["sessions"] == expected["sessions"]
    totals = [sum(column) for column in zip(*expected["searches"].values(), strict=True)]
    names = ("searches", "searches_without_clicks", "searches_without_results")
    assert [graph.stats[name] for name in names] == totals
    assert totals[2] > 0


@pytest.fixture
def small_log():
    """Two users of one session id each, and a session that goes on for hours."""
    return [
        row(0, "ann", "s1", "shoes", action="search", results=2),
        row(0, "ann", "s1", "shoes", "A", position=1),
        row(3, "ann", "s1", "shoes", "A", "click", 1),
        row(9, "ann", "s1", "shoos", action="search", results=0),
        row(20_000, "ann", "s1", "boots", "A", position=1),  # five hours later, the same session
        row(20_001, "ann", "s1", "shoes", "A", position=1),  # the page of before
        row(5, "bob", "s1", "shoes", "A", position=1),  # another user's session with the same id
        row(8, "bob", "s1", "boots", "A", "click", 1),
    ]


def test_a_small_log_by_hand(tmp_path, small_log):
    graph = built(tmp_path, small_log)
    assert graph.stats["sessions"] == 2
    assert list(graph.queries) == ["boots", "shoes", "shoos"], "a query without results is in the graph"
    assert searches(graph) == {
        ("shoes", 20_000): (2, 1, 0), ("shoos", 20_000): (1, 1, 1), ("boots", 20_000): (2, 1, 0),
    }  # fmt: skip
    assert followups(graph) == {
        ("shoes", "shoos"): (1, 1), ("shoos", "boots"): (1, 1), ("shoes", "boots"): (1, 1),
    }  # fmt: skip
    assert ClickGraph.open(tmp_path / "0-graph").followups.next.tolist() == [0, 2, 0]


def test_min_users_holds_for_followups(tmp_path, small_log):
    more = [
        *small_log,
        row(0, "cat", "s9", "shoes", "A", "click", 1),
        row(9, "cat", "s9", "boots", "A", "click", 1),
    ]
    graph = built(tmp_path, more, min_users=2)
    assert list(graph.queries) == ["boots", "shoes"]
    assert followups(graph) == {("shoes", "boots"): (2, 2)}
    assert all(counts[0] for counts in searches(graph).values())


def test_what_the_log_cannot_tell_is_absent(tmp_path, small_log):
    no_times = built(tmp_path, small_log, [name for name in FIELDS if name != "timestamp"])
    assert no_times.followups is None, "their order is unknown"
    assert searches(no_times) == {
        ("shoes", None): (2, 1, 0), ("shoos", None): (1, 1, 1), ("boots", None): (2, 1, 0),
    }  # fmt: skip
    assert no_times.daily is None and no_times.stats["sessions"] == 2
    events = [record for record in small_log if record["action"] != "search"]
    no_records = built(tmp_path, events)
    assert no_records.searches.without_results is None
    assert "searches_without_results" not in no_records.stats
    clicks = [record for record in small_log if record["action"] == "click"]
    only_clicks = built(tmp_path, clicks)
    assert only_clicks.searches is None, "searches without a click are not in the log"
    silent = [record | {"results": ""} for record in small_log if record["action"] != "impression"]
    no_impressions = built(tmp_path, silent, [name for name in FIELDS if name != "results"])
    assert no_impressions.searches.without_results is None
    no_users = built(tmp_path, small_log, [name for name in FIELDS if name not in ("user", "session")])
    assert no_users.searches is None and no_users.followups is None


def test_without_users_each_session_counts_as_a_user(tmp_path, small_log):
    rows = [record | {"session": f"{record['user']}-{record['session']}"} for record in small_log]
    graph = built(tmp_path, rows, [name for name in FIELDS if name != "user"])
    assert graph.stats["users"] == graph.stats["sessions"] == 2
    assert graph.pairs.users.tolist() == [1, 1]


def test_a_row_without_a_session_id_belongs_to_the_day_of_its_user(tmp_path, small_log):
    rows = [record | {"session": ""} for record in small_log]
    graph = built(tmp_path, rows)
    assert graph.stats["sessions"] == 2, "one for each user: all on one day"
