"""Failing queries of hand-made logs, whose truth is known, and of random logs, counted naively."""

import json
import random
import shlex
import sys

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rare_words
from coclick import ClickGraph, Suggestions, cli, create, find_rules
from coclick.errors import UserError
from coclick.failing import KINDS, describe_fix, find_failing
from coclick.failing.page import render_page
from coclick.logs import build
from coclick.simulate import sample
from failing.shop_log import FIELDS, Log, recount

COLUMNS = ("searches", "without_clicks", "without_results", "followed")


def queries_of(found):
    return {query["query"]: query for cluster in found["clusters"] for query in cluster["examples"]}


@pytest.fixture(scope="module")
def log():
    """Queries that fail in one way each, and others that do not."""
    log = Log()
    for i in range(40):
        log.session(("sofa", "sofa-1" if i % 2 else "sofa-2"))
        log.session(("red lamp", "lamp"))
    for _ in range(12):
        log.session(("unobtainium ring", None))
        log.session(("couch", ""), ("sofa", "sofa-1"))
        log.session("weird vase")
        log.session("vague thing")
        log.session(("red lmap", None), ("red lamp", "lamp"))
    log.session(("vague thing", "thing"))
    return log


@pytest.fixture(scope="module")
def found(log, tmp_path_factory):
    return find_failing(log.build(tmp_path_factory.mktemp("failing")), "cos_clicks")


def test_every_kind_is_found(found):
    kinds = {query: row["kinds"] for query, row in queries_of(found).items()}
    assert kinds == {
        "unobtainium ring": ["no_results"],
        "red lmap": ["no_results", "reformulated"],
        "couch": ["never_clicked", "reformulated"],
        "weird vase": ["never_clicked"],
        "vague thing": ["abandoned"],
    }
    assert [kind["queries"] for kind in found["kinds"]] == [2, 2, 1, 2, 0]
    assert [kind["kind"] for kind in found["kinds"]] == list(KINDS)
    assert found["failing"] == {"queries": 5, "searches": 61}
    assert found["missing"] == [] and found["counted"] == "searches"


def test_counts_by_hand(found):
    rows = queries_of(found)
    expected = {
        "unobtainium ring": (12, 12, 12, 0),
        "red lmap": (12, 12, 12, 12),
        "couch": (12, 12, 0, 12),
        "vague thing": (13, 12, 0, 0),
    }
    assert {query: tuple(rows[query][name] for name in COLUMNS) for query in expected} == expected
    assert rows["vague thing"]["abandoned_at_least"] == 12 and rows["vague thing"]["clicks"] == 1
    assert rows["couch"]["next"] == [{"query": "sofa", "searches": 12, "users": 12, "related": True}]
    assert rows["couch"]["reformulated"] == 12


def test_each_has_the_fix_that_would_help(found):
    fixes = {query: describe_fix(row["fix"]) for query, row in queries_of(found).items()}
    assert fixes == {
        "unobtainium ring": "missing document",
        "weird vase": "missing document",
        "couch": "synonym: couch → sofa",
        "red lmap": "spelling: lmap → lamp",
        "vague thing": "review the ranking",
    }


def test_fixes_are_the_rules_and_corrections_of_the_log(log, found, tmp_path):
    """With the evidence and the id that the review file has, and the command that ships it."""
    graph = log.build(tmp_path)
    rules = {rule.left: rule for rule in find_rules(graph, replay=False)}
    for query, word in (("couch", "couch"), ("red lmap", "lmap")):
        fix = queries_of(found)[query]["fix"]
        assert (fix["from"], fix["to"], fix["rule"]) == (word, rules[word].right, rules[word].id)
        # 12 of 12: Wilson's interval begins at 12 / (12 + 1.96²)
        expected = "100% of 12 searches that went on support it (95 % interval 76% to 100%)"
        assert fix["reason"] == expected
        assert fix["command"] == "coclick rules GRAPH --to FORMAT -o FILE --review review.tsv"
    assert queries_of(found)["weird vase"]["fix"]["command"] == ""


def test_a_correction_of_the_search_box_is_a_fix(tmp_path):
    """Nobody types it right afterwards, so there is no rule; did-you-mean knows the word."""
    log = Log()
    for i in range(40):
        log.session((f"headphones {'abcd'[i % 4] * 3}", "phones"))
        log.session(("headphones", "phones"))
    for _ in range(9):
        log.session("headphnoes")
    graph = log.build(tmp_path)
    fix = queries_of(find_failing(graph, "cos_clicks"))["headphnoes"]["fix"]
    correction = Suggestions.build(graph).correct("headphnoes")
    assert (fix["kind"], fix["to"], correction.query) == ("spelling", "headphones", "headphones")
    assert fix["reason"].endswith(f"a confidence of {correction.confidence:.2f}")
    assert fix["command"] == "coclick suggest build GRAPH -o DIR"


