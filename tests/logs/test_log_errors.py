"""Errors that stop a build name the file and what to do, and leave the output unchanged."""

import gzip
import os

import duckdb
import pytest

from coclick.errors import CoclickError, UserError
from coclick.logs import build
from coclick.logs.duckdb_session import DuckDBSession, parse_memory

LOG = "query\tdoc\tclicks\nshoe\tD1\t3\nhat\tD2\t1\n"


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "log.tsv"
    path.write_text(LOG)
    return path


def refused(tmp_path, sources, docs=None, **options):
    before = {path.name for path in tmp_path.iterdir()}
    with pytest.raises(UserError) as caught:
        build(sources, docs, tmp_path / "graph", **options)
    assert {path.name for path in tmp_path.iterdir()} == before
    assert caught.value.exit_code == 2
    return str(caught.value)


def test_missing_files(tmp_path, log):
    assert "file not found" in refused(tmp_path, [tmp_path / "none.tsv"])
    assert "no file matches the pattern" in refused(tmp_path, [str(tmp_path / "none*.tsv")])
    assert "is a directory" in refused(tmp_path, [tmp_path])
    assert "file not found" in refused(tmp_path, [log], tmp_path / "docs.tsv")
    assert "no log file was given" in refused(tmp_path, [])
    os.mkfifo(tmp_path / "pipe.tsv")
    assert "this is not a regular file" in refused(tmp_path, [tmp_path / "pipe.tsv"])
    assert "this is not a regular file" in refused(tmp_path, [log], tmp_path / "pipe.tsv")
    wrong = tmp_path / os.fsdecode(b"caf\xe9.tsv")
    wrong.write_text(LOG)
    assert "the file name is not valid UTF-8" in refused(tmp_path, [wrong])


def test_empty_logs(tmp_path):
    for name, content in {
        "a.tsv": "",
        "b.tsv": "query\tdoc\tclicks\n",
        "c.ndjson": "",
        "d.csv": "\n\n",
    }.items():
        path = tmp_path / name
        path.write_text(content)
        message = refused(tmp_path, [path])
        assert "empty" in message or "no column" in message, name


def test_a_missing_column_lists_the_columns_of_the_file(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("what,doc,clicks\nshoe,D1,3\n")
    message = refused(tmp_path, [path])
    assert "no column for 'query'" in message
    assert "'what', 'doc', 'clicks'" in message
    assert "needs query, doc, clicks and may have impressions, users" in message
    path.write_text("query,doc\nshoe,D1\n")
    assert "no column for 'clicks'" in refused(tmp_path, [path], like="clicks")


def test_damaged_gzip(tmp_path):
    data = "".join(f"query {i * 7919 % 100_003}\tD{i % 977}\t1\n" for i in range(20_000))
    whole = gzip.compress(("query\tdoc\tclicks\n" + data).encode())
    path = tmp_path / "log.tsv.gz"
    cases = {
        "cut": whole[: len(whole) // 2],
        "wrong checksum": whole[:-8] + b"\0\0\0\0" + whole[-4:],
        "changed": whole[:5000] + bytes(100) + whole[5100:],
        "not gzip": LOG.encode(),
    }
    for name, content in cases.items():
        path.write_bytes(content)
        message = refused(tmp_path, [path])
        assert "gzip" in message.lower() and str(path) in message, name
    path.write_bytes(whole)
    (tmp_path / "docs.tsv.gz").write_bytes(cases["cut"])
    assert "docs.tsv.gz" in refused(tmp_path, [path], tmp_path / "docs.tsv.gz")


def test_damaged_parquet(tmp_path):
    path = tmp_path / "log.parquet"
    duckdb.execute(f"""COPY (SELECT 'query ' || hash(i) AS query, 'D' || i AS doc, 1 AS clicks
        FROM range(50000) t(i)) TO '{path}' (FORMAT parquet)""")
    whole = path.read_bytes()
    for content in (b"", b"PAR1", whole[:-20], whole[: len(whole) // 2], b"query\tdoc\n", LOG.encode()):
        path.write_bytes(content)
        message = refused(tmp_path, [path])
        assert "Parquet" in message and str(path) in message
    path.write_bytes(whole[:1000] + b"\xff" * 2000 + whole[3000:])
    assert str(path) in refused(tmp_path, [path])


def test_padded_gzip(tmp_path):
    path = tmp_path / "log.tsv.gz"
    path.write_bytes(gzip.compress(LOG.encode()) + bytes(100))
    message = refused(tmp_path, [path])
    assert "gzip file is damaged" in message and str(path) in message


@pytest.mark.parametrize("value", ["['D1', 'D2']", "{'id': 'D1'}", "map {'id': 'D1'}"])
def test_nested_parquet_columns(tmp_path, log, value):
    path = tmp_path / "nested.parquet"
    duckdb.execute(f"COPY (SELECT 'hat' AS query, {value} AS doc, 1 AS clicks) TO '{path}' (FORMAT parquet)")
    for message in (refused(tmp_path, [path]), refused(tmp_path, [log], path)):
        assert "the column 'doc' (doc) has the nested type" in message and str(path) in message


def test_documents_of_another_log(tmp_path, log):
    docs = tmp_path / "docs.tsv"
    docs.write_text("doc\ttitle\n1\tShoe\n2\tHat\n3\tCap\n4\tTie\n")
    message = refused(tmp_path, [log], docs)
    assert "no document id in common" in message
    assert "the log has 'D1', 'D2'; the documents have '1', '2', '3'" in message


def test_an_output_that_exists(tmp_path, log):
    old = build([log], None, tmp_path / "graph")
    assert "the output exists" in refused(tmp_path, [log])
    with pytest.raises(UserError):
        build([tmp_path / "none.tsv"], None, tmp_path / "graph", force=True)
    assert build([log], None, tmp_path / "graph", force=True).digest == old.digest
    other = tmp_path / "other"
    other.mkdir()
    (other / "precious.txt").write_text("keep me")
    with pytest.raises(UserError, match="holds other files"):
        build([log], None, other, force=True)
    assert (other / "precious.txt").read_text() == "keep me"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"like": "xml"}, "the log format 'xml' is unknown"),
        ({"like": "ubi"}, "the format 'ubi' reads it from 'user_query'"),
        ({"memory": "lots"}, "--memory 'lots' is not a size"),
        ({"memory": "10MB"}, "--memory 10MB is too small"),
        ({"min_clicks": float("nan")}, "--min-clicks must be"),
        ({"min_users": 0}, "--min-users 1 or more"),
        ({"min_users": 2}, "--min-users needs a log with a column for the user"),
        ({"actions": {"click": 1}}, "--actions needs a log of events"),
        ({"actions": {f"zoom{n}": 1 for n in range(101)}}, "--actions names 101 actions"),
        ({"actions": {"click": -1}}, "must be a positive number"),
        ({"actions": {"click": 1e308}}, "must be from 1e-06 to 1e+06, not 1e+308"),
        ({"actions": {"click": 1e-300}}, "must be from 1e-06 to 1e+06, not 1e-300"),
        ({"threads": 1_000_000}, "threads must be a whole number from 1 to 1,024"),
        ({"actions": {"impression": 1}}, "cannot count as a click"),
    ],
)
def test_invalid_options(tmp_path, log, options, message):
    assert message in refused(tmp_path, [log], **options)


