"""Users that are probably programs: the simulator's, and people who only look like them."""

import random
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from coclick.errors import UserError
from coclick.logs import build
from coclick.logs.bots import RULES, Rule
from coclick.simulate.engine import search_all
from coclick.simulate.users import _n_humans, search_log, user_names
from coclick.simulate.world import World

DOCS = Path(__file__).parents[2] / "docs" / "logs.md"
FIELDS = ("timestamp", "user", "query", "doc", "action")
HOUR = 3600.0


def built(place, rows, **options):
    """The graph of rows (seconds, user, query, doc, action)."""
    columns = dict(zip(FIELDS, (np.array(column) for column in zip(*rows, strict=True)), strict=True))
    columns["timestamp"] = np.datetime64("2026-03-02", "us") + (columns["timestamp"] * 1e6).astype("m8[us]")
    return build(pa.table(columns), None, place / "graph", force=True, threads=1, **options)


def flagged(graph):
    return {found["user"]: found["rule"] for found in graph.stats["bots"]["users"]}


def page(time, user, query, clicks=(), results=10):
    """Rows of a result page, with (seconds later, place) of its clicks; documents are those of the query."""
    shown = [(time, user, query, f"{query}-{place}", "impression") for place in range(results)]
    return shown + [(time + later, user, query, f"{query}-{place}", "click") for later, place in clicks]


def search_for(chance, user, time, hours, pause, queries=2000):
    """A person who searches for some hours: reads for a while, clicks one or two results of most pages."""
    rows, end = [], time + hours * HOUR
    while time < end:
        first = 2 + chance.expovariate(1 / 8)
        clicks = [(first, chance.randrange(4))] if chance.random() < 0.7 else []
        if clicks and chance.random() < 0.3:
            clicks.append((first + 3 + chance.expovariate(1 / 30), chance.randrange(10)))
        rows += page(time, user, f"q{int(queries * chance.random() ** 3)}", clicks)
        time += (clicks[-1][0] if clicks else 4) + 5 + chance.expovariate(1 / pause)
    return rows


def test_the_page_shows_the_table_of_rules():
    text = DOCS.read_text()
    assert "\n".join(rule.row() for rule in RULES) in text
    assert RULES[0].row() == (
        "| `clicks_per_minute` | clicks and searches in the busiest minute | ≥ 60 | 60 clicks and searches "
        "| reading a title takes about a second; nobody clicks every second for a whole minute |"
    )
    assert (
        Rule("r", "v", 0.3, 1000, "things", "so", below=True).row()
        == "| `r` | v | ≤ 0.3 | 1,000 things | so |"
    )


@pytest.mark.parametrize(("seed", "events"), [(1, 10_000), (2, 60_000), (3, 25_000)])
def test_bots_of_the_simulator(tmp_path, seed, events):
    world = World.make(300, 400, seed)
    parts = list(search_log(world, events, seed, search_all(world, seed)))
    time, user, query, doc, action = (
        np.concatenate([getattr(part, name) for part in parts])
        for name in ("time", "user", "query", "document", "action")
    )
    names = user_names(events)
    kinds = np.array(["impression", "click", "cart", "purchase"])
    rows = zip(time / 1000, names[user], query.astype(str), doc.astype(str), kinds[action], strict=True)
    found = set(flagged(built(tmp_path, rows)))
    bots = {names[number] for number in np.unique(user[user >= _n_humans(events)])}
    assert len(bots) >= 2
    right = len(found & bots)
    assert right / len(found) >= 0.95 and right / len(bots) >= 0.95, (found, bots)


def test_people_are_not_flagged(tmp_path):
    chance = random.Random(4)
    rows = []
    for day in range(5):  # a professional searcher: eight hours a day, a page every half minute
        rows += search_for(chance, "professional", day * 24 * HOUR, 8, 20)
    rows += search_for(chance, "kiosk", 0, 12, 10, queries=600)  # one person after the other for twelve hours
    for _person in range(50):  # fifty people, each for a few minutes at any time of the day
        for _ in range(3):
            rows += search_for(chance, "office", chance.uniform(0, 9) * HOUR, 0.1, 30)
    for number in range(12):  # opens five results in tabs at once, then reads
        rows += page(number * 600, "tabs", f"q{number}", [(1 + 0.4 * place, place) for place in range(5)])
    assert flagged(built(tmp_path, rows)) == {}