def test_words_that_people_leave_out(tmp_path):
    log = Log()
    for _ in range(9):
        for query in ("sofa", "lamp"):
            log.session((f"cheap {query}", ""), (query, query))
            log.session((query, query))
    fixes = queries_of(find_failing(log.build(tmp_path), "cos_clicks"))
    assert {query: describe_fix(row["fix"]) for query, row in fixes.items()} == {
        "cheap sofa": "leave out: cheap",
        "cheap lamp": "leave out: cheap",
    }


def test_a_better_wording_that_few_people_typed_is_named(tmp_path):
    log = Log()
    for i in range(9):
        log.session(("red cot", ""), *([("red bed", "bed")] if i < 2 else []))
        log.session(("red bed", "bed"))
    [row] = queries_of(find_failing(log.build(tmp_path), "cos_clicks")).values()
    assert row["fix"]["kind"] == "review"
    assert row["fix"]["reason"] == "“red bed” is clicked, but too few people say so for a rule"


def test_a_document_with_most_clicks_is_pinned(tmp_path):
    log = Log()
    for i in range(60):
        log.session(("desk", "desk-7" if i < 12 else ""))
        log.session(("pen", "pen"))
    [row] = queries_of(find_failing(log.build(tmp_path), "cos_clicks")).values()
    assert (row["kinds"], row["fix"]["kind"], row["fix"]["doc"]) == (["abandoned"], "pin", "desk-7")
    assert row["fix"]["reason"] == "100% of 12 clicks support it (95 % interval 76% to 100%)"


def test_similar_wordings_are_one_cluster(tmp_path):
    log = Log()
    for _ in range(9):
        for query in ("unobtainium ring", "unobtainium rings", "gold unobtainium ring", "lost key"):
            log.session((query, None))
        log.session(("hat", "hat"))
    clusters = find_failing(log.build(tmp_path), "cos_clicks", examples=2)["clusters"]
    assert [(cluster["queries"], cluster["searches"], cluster["failed"]) for cluster in clusters] == [
        (3, 27, 27),
        (1, 9, 9),
    ]
    assert [len(cluster["examples"]) for cluster in clusters] == [2, 1]


def test_what_the_log_lacks_is_said(log, tmp_path):
    without_searches = find_failing(log.build(tmp_path, fields=FIELDS[:-1]), "cos_clicks")
    assert "unobtainium ring" not in queries_of(without_searches)
    assert queries_of(without_searches)["couch"]["without_results"] is None
    assert "queries that found nothing are not in it" in without_searches["missing"][0]

    clicks = ClickGraph.from_clicks([("hat", "d1", 9)])
    nothing = find_failing(clicks)
    assert nothing["clusters"] == [] and nothing["counted"] == "clicks"
    assert "only searches with a click are visible" in nothing["missing"][0]
    assert "reformulations are not visible" in nothing["missing"][1]

    private = find_failing(log.build(tmp_path, min_users=3), "cos_clicks")
    assert "built with --min-users 3" in private["missing"][-1]
    assert not {"unobtainium ring", "couch", "weird vase"} & set(queries_of(private))


