"""Grades by hand: the file, how other commands read it, and several writers at once."""

import subprocess
import sys

import pytest

import planted
from coclick import evaluate
from coclick.errors import UserError
from coclick.evaluation.judgments import read_judgments
from coclick.evaluation.rated_judgments import RatedJudgments


def test_grades_are_a_file_that_evaluate_reads(tmp_path):
    path = tmp_path / "rated.tsv"
    ratings = RatedJudgments(path)
    assert ratings.grades() == {} and not path.exists()
    ratings.rate("  NY  Hotel", "hotel-1", 3)
    ratings.rate("flu", "flu-1", 0)
    ratings.rate("ny hotel", "hotel-2", 4)
    ratings.rate("flu", "flu-2", 2)
    ratings.rate("ny hotel", "hotel-1", 1)
    expected = "query\tdoc\tgrade\nny hotel\thotel-1\t1\nny hotel\thotel-2\t4\nflu\tflu-1\t0\nflu\tflu-2\t2\n"
    assert path.read_text() == expected
    read = read_judgments(None, path)
    assert read.grades == {"ny hotel": {"hotel-1": 1, "hotel-2": 4}, "flu": {"flu-1": 0, "flu-2": 2}}
    assert RatedJudgments(path).of_query("NY hotel") == {"hotel-1": 1, "hotel-2": 4}
    board = evaluate(planted.graph(), ["clicks"], qrels=path)
    assert board.results[0].by_query.keys() == {"ny hotel", "flu"}


def test_a_grade_is_removed_and_the_file_is_reread(tmp_path):
    path = tmp_path / "rated.tsv"
    ratings = RatedJudgments(path)
    ratings.rate("flu", "flu-1", 2)
    ratings.rate("flu", "flu-1", None)
    ratings.rate("flu", "never rated", None)
    assert ratings.of_query("flu") == {}
    path.unlink()
    path.write_text("flu\tflu-9\t3\n")
    assert ratings.of_query("flu") == {"flu-9": 3}, "without a header, too"


@pytest.mark.parametrize(
    ("query", "doc", "grade", "said"),
    [
        (" ", "a", 1, "empty query"),
        ("q", "a\tb", 1, "does not fit a line"),
        ("q", "a\nb\t4", 1, "does not fit a line"),
        ("q", "", 1, "does not fit a line"),
        ("q", "a\udcff", 1, "does not fit a line"),
        ("q", "a", 5, "from 0 to 4"),
        ("q", "a", -1, "from 0 to 4"),
    ],
)
def test_what_cannot_be_written(tmp_path, query, doc, grade, said):
    ratings = RatedJudgments(tmp_path / "rated.tsv")
    with pytest.raises(UserError, match=said):
        ratings.rate(query, doc, grade)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("doc", ['"quoted"', "=1+1", "{json", "<b>", "a,b", "'", " spaced "])
def test_unusual_ids_are_read_back(tmp_path, doc):
    path = tmp_path / "rated.tsv"
    RatedJudgments(path).rate('{"q": "a, b"}', doc, 4)
    (grades,) = read_judgments(None, path).grades.values()
    assert grades == {doc: 4}


@pytest.mark.parametrize(
    "content", ["1 0 doc 3\n", "q\t0\tdoc\t3\n", "q\tdoc\tgood\n", "query,docid,rating\nq,doc,3\n"]
)
def test_judgments_of_another_form_are_not_replaced(tmp_path, content):
    path = tmp_path / "qrels.txt"
    path.write_text(content)
    with pytest.raises(UserError, match="query<TAB>doc<TAB>grade"):
        RatedJudgments(path)
    assert path.read_text() == content


def test_no_place_for_the_file(tmp_path):
    with pytest.raises(UserError, match="no such directory"):
        RatedJudgments(tmp_path / "nowhere" / "rated.tsv")
    with pytest.raises(UserError, match="this is a directory"):
        RatedJudgments(tmp_path)


def test_several_processes_lose_no_grade(tmp_path):
    program = """
import sys
from pathlib import Path
from coclick.evaluation.rated_judgments import RatedJudgments
ratings = RatedJudgments(Path(sys.argv[1]))
for i in range(20):
    ratings.rate("flu", f"{sys.argv[2]}-{i}", i % 5)
"""
    path = tmp_path / "rated.tsv"
    command = [sys.executable, "-c", program, str(path)]
    writers = [subprocess.Popen([*command, name]) for name in ("a", "b")]
    assert [writer.wait(60) for writer in writers] == [0, 0]
    expected = {f"{name}-{i}": i % 5 for name in ("a", "b") for i in range(20)}
    assert RatedJudgments(path).of_query("flu") == expected
    assert [file.name for file in tmp_path.iterdir()] == ["rated.tsv"]