def test_each_rule(tmp_path):
    chance = random.Random(5)
    rows = search_for(chance, "person", 0, 1, 20)
    for number in range(70):  # about 80 clicks a minute, on one result in three
        rows += page(number * 2.5, "fast", f"q{number}", [(chance.uniform(0, 2.4), 3 * n) for n in range(3)])
    for number in range(2100):
        rows += page(number * 30, "all-day", f"q{number % 300}", [(chance.uniform(2, 20), 3)], results=4)
    for number in range(1000):
        rows += page(number * 40 + chance.uniform(0, 39), "broad", f"q{number}", results=3)
    for number in range(60):
        rows += page(number * 600 + chance.uniform(0, 9), "timer", "q1", results=3)
    for number in range(10):
        clicks = [(5 * chance.random() + 9 * place, place) for place in range(8)]
        rows += page(number * 900, "everything", f"q{number}", clicks)
    for number in range(3):
        rows += page(number * 9000, "farm", "q7", [(5 + 0.7 * n, 2) for n in range(14)])
    graph = built(tmp_path, rows)
    assert flagged(graph) == {
        "fast": "clicks_per_minute", "all-day": "clicks_per_day", "broad": "queries_per_day",
        "timer": "uniform_gaps", "everything": "clicks_everything", "farm": "no_dwell",
    }  # fmt: skip
    listed = {found["user"]: found for found in graph.stats["bots"]["users"]}
    assert listed["everything"]["value"] == 0.8 == listed["everything"]["threshold"]
    assert listed["farm"] == {
        "user": "farm", "rule": "no_dwell", "value": round(39 / 42, 4), "threshold": 0.9, "events": 72,
    }  # fmt: skip
    assert listed["broad"]["value"] == 1000
    # 2,100 pages of 30 seconds are 17.5 hours: one day
    assert listed["all-day"]["value"] == 2100


def farm_log():
    """A click farm that clicks A for shoes, which ann clicks too, and B for hats, which nobody else does."""
    rows = [(n * 0.5, "farm", "shoes", "A", "click") for n in range(40)]
    rows += [(30 + n * 0.5, "farm", "hats", "B", "click") for n in range(2)]
    return [*rows, (5, "ann", "shoes", "A", "click"), (8, "ann", "shoes", "C", "impression")]


def test_dropping_says_how_the_graph_changes(tmp_path):
    kept = built(tmp_path, farm_log())
    expected = {"n_users": 1, "n_events": 42, "n_clicks": 42, "n_edges": 1}
    assert expected.items() <= kept.stats["bots"].items() and kept.stats["bots"]["policy"] == "flag"
    assert (kept.clicks.nnz, kept.clicks.data.sum()) == (2, 43)
    dropped = built(tmp_path, farm_log(), bots="drop")
    assert expected.items() <= dropped.stats["bots"].items() and dropped.stats["bots"]["policy"] == "drop"
    assert list(dropped.queries) == ["shoes"] and list(dropped.docs) == ["A", "C"]
    assert (dropped.clicks.nnz, dropped.clicks.data.sum()) == (1, 1)
    assert dropped.stats["users"] == dropped.stats["sessions"] == dropped.stats["searches"] == 1
    assert dropped.stats["right"] == dropped.stats["rows"] == 44, "their rows are valid, but not counted"
    assert built(tmp_path, farm_log(), bots="keep").stats["bots"] == {"policy": "keep"}
    with pytest.raises(UserError, match="all 1 user of the log look like bots"):
        built(tmp_path, farm_log()[:42], bots="drop")


def test_without_users_or_times_bots_cannot_be_looked_for(tmp_path):
    log = tmp_path / "log.tsv"
    log.write_text("query\tdoc\tuser\nshoes\tA\tann\n")
    assert build([log], None, tmp_path / "g").stats["bots"] == {
        "policy": "flag", "not_looked_for": "the log has no times",
    }  # fmt: skip
    with pytest.raises(UserError, match="bots cannot be looked for: the log has no times"):
        build([log], None, tmp_path / "h", bots="drop")
    with pytest.raises(UserError, match="bots must be flag, drop or keep, not 'yes'"):
        build([log], None, tmp_path / "h", bots="yes")  # type: ignore[arg-type]
    log.write_text("query\tdoc\tclicks\nshoes\tA\t3\n")
    with pytest.raises(UserError, match="bots cannot be looked for: the log has no events, only counts"):
        build([log], None, tmp_path / "h", bots="drop")


def test_times_in_whole_minutes_flag_nobody_for_seconds(tmp_path):
    chance = random.Random(6)
    rows = [(60 * (row[0] // 60), *row[1:]) for row in search_for(chance, "person", 0, 6, 10)]
    assert flagged(built(tmp_path, rows)) == {}