def test_impressions_without_sessions_show_what_was_never_clicked(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("query,doc,clicks,impressions\nvase,a,0,30\nhat,a,5,20\n")
    found = find_failing(build([path], None, tmp_path / "graph"), "cos_clicks")
    assert found["counted"] == "impressions"
    assert {query: row["searches"] for query, row in queries_of(found).items()} == {"vase": 30}


def test_models_that_do_not_fit_are_refused(log, tmp_path):
    graph = log.build(tmp_path)
    with pytest.raises(UserError, match="clicks finds no similar queries"):
        find_failing(graph, "clicks")
    other = create("cos_clicks").fit(ClickGraph.from_clicks([("hat", "d1", 9)]))
    with pytest.raises(UserError, match="another graph"):
        find_failing(graph, other)
    with pytest.raises(UserError, match="min_searches"):
        find_failing(graph, min_searches=0)
    trained = create("cos_clicks").fit(graph)
    assert queries_of(find_failing(graph, trained)) == queries_of(find_failing(graph, "cos_clicks"))


searches = st.tuples(st.sampled_from(["a b", "a c", "d", "e f g"]), st.sampled_from([None, "", "x", "y"]))


@pytest.mark.slow
@settings(max_examples=6, deadline=None)
@given(st.lists(st.lists(searches, min_size=1, max_size=4), min_size=1, max_size=20))
def test_listed_queries_have_the_counts_of_a_naive_recount(tmp_path_factory, sessions):
    log = Log()
    log.session(("clicked", "x"))  # a log needs a click
    for session in sessions:
        log.session(*session)
    graph = log.build(tmp_path_factory.mktemp("random"))
    found, naive = find_failing(graph, "cos_clicks", min_searches=1), recount(log.rows)
    for query, row in queries_of(found).items():
        assert {name: row[name] for name in COLUMNS} == {name: naive[query][name] for name in COLUMNS}
        assert all(one["searches"] == naive[query]["next", one["query"]] for one in row["next"])
        if "no_results" in row["kinds"]:
            assert 2 * naive[query]["without_results"] >= naive[query]["searches"]
        if "never_clicked" in row["kinds"]:
            assert naive[query]["without_clicks"] == naive[query]["searches"]
    assert found["totals"]["searches"] == sum(counts["searches"] for counts in naive.values())
    listed = {query for query, row in queries_of(found).items() if "no_results" in row["kinds"]}
    assert listed == {
        query for query, counts in naive.items() if 2 * counts["without_results"] >= counts["searches"]
    }


def test_the_page_is_self_contained_and_shows_markup_as_text(found, tmp_path):
    page = render_page(found)
    for words in ("unobtainium ring", "synonym: couch → sofa", "spelling: lmap → lamp"):
        assert words in page
    assert "http://" not in page and "https://" not in page and "<script" not in page
    log = Log()
    log.session(("lamp", "lamp"))
    for _ in range(6):
        log.session(("<img src=x onerror=alert(1)>", None))
    found = find_failing(log.build(tmp_path), "cos_clicks")
    assert "<img" not in render_page(found) and "&lt;img src=x" in render_page(found)


def test_the_order_of_rows_does_not_matter(log, found, tmp_path):
    shuffled = Log()
    shuffled.rows = random.Random(1).sample(log.rows, len(log.rows))
    again = find_failing(shuffled.build(tmp_path), "cos_clicks")
    assert json.dumps(again) == json.dumps(found)


def test_the_command_prints_and_writes(log, tmp_path, capsys, monkeypatch):
    (tmp_path / "my logs").mkdir()
    graph = log.build(tmp_path / "my logs")
    command = ["coclick", "failing", str(graph.artefact.path), "--model", "cos_clicks"]
    monkeypatch.setattr(sys, "argv", [*command, "--html", str(tmp_path / "f.html")])
    with pytest.raises(SystemExit) as end:
        cli.main()
    assert not end.value.code
    printed = capsys.readouterr().out
    assert "couch → sofa" in printed and "never_clicked" in printed
    [line] = [line for line in printed.splitlines() if line.startswith("ship with: coclick rules ")]
    words = shlex.split(line)  # as a shell reads it
    assert words[4:6] == [str(graph.artefact.path), "--to"]
    assert "unobtainium ring" in (tmp_path / "f.html").read_text()
    monkeypatch.setattr(sys, "argv", [*command, "--json"])
    with pytest.raises(SystemExit):
        cli.main()
    assert json.loads(capsys.readouterr().out) == find_failing(graph, "cos_clicks")


def test_rare_queries_stay_out(tmp_path):
    """With words of one user planted in the log, a page of a build for five users has none of them."""
    log = rare_words.write_csv(tmp_path / "log.csv")
    plain = find_failing(build([log], None, tmp_path / "plain"), "cos_clicks", min_searches=1)
    assert rare_words.UNCLICKED_QUERY in queries_of(plain)
    graph = build([log], None, tmp_path / "private", min_users=rare_words.K, scrub="pii", hash_users=True)
    found = find_failing(graph, "cos_clicks", min_searches=1)
    shown = json.dumps(found) + render_page(found)
    assert rare_words.find(shown.encode()) == []


@pytest.mark.slow
def test_queries_planted_in_a_simulated_log_without_relevant_documents_are_found(tmp_path):
    """Ten users each search three made-up things; the engine shows something, and nobody clicks."""
    sample(tmp_path / "log", queries=300, docs=500)
    events = tmp_path / "log" / "events.parquet"
    planted = [f"zorb{letter} gadget" for letter in "abc"]
    with duckdb.connect() as db:
        names = [name for name, *_ in db.execute(f"DESCRIBE SELECT * FROM '{events}'").fetchall()]
        db.execute(f"CREATE TABLE log AS SELECT * FROM '{events}'")
        shown = "SELECT * FROM log WHERE action = 'impression' ORDER BY timestamp LIMIT 10"
        for number, query in enumerate(planted):
            values = {"query": f"'{query}'", "user": f"'planted{number}-' || row_number() OVER ()"}
            row = ", ".join(f"{values.get(name, name)} AS {name}" for name in names)
            db.execute(f"INSERT INTO log SELECT {row} FROM ({shown})")
        db.execute(f"COPY log TO '{tmp_path / 'events.parquet'}'")
    graph = build([tmp_path / "events.parquet"], tmp_path / "log" / "docs.tsv", tmp_path / "graph")
    rows = queries_of(find_failing(graph))
    for query in planted:
        assert rows[query]["kinds"] == ["never_clicked"] and rows[query]["searches"] == 10
        assert rows[query]["fix"]["kind"] == "missing"
