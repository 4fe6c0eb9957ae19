"""Queries and judgments from files, in valid and invalid formats."""

import gzip

import pytest

from coclick.errors import UserError
from coclick.evaluation.judgments import read_judgments, read_qrels, read_queries


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
def test_errors_name_the_line(write, text, message):
    with pytest.raises(UserError) as error:
        read_qrels(write("r", text))
    assert message in str(error.value)


def test_invalid_queries(write, tmp_path):
    with pytest.raises(UserError, match="has no tab"):
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


def test_judgments_by_text(write):
    found = read_judgments(
        None, write("r.tsv", "query\tdoc\tgrade\nNew York\td1\tPerfect\nNew York\td2\tbad\n")
    )
    assert found.queries == {"New York": "New York"}
    assert found.grades == {"New York": {"d1": 4, "d2": 0}}


def test_quepid(write):
    """Columns are found by name, in any order; a document without rating is not judged."""
    basic = write("a.csv", 'query,docid,rating\n"shoes, red",d1,3\n"shoes, red",d2,\nhat,d1,0\n')
    assert read_judgments(None, basic).grades == {"shoes, red": {"d1": 3}, "hat": {"d1": 0}}
    long = write(
        "b.csv", "Team Name,Case Name,Query Text,Doc ID,Doc Position,Title,Rating\nT,C,hat,d9,1,A hat,2\n"
    )
    assert read_judgments(None, long).grades == {"hat": {"d9": 2}}
    with pytest.raises(UserError, match="line 1"):
        read_judgments(None, write("c.csv", "a,b,c\n1,2,3\n"))
    with pytest.raises(UserError, match="line 2"):
        read_judgments(None, write("d.csv", "query,docid,rating\nhat,d1\n"))


def test_opensearch_search_relevance_workbench(write):
    ratings = (
        '[{"query": "hat", "ratings": [{"docId": "d1", "rating": "3.000"}, {"docId": "d2", "rating": 0}]}]'
    )
    alone = write("a.json", f'{{"name": "n", "type": "IMPORT_JUDGMENT", "judgmentRatings": {ratings}}}')
    assert read_judgments(None, alone).grades == {"hat": {"d1": 3, "d2": 0}}
    hits = write("b.json", f'{{"hits": {{"hits": [{{"_source": {{"judgmentRatings": {ratings}}}}}]}}}}')
    assert read_judgments(None, hits).grades == {"hat": {"d1": 3, "d2": 0}}
    with pytest.raises(UserError, match="not JSON"):
        read_judgments(None, write("c.json", "{broken"))
    with pytest.raises(UserError, match="docId"):
        read_judgments(
            None, write("d.json", '{"judgmentRatings": [{"query": "a", "ratings": [{"docId": "b"}]}]}')
        )


def test_fractions_are_scaled(write):
    """0.9 · 4 = 3.6 → 4, 0.25 · 4 = 1, 0.1 · 4 = 0.4 → 0; without a fraction, 0 and 1 are unchanged."""
    found = read_qrels(write("r", "q\ta\t0.9\nq\tb\t0.25\nq\tc\t0.1\nq\td\t1\n"))
    assert found == {"q": {"a": 4, "b": 1, "c": 0, "d": 4}}
    assert read_qrels(write("s", "q\ta\t1\nq\tb\t0\n")) == {"q": {"a": 1, "b": 0}}


@pytest.mark.parametrize("grade", ["-1", "1001", "nan", "inf"])
def test_grades_out_of_range(write, grade):
    with pytest.raises(UserError, match="out of range"):
        read_qrels(write("r", f"q1\td1\t3\nq1\td2\t{grade}\n"))
