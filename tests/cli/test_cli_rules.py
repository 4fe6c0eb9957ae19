"""`coclick rules`: what is printed and written, the way of a review, and wrong arguments."""

import json

import pytest

from rules import shop


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    path = tmp_path_factory.mktemp("rules") / "graph"
    shop.graph().save(path)
    return path


def test_a_review_decides_what_is_written(run, log, tmp_path):
    out, review = tmp_path / "synonyms.txt", tmp_path / "review.tsv"
    command = ("rules", log, "--to", "opensearch-synonyms", "-o", out, "--review", review, "--no-replay")
    done = run(*command)
    assert done.code == 0, done.err
    assert "cod" in done.out and "call of duty" in done.out and "42" in done.out
    assert "0 accepted, 0 rejected" in done.out and "wrote 0 rules" in done.out
    rows = [line.split("\t") for line in review.read_text().splitlines()]
    decision = rows[0].index("decision")
    for row in rows:
        if row[1] == "synonym":
            row[decision] = "accept" if row[2] == "cod" else "reject"
    review.write_text("".join("\t".join(row) + "\n" for row in rows))
    before = review.read_text()
    done = run(*command, "--force")
    assert done.code == 0 and "1 accepted, 4 rejected" in done.out
    assert out.read_text().splitlines()[1:] == ["cod => cod, call of duty"]
    assert review.read_text() == before  # nothing is asked again


def test_json_has_the_rules_with_their_evidence(run, log, tmp_path):
    done = run("rules", log, "--to", "es-query-rules", "-o", tmp_path / "rules.json", "--json", "--no-replay")
    answer = json.loads(done.out)
    assert answer["found"]["pin"] > 0 and answer["files"] == [str(tmp_path / "rules.json")]
    cod = next(rule for rule in answer["rules"] if rule["left"] == "cod")
    assert cod["right"] == "call of duty" and cod["clicks"] == 42 and cod["effect"] is None


def test_wrong_arguments_are_told_before_the_work(run, log, tmp_path):
    out = tmp_path / "out.txt"
    done = run("rules", log, "--to", "word", "-o", out)
    assert done.code == 2 and "unknown format 'word'" in done.err
    out.write_text("mine")
    done = run("rules", log, "--to", "querqy", "-o", out)
    assert done.code == 2 and "the output exists" in done.err and out.read_text() == "mine"
    review = tmp_path / "review.tsv"
    review.write_text("a\tb\n")
    done = run("rules", log, "--to", "querqy", "-o", tmp_path / "new", "--review", review)
    assert done.code == 2 and "not a review file" in done.err and "line 1" in done.err
    assert review.read_text() == "a\tb\n" and not (tmp_path / "new").exists()
    run("train", "bm25", log, "-o", tmp_path / "model")
    run("export", tmp_path / "model", "--to", "parquet", "-o", tmp_path / "export")
    done = run("rules", tmp_path / "export", "--to", "querqy", "-o", tmp_path / "new")
    assert done.code == 2 and "this is an export, neither a graph nor a model" in done.err
    done = run("rules", tmp_path / "absent", "--to", "querqy", "-o", tmp_path / "new")
    assert done.code != 0 and "Traceback" not in done.err
