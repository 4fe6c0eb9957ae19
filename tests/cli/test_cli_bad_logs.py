"""Logs that cannot be built, as a new user meets them: a sentence with place and remedy, exit code 2, the old
graph as it was. Logs with some bad rows are built, and `rejects` shows these rows.
"""

import json
import os
import signal
from pathlib import Path
from typing import Any

import duckdb
import pytest

HEAD = "query\tdoc\tclicks\n"
UBI: dict[str, Any] = {
    "action_name": "click",
    "query_id": "q1",
    "client_id": "c",
    "timestamp": "2024-03-01T10:00:00Z",
}
UBI["event_attributes"] = {"object": {"object_id": "A"}}
TABLE = "such,sku,klicks\nshoe,D1,3\n"
TOML = '[fields]\nquery = "such"\ndoc = "sku"\n'
GIVEN = "query=such,doc=sku,clicks=klicks"
# file → content; then options, what is wrong, where, and what to do.
REFUSED: dict[str, tuple[dict[str, Any], list[str], str, str, str]] = {
    "a column that is not there": (
        {"log.csv": TABLE}, ["--columns", GIVEN.replace("such", "sucht")],
        "the column 'sucht' in --columns is not in the file", "log.csv", "the nearest are 'such'",
    ),
    "columns with unknown names": (
        {"log.csv": TABLE}, [], "no column for 'query'", "whose columns are 'such', 'sku', 'klicks'",
        "coclick check guesses it",
    ),
    "two columns for one field by name": (
        {"log.csv": TABLE}, ["--columns", "query=such,doc=sku,doc=klicks"],
        "'doc' is named twice", "--columns", "write query=term,doc=sku",
    ),
    "two columns for one field in the header": (
        {"log.csv": "query,doc,Doc\nshoe,D1,D2\n"}, [],
        "two columns are called 'doc', which is the field 'doc'", "log.csv", "--columns query,doc,_",
    ),
    "a wrong key": (
        {"my.toml": "recognize = []\n" + TOML, "log.csv": TABLE}, ["--like", "my.toml"],
        "the key 'recognize' is unknown", "my.toml, line 1", "did you mean 'recognise'?",
    ),
    "no TOML": (
        {"my.toml": "title = 'x\n", "log.csv": TABLE}, ["--like", "my.toml"],
        "the format is not valid TOML", "my.toml", "texts are in quotes",
    ),
    "no file of the format": (
        {"log.csv": TABLE}, ["--like", "my.toml"],
        "the format cannot be read: No such file", "my.toml", "ubi",
    ),
    "half a record alone": (
        {"log.ndjson": '{"query":"shoe","do'}, [], "no column for 'query'", "log.ndjson",
        "none of its first lines is a whole JSON record",
    ),
    "mixed encodings": (
        {"log.tsv": HEAD.encode() + "grün\tD1\t1\n".encode() * 3 + "grün\tD1\t1\n".encode("latin-1") * 9}, [],
        "75% of the rows were rejected (9 of 12)", "log.tsv, line 5", "add --encoding latin-1",
    ),
    "NUL bytes": ({"log.tsv": bytes(1000)}, [], "no column for 'query'", "log.tsv", "NUL bytes"),
    "a first line without end": (
        {"log.tsv": "y" * 2_000_000}, [], "the first line has more than 1,000,000 characters and no columns",
        "log.tsv, line 1", "export the log as text",
    ),
    "events without queries": (
        {"log.ndjson": json.dumps(UBI) + "\n"}, [], "because query is missing (1)", "log.ndjson, line 1",
        "if only searches have the query, give their file too",
    ),
    "a column without queries": (
        {"log.csv": "query,doc,action\n,D1,click\n"}, [], "because query is missing (1)", "log.csv, line 2",
        "--columns query=NAME",
    ),
}  # fmt: skip


@pytest.fixture
def old_graph(run, tmp_path, monkeypatch):
    """A graph that must stay as it is, in the current directory."""
    monkeypatch.chdir(tmp_path)
    write({"old.tsv": HEAD + "shoe\tD1\t3\n"})
    assert run("build", "old.tsv", "-o", "graph").code == 0
    return tmp_path / "graph"


def write(files):
    for name, content in files.items():
        Path(name).write_bytes(content if isinstance(content, bytes) else content.encode())