def test_actions_that_are_not_in_the_log(tmp_path):
    path = tmp_path / "log.tsv"
    path.write_text("query\tdoc\taction\nshoe\tD1\tclick\nshoe\tD1\tzoom\n")
    assert "the log has no action 'zooom'" in refused(tmp_path, [path], actions={"zooom": 1})
    assert build([path], None, tmp_path / "graph", actions={"Zoom": 2}).clicks.data.tolist() == [2]
    path.write_text(
        "query\tdoc\taction\nshoe\tD1\tclick\nshoe\t\tzoom\n"
    )  # the action occurs, but only in an invalid row
    wrong = refused(tmp_path, [path], actions={"zoom": 1}, force=True)
    assert "1 was rejected, most often because doc is missing" in wrong
    path.write_text("query\tdoc\taction\nshoe\tD1\timpression\nshoe\tD1\tzoom\n")
    message = None
    with pytest.raises(UserError) as caught:
        build([path], None, tmp_path / "graph2")
    message = str(caught.value)
    assert "the log has no valid click in 2 rows" in message and "zoom" in message


def test_other_duckdb_errors_become_coclick_errors(tmp_path):
    with (
        pytest.raises(CoclickError, match=r"DuckDB failed: .*out of range") as caught,
        DuckDBSession(tmp_path / "db", parse_memory("1GB"), 1) as db,
    ):
        db.execute("SELECT (2147483647 + i)::INTEGER FROM range(1, 2) t(i)")
    assert caught.value.exit_code == 1 and not list(tmp_path.iterdir())


def test_little_memory_is_enough_for_a_small_log(tmp_path, log):
    assert build([log], None, tmp_path / "graph", memory="400MB").clicks.nnz == 2
    assert build([log], None, tmp_path / "graph2", memory="9999999999TB").clicks.nnz == 2


@pytest.mark.parametrize("begin", [b"\x01\x02\x03\x04", b"\x00", b"\n\x01", b"\r\x01", b"\x1e\x1f"])
def test_no_byte_in_a_line_makes_it_vanish(tmp_path, begin):
    """DuckDB reads lines as CSV of one column: whatever it takes for a delimiter is lost."""
    path = tmp_path / "log.tsv"
    path.write_bytes(
        b"query\tdoc\tclicks\n%(b)s hat\tD1\t1\nred %(b)s hat\tD2\t1\nhat\tD3\t1%(b)s\ncap\tD4\t1\n"
        % {b"b": begin}
    )
    expected = [line for line in path.read_bytes().replace(b"\r", b"\n").split(b"\n")[1:] if line]
    graph = build([path], None, tmp_path / "graph", max_rejected=1)
    assert graph.stats["rows"] == len(expected)
    assert graph.stats["right"] + sum(graph.stats["rejected"].values()) == len(expected)


def test_a_path_through_a_missing_directory(tmp_path, log):
    with pytest.raises(UserError) as caught:
        build([log], None, tmp_path / "missing" / ".." / "graph")
    assert "there is no such directory" in str(caught.value) and str(tmp_path / "missing") in str(
        caught.value
    )
    assert [path.name for path in tmp_path.iterdir()] == ["log.tsv"]
    (tmp_path / "there").mkdir()
    assert len(build([log], None, tmp_path / "there" / ".." / "graph").queries) == 2
