"""The review file keeps decisions, and says in which line it is wrong."""

import csv
import threading
from dataclasses import replace

import pytest

from coclick import UserError
from coclick.rules import ReviewedRule, decide, load_review, write_rules
from coclick.rules.review import COLUMNS, merge_review, save_review, update_review
from coclick.rules.rule import Effect, Rule

HOSTILE = [
    "=1+1",
    "+x",
    "-x",
    "@sum(a)",
    "'=x",
    "''",
    "'tis",
    "'",
    'a "b" c',
    "tab\there",
    "two\nlines",
    "\r",
    "€ß",
]


def rule(left="cod", right="call of duty", kind="synonym", effect=None):
    return Rule(kind, left, right, 42.0, 0.952, (0.842, 0.987), "", effect)


def test_what_is_written_is_read_back(tmp_path):
    path = tmp_path / "review.tsv"
    rows = [
        ReviewedRule(Rule("pin", text, text + "!", 7.5, 0.5, (0.25, 0.75), text), "reject", text)
        for text in HOSTILE
    ]
    rows.append(ReviewedRule(rule(effect=Effect(0.125, 1.0, 12)), "accept", "sure"))
    rows.append(ReviewedRule(rule(kind="rewrite")))
    rows.append(ReviewedRule(replace(rule("cheap", "", "delete"), evidence="follow-ups"), "accept"))
    save_review(path, rows)
    assert load_review(path) == rows


def test_a_file_without_the_column_of_evidence_is_read(tmp_path):
    path = tmp_path / "review.tsv"
    rows = [ReviewedRule(rule(), "accept", "sure")]
    save_review(path, rows)
    lines = [line.split("\t") for line in path.read_text().splitlines()]
    path.write_text("".join("\t".join(cells[:5] + cells[6:]) + "\n" for cells in lines))
    assert "evidence" not in path.read_text()
    assert load_review(path) == rows


def test_no_cell_of_text_starts_a_formula(tmp_path):
    path = tmp_path / "review.tsv"
    save_review(
        path, [ReviewedRule(Rule("pin", text, text, 1, 1, (0.5, 1), text), "", text) for text in HOSTILE]
    )
    with path.open(newline="", encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream, dialect="excel-tab"))
    assert len(rows) == len(HOSTILE)
    for row in rows:
        for name in ("left", "right", "title", "note"):
            assert row[name][0] not in "=+-@", row
    assert [row["left"] for row in rows][:2] == ["'=1+1", "'+x"]


def test_decisions_stay_and_evidence_is_renewed(tmp_path):
    path = tmp_path / "review.tsv"
    gone, undecided, kept = rule("gone"), rule("undecided"), rule("kept")
    assert [one.decision for one in update_review(path, [gone, undecided, kept])] == ["", "", ""]
    decide(path, gone.id, "reject", "too broad")
    decide(path, kept.id, "accept")
    newer = Rule("synonym", "kept", "call of duty", 99, 0.5, (0.4, 0.6))
    merged = update_review(path, [newer, rule("new")])
    assert [(one.rule.left, one.decision, one.note) for one in merged] == [
        ("kept", "accept", ""),
        ("new", "", ""),
        ("gone", "reject", "too broad"),
    ]
    assert merged[0].rule.clicks == 99
    assert load_review(path) == merged
    assert merge_review(merged, []) == [merged[0], merged[2]]


def test_only_accepted_rules_are_written(tmp_path):
    review, out = tmp_path / "review.tsv", tmp_path / "rules.txt"
    rules = [rule("one"), rule("two"), rule("three")]
    stats = write_rules(rules, "opensearch-synonyms", out, review=review)
    assert stats["written"] == 0 and stats["decisions"] == {"accepted": 0, "rejected": 0, "undecided": 3}
    decide(review, rules[1].id, "accept")
    decide(review, rules[2].id, "reject")
    stats = write_rules(rules[:1], "opensearch-synonyms", out, review=review, force=True)  # two has vanished
    assert stats["decisions"] == {"accepted": 1, "rejected": 1, "undecided": 1}
    lines = [line for line in out.read_text().splitlines() if not line.startswith("#")]
    assert lines == ["two => two, call of duty"]