def content(graph):
    return {file.name: file.read_bytes() for file in graph.iterdir()}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(run, old_graph, case):
    files, options, what, where, hint = REFUSED[case]
    write(files)
    before, log = content(old_graph), list(files)[-1]
    built = run("build", log, *options, "-o", "graph", "--force")
    assert (built.code, built.out) == (2, "")
    error, *lines = built.err.splitlines()
    assert error.startswith("error: ") and what in error
    assert where in " ".join(lines) and lines[-1].startswith("  try: ") and hint in lines[-1]
    assert len(built.err) < 2000 and "Traceback" not in built.err
    assert content(old_graph) == before
    assert not list(old_graph.parent.glob(".graph*"))
    if case == "columns with unknown names":  # these are guessed
        return
    checked = run("check", log, *options)
    said = " ".join((checked.out + checked.err).split())
    assert checked.code == 2 and what in said and "Traceback" not in said and len(said) < 3000


def test_databases(run, old_graph):
    with duckdb.connect("log.duckdb") as database:
        database.execute("CREATE TABLE log AS SELECT 'shoe' AS query, 'D1' AS doc")
    before = content(old_graph)
    wrong_columns = "SELECT query AS what, doc FROM log"
    for address, sql, what, where in (
        ("postgresql://me:secret@127.0.0.1:9/log", "SELECT 1", "the database cannot be reached", "127.0.0.1"),
        ("log.duckdb", wrong_columns, "no column for 'query'", "the result of --sql, whose columns are"),
        ("log.duckdb", "SELECT none FROM log", "the database refused the query of --sql", "log.duckdb"),
    ):  # fmt: skip
        answer = run("build", "--database", address, "--sql", sql, "-o", "graph", "--force")
        assert (answer.code, answer.out) == (2, "") and answer.err.startswith("error: ")
        assert what in answer.err and where in answer.err and "try:" in answer.err
        assert "Traceback" not in answer.err and "secret" not in answer.err
        assert content(old_graph) == before


@pytest.mark.parametrize(
    ("name", "text", "line", "reason"),
    [
        ("log.ndjson", '{"query":"a","doc":"D1"}\n{"query":"b","doc":"D2"}\n{"query":"h', 3,
         "not valid JSON"),
        ("log.json", '[{"query":"a","doc":"D1"},\n{"query":"b","doc":"D2"},\n{"query":"h', 3,
         "the record is cut off at the end of the file"),
        ("log.tsv", HEAD + "a\tD1\t3\nb\tD2\t1\nred ha", 4, "wrong number of columns"),
        ("log.tsv", HEAD + "a\tD1\t3\n\0\0\nb\tD2\t1\n", 3, "wrong number of columns"),
    ],
)  # fmt: skip
def test_half_a_record_and_nul_bytes_are_rejected(run, old_graph, name, text, line, reason):
    write({name: text})
    built = run("build", name, "-o", "graph", "--force")
    assert built.code == 0 and f"lost     1 row: {reason}" in built.out
    assert "warning: 33% of the rows were rejected" in " ".join(built.out.split())
    (row,) = json.loads(run("rejects", "graph", "--json").out)
    assert (row["file"], row["line"], row["reason"]) == (name, line, reason)
    assert f"coclick build {name}" in run("check", name).out


def test_clicks_without_impressions(run, old_graph):
    write({"log.csv": "query,doc,action,user,timestamp\nshoe,D1,click,u,2024-01-01T10:00\n"})
    for answer in (run("check", "log.csv"), run("build", "log.csv", "-o", "graph", "--force")):
        assert answer.code == 0 and "no impressions: no click rates, no skip pairs" in answer.out


@pytest.mark.slow
def test_ctrl_c(start, old_graph):
    before = content(old_graph)
    os.mkfifo("pipe")
    with Path("pipe").open("rb+", buffering=0) as pipe:
        process = start("build", "-", "-o", "graph", "--force", stdin=pipe)
        pipe.write(HEAD.encode() + b"shoe\tD1\t3\n" * 100)
        while not list(old_graph.parent.glob(".graph.building/*")):
            assert process.poll() is None
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 130 and b"Traceback" not in err
    assert content(old_graph) == before and not list(old_graph.parent.glob(".graph*"))


def test_info_lists_bots_in_a_table(run, old_graph):
    rows = [f"shoe,A,click,farm,2024-01-01T10:00:{n // 2:02}.{n % 2 * 5}" for n in range(80)]
    write({"log.csv": "\n".join(["query,doc,action,user,timestamp", *rows]) + "\n"})
    assert run("build", "log.csv", "-o", "graph", "--force").code == 0
    lines = run("info", "graph").out.splitlines()
    (at,) = (i for i, line in enumerate(lines) if line.startswith("bots"))
    assert lines[at].split("  ")[1] == "policy flag, users 1, events 80, clicks 80, edges 1"
    assert lines[at + 1].split() == ["user", "rule", "value", "threshold", "events"]
    assert lines[at + 2].split() == ["farm", "clicks_per_minute", "80", "60", "80"]
