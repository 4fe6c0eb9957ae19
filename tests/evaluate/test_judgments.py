"""Queries and judgments from files, in every form that is allowed and in some that are not."""

import gzip

import pytest

from coclick.errors import UserError
from coclick.evaluate.judgments import read_judgments, read_qrels, read_queries


@pytest.fixture
def write(tmp_path):
    def write(name, text, opener=open):
        with opener(tmp_path / name, "wt", encoding="utf-8") as stream:
            stream.write(text)
        return tmp_path / name

    return write


@pytest.mark.parametrize("head", ["", "id\ttext\n", "qid\tquery\n"])
def test_queries_with_and_without_a_header(write, head):
    path = write("q.tsv", f"{head}q1\tnew york\nq2\tpizza\ttrain\n\n")
    assert read_queries(path) == {"q1": "new york", "q2": "pizza"}


def test_gzip_and_byte_order_marks(write):
    assert read_queries(write("q.tsv.gz", "q1\tnew york\n", gzip.open)) == {"q1": "new york"}
    assert read_queries(write("q.tsv", "\ufeffq1\tnew york\r\n")) == {"q1": "new york"}


@pytest.mark.parametrize(
    "text",
    [
        "q1\td1\t3\nq1\td2\t0\nq2\td1\t1\n",
        "id\tdoc\tgrade\nq1\td1\t3\nq1\td2\t0\nq2\td1\t1\n",
        "q1 0 d1 3\nq1 0 d2 0\nq2 0 d1 1\n",
        "q1\t0\td1\t3\nq1\t0\td2\t0\nq2\t0\td1\t1\n",
        "q1\td1\t3.0\ttest\nq1\td2\t0.0\ttest\nq2\td1\t1.0\ttest\n",
    ],
)
def test_qrels_in_three_and_four_columns(write, text):
    assert read_qrels(write("r", text)) == {"q1": {"d1": 3, "d2": 0}, "q2": {"d1": 1}}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("q1\td1\n", "three columns"),
        ("q1\td1\t3\nq2\td1\tgut\n", "line 2"),
        ("q1\td1\t3\nq1\td1\t2\n", "two grades"),
        ("", "no judgments"),
    ],
)
def test_bad_judgments_name_their_line(write, text, message):
    with pytest.raises(UserError) as error:
        read_qrels(write("r", text))
    assert message in str(error.value)


def test_bad_queries(write, tmp_path):
    with pytest.raises(UserError, match="without a tab"):
        read_queries(write("q", "just text\n"))
    with pytest.raises(UserError, match="two texts"):
        read_queries(write("q", "q1\ta\nq1\tb\n"))
    with pytest.raises(UserError, match="no such file"):
        read_queries(tmp_path / "missing")
    (tmp_path / "latin").write_bytes(b"q1\tcaf\xe9\n")
    with pytest.raises(UserError, match="UTF-8"):
        read_queries(tmp_path / "latin")
    (tmp_path / "broken.gz").write_bytes(b"not gzip at all")
    with pytest.raises(UserError, match="cannot be read"):
        read_queries(tmp_path / "broken.gz")


def test_judgments_of_unknown_queries(write):
    queries = write("q", "q1\ta\nq2\tb\n")
    found = read_judgments(queries, write("r", "q1\td\t1\nq9\td\t1\n"))
    assert found.queries == {"q1": "a"}
    assert found.grades == {"q1": {"d": 1}}
    with pytest.raises(UserError, match="none of the 1 judged queries"):
        read_judgments(queries, write("s", "q9\td\t1\n"))