def test_without_review_harmful_rules_and_idle_pins_are_not_written(tmp_path):
    rules = [
        rule("good", effect=Effect(0.1, 0.5, 9)),
        rule("bad", effect=Effect(0.5, 0.1, 9)),
        rule("chance", effect=Effect(0.5, 0.1, 2)),
        rule("unmeasured"),
        Rule("pin", "idle", "d", 9, 1, (0.7, 1), "", Effect(1.0, 1.0, 1)),
    ]
    stats = write_rules(rules, "querqy", tmp_path / "rules.txt")
    text = (tmp_path / "rules.txt").read_text()
    assert stats["unhelpful"] == 2 and stats["written"] == 3
    assert all(f"{left} =>" in text for left in ("good", "chance", "unmeasured"))


def edited(tmp_path, change):
    path = tmp_path / "review.tsv"
    save_review(path, [ReviewedRule(rule("one")), ReviewedRule(rule("two"), "accept")])
    path.write_text(change(path.read_text()))
    return path


@pytest.mark.parametrize(
    ("change", "line", "message"),
    [
        (lambda text: text.replace("decision", "verdict"), 1, "not a review file"),
        (lambda text: "", 1, "not a review file"),
        (lambda text: text.replace("\ttwo\t", "\ttoo\t"), 3, "not the id of this rule"),
        (lambda text: text + text.splitlines()[1] + "\n", 4, "in the file twice"),
        (lambda text: text.replace("accept", "maybe"), 3, "unknown decision 'maybe'"),
        (lambda text: text.replace("synonym\tone", "banana\tone"), 2, "evidence of the rule cannot be read"),
        (lambda text: text.replace("0.842 to 0.987", "4.2.2011"), 2, "evidence of the rule cannot be read"),
        (lambda text: text.replace("\t42\t", "\tmany\t"), 2, "evidence of the rule cannot be read"),
        (lambda text: text + "a\tb\n", 4, "the row has 2 cells"),
        (lambda text: text + 'a\t"b"c"\n', 4, "cannot split the row"),
    ],
)
def test_a_wrong_file_is_told_by_line(tmp_path, change, line, message):
    path = edited(tmp_path, change)
    with pytest.raises(UserError, match=message) as raised:
        load_review(path)
    assert raised.value.where == f"{path}, line {line}"


def test_what_spreadsheets_change_is_read(tmp_path):
    path = edited(
        tmp_path, lambda text: "\ufeff" + text.replace("accept", " Accept ").replace("\n", "\r\n") + "\r\n"
    )
    assert [one.decision for one in load_review(path)] == ["", "accept"]
    path = edited(tmp_path, lambda text: text.replace("accept\t", "accept\t'tis typed by hand"))
    assert load_review(path)[1].note == "'tis typed by hand"
    path.write_text(path.read_text().lstrip("\ufeff"), encoding="utf-16")
    with pytest.raises(UserError, match="not UTF-8"):
        load_review(path)
    with pytest.raises(UserError, match="cannot be read"):
        load_review(tmp_path / "absent.tsv")


def test_decisions_of_many_threads_are_all_kept(tmp_path):
    path = tmp_path / "review.tsv"
    rules = [rule(f"word{i}") for i in range(12)]
    update_review(path, rules)
    threads = [threading.Thread(target=decide, args=(path, one.id, "accept", one.left)) for one in rules]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [(one.decision, one.note) for one in load_review(path)] == [("accept", one.left) for one in rules]
    assert [entry.name for entry in tmp_path.iterdir()] == ["review.tsv"]


def test_wrong_decisions(tmp_path):
    path = tmp_path / "review.tsv"
    update_review(path, [rule()])
    with pytest.raises(UserError, match="a decision cannot be 'yes'"):
        decide(path, rule().id, "yes")
    with pytest.raises(UserError, match="there is no rule 'abc'"):
        decide(path, "abc", "accept")
    decide(path, rule().id, "accept", "note")
    assert decide(path, rule().id, "") == ReviewedRule(rule(), "", "note")


def test_the_columns_are_documented():
    from pathlib import Path

    page = (Path(__file__).parents[2] / "docs" / "rules.md").read_text()
    assert all(f"`{name}`" in page for name in COLUMNS)
