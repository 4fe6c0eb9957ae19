"""Rules from what people search next, in hand-made sessions."""

from dataclasses import replace

import pytest

import coclick
from coclick.graph.split import split
from coclick.rules.earlier import keep_certain_sessions
from coclick.rules.rule import FOLLOW_UPS
from failing.shop_log import Log


def rules_of(log, place, **options):
    docs = {"sofa-1": "Sofa Alpha", "lamp": "Lamp", "other": "Something", "first": "Else", "tea": "Green Tea"}
    path = place / "docs.tsv"
    path.write_text("doc\ttitle\n" + "".join(f"{doc}\t{title}\n" for doc, title in docs.items()))
    graph = log.build(place, path)
    found = coclick.find_rules(graph, replay=False, **options)
    return {(rule.kind, rule.left, rule.right): rule for rule in found if rule.evidence == FOLLOW_UPS}


@pytest.fixture(scope="module")
def log():
    """People say sofa for couch in two queries, correct lmap, leave out cheap, and rewrite a whole query."""
    log = Log()
    for i in range(6):
        log.session(("red couch", ""), ("red sofa", "sofa-1"))
        log.session(("couch", ""), ("sofa", "sofa-1"))
        log.session(("lmap", None), ("lamp", "lamp"))
        log.session(("green thing", None), ("tea", "tea"))
        log.session(("cheap sofa", ""), ("sofa", "sofa-1"))
        log.session(("cheap lamp", ""), ("lamp", "lamp") if i < 4 else ("sofa", "sofa-1"))
        log.session(("lamp", "lamp"))
        log.session(("lamp", "lamp"), ("tea", "tea"))  # another topic: nothing failed
    return log


def test_each_kind_with_its_counts(log, tmp_path):
    found = rules_of(log, tmp_path)
    assert set(found) == {
        ("synonym", "couch", "sofa"),
        ("correction", "lmap", "lamp"),
        ("rewrite", "green thing", "tea"),
        ("delete", "cheap", ""),
    }
    sofa, cheap = found["synonym", "couch", "sofa"], found["delete", "cheap", ""]
    assert (sofa.clicks, sofa.share) == (12, 1), "of both queries"
    assert (cheap.clicks, cheap.share) == (12, pytest.approx(10 / 12)), "two went on with something else"


def test_a_rule_needs_searches_users_and_a_wording_that_fails_less(log, tmp_path):
    assert rules_of(log, tmp_path, min_clicks=30) == {}
    others = Log()
    for _ in range(9):
        others.session(("couch", ""), ("settee", ""))  # fails as often
        others.session(("mug", ""), ("cup", "lamp"))
        others.session(("cup", ""), ("mug", "lamp"))  # both ways
        others.session(("vase", ""), ("2", "lamp"))  # a number alone
    assert rules_of(others, tmp_path) == {}
    one = Log()
    for _ in range(9):
        one.session(("couch", ""), ("sofa", "sofa-1"))
    for row in one.rows:
        row["user"] = "u1"
    assert rules_of(one, tmp_path) == {}, "one user"


def test_one_query_with_two_spellings_of_the_next_is_one_query(tmp_path):
    """Lamp and lamps have one stem, so both follow-ups are the same move, from a single query."""
    log = Log()
    for spelling in ("lamp", "lamps"):
        for _ in range(6):
            log.session(("cheap lamp", ""), (spelling, "lamp"))
            log.session(("green thing", None), (spelling, "lamp"))
    found = rules_of(log, tmp_path)
    assert set(found) == {("rewrite", "green thing", "lamp")}, "a delete needs two queries"
    rewrite = found["rewrite", "green thing", "lamp"]
    assert (rewrite.clicks, rewrite.share) == (12, 1)


def test_a_word_of_the_clicked_titles_is_not_deleted(tmp_path):
    log = Log()
    for i in range(12):
        log.session(("green lamp", "tea" if i % 3 else ""), ("lamp", "lamp"))
        log.session(("green tea", "tea" if i % 3 else ""), ("tea", "tea"))
        log.session(("lamp", "lamp"))
        log.session(("tea", "tea"))
    assert rules_of(log, tmp_path) == {}


def test_the_earlier_days_keep_what_the_held_out_days_cannot_have(tmp_path):
    """Of ten follow-ups, three searches are held out; of ten votes against a result, four clicks are."""
    log = Log()
    for i in range(10):
        log.session(("couch", ""), ("sofa", "sofa-1"), day=0 if i < 7 else 9)
    graph = log.build(tmp_path)
    train, held_out = split(graph, "time", 0.2)
    kept = keep_certain_sessions(graph, train, held_out)
    assert graph.followups.count.tolist() == [10] and kept.followups.count.tolist() == [7]
    assert graph.skips.count.tolist() == [10] and kept.skips.count.tolist() == [7]
    heavy = replace(graph, stats={**graph.stats, "actions": {"click": 0.5}})
    assert keep_certain_sessions(heavy, train, held_out).skips.count.tolist() == [4], "3 / 0.5 are held out"
    without = replace(graph, searches=None)
    train = replace(train, searches=None)
    assert keep_certain_sessions(without, train, held_out).followups is None


def test_effects_of_deletes_and_excludes(tmp_path):
    """The last days show that lamps are found without "cheap", and better without the result on top."""
    log = Log()
    docs = tmp_path / "docs.tsv"
    docs.write_text("doc\ttitle\nother\tLamp\nlamp\tLamp of Alpha\nsofa-1\tSofa Cheap\n")
    for day in range(10):
        for _ in range(20):
            log.session(("lamp", "lamp"), day=day)
        for query in ("lamp", "sofa"):
            log.session((f"cheap {query}", ""), (query, "lamp" if query == "lamp" else "sofa-1"), day=day)
            log.session((f"cheap {query}", ""), (query, "lamp" if query == "lamp" else "sofa-1"), day=day)
        log.session(("cheap lamp", "lamp"), day=day)
    found = coclick.find_rules(log.build(tmp_path, docs))
    rules = {(rule.kind, rule.left, rule.right): rule for rule in found}
    exclude = rules["exclude", "lamp", "other"]
    # BM25 has the shorter title "Lamp" first. The clicked one is second: 1 / log2(3).
    assert exclude.effect.before == pytest.approx(0.6309, abs=1e-4) and exclude.effect.after == 1
    delete = rules["delete", "cheap", ""]
    assert delete.effect.queries == 1, "only one query with the word has held-out clicks"
    assert delete.effect.before < delete.effect.after
