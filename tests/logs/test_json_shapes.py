"""JSON that is one object around the records, and JSON without records."""

import csv
import gzip
import json
import subprocess
import sys

import pandas as pd
import pytest

from coclick.errors import UserError
from coclick.logs import build, check
from coclick.logs.json_shapes import path_to_records
from logs.test_log_like import edges

RECORDS = [{"query": "hat", "doc": "A", "clicks": 2}, {"query": "cap", "doc": "B", "clicks": 1}]
EXPECTED = {("hat", "A"): 2, ("cap", "B"): 1}
WRAPPED = {
    "data": {"meta": 1, "data": RECORDS},
    "result.items": {"ok": True, "result": {"page": {"n": 2}, "items": RECORDS}, "took": 3},
    "rows": {"timestamp": "2026-03-02", "columns": ["query", "doc"], "rows": RECORDS, "next": None},
    "hits": {"hits": RECORDS, "nbHits": 2, "query": "", "params": "query="},
    "log.entries": {"log": {"version": "1.2", "tags": ["x"], "entries": RECORDS}},
}


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("indent", [None, 1])
@pytest.mark.parametrize("path", WRAPPED)
def test_the_array_in_an_object(tmp_path, path, indent):
    (tmp_path / "log.json").write_text(json.dumps(WRAPPED[path], indent=indent))
    found = check("log.json")
    assert not found.problem and found.report.assumed == [f"only {path!r} of the JSON object was read"]
    (tmp_path / "more.json.gz").write_bytes(gzip.compress(json.dumps(WRAPPED[path], indent=indent).encode()))
    graph = build(["log.json", "more.json.gz"], None, tmp_path / "graph")
    assert edges(graph) == {pair: 2 * n for pair, n in EXPECTED.items()}
    assert graph.stats["assumed"] == found.report.assumed


@pytest.mark.parametrize("one", [False, True])
def test_documents(tmp_path, one):
    docs = [{"id": "A", "title": "red hat", "sizes": [{"n": 1}]}, {"id": "B", "title": "cap"}][: 1 + one]
    (tmp_path / "docs.json").write_text(json.dumps({"count": 2, "data": {"products": docs}}, indent=2))
    (tmp_path / "log.json").write_text(json.dumps(RECORDS))
    graph = build("log.json", "docs.json", tmp_path / "graph")
    assert dict(zip(graph.docs, graph.texts["title"], strict=True))["A"] == "red hat"


def test_an_object_beyond_the_sample(tmp_path):
    """The first lines end within the array; their number says nothing of what follows."""
    rows = [record | {"n": n} for n in range(2000) for record in RECORDS]
    (tmp_path / "log.json").write_text(json.dumps({"n": 1, "rows": {"all": rows}, "z": 1}, indent=1))
    assert edges(build("log.json", None, tmp_path / "graph")) == {("hat", "A"): 4000, ("cap", "B"): 2000}
    text = json.dumps({"n": 1, "rows": {"all": rows}})
    for cut in (60, 1000, len(text) - 1):
        assert path_to_records(text[:cut], "x") == ("rows", "all"), cut


@pytest.mark.parametrize(
    "record",
    [
        {"query": "hat", "doc": "A", "shown": [{"id": "B"}]},
        {"event_name": "view", "event_timestamp": 1, "user_pseudo_id": "u", "items": [{"item_id": "A"}]},
        {"@timestamp": "2026", "search": {"query": "hat", "results": [{"id": "A"}]}},
        {"id": "A", "variants": [{"id": "A1"}, {"id": "A2"}]},
        {"_index": "x", "_source": {"query": "hat", "a": [{}], "b": [{}]}},
        {"hits": 3, "a": {"b": {"c": [{"query": "hat"}]}}},
        {"a": [1, 2], "b": []},
    ],
)
def test_records_stay_records(record):
    assert path_to_records(json.dumps(record), "x") is None


def test_records_one_a_line_stay_records(tmp_path):
    """With `columns`, records may be of any shape, if there are several."""
    rows = [{"what": {"q": "hat"}, "list": [{"n": 1}], "sku": sku} for sku in "AB"]
    (tmp_path / "log.ndjson").write_text("\n".join(map(json.dumps, rows)))
    graph = build("log.ndjson", None, tmp_path / "graph", columns={"query": "what.q", "doc": "sku"})
    assert edges(graph) == {("hat", "A"): 1, ("hat", "B"): 1}
    assert path_to_records('{"a": [{"b": 1}', "x") == ("a",)
    assert path_to_records('{"a": [{"b" 1}, {"b": 2}, {"b": 3}, {"b": 4}]}', "x") is None


def refused(what, **options):
    with pytest.raises(UserError) as error:
        build("log.json", None, "graph", **options)
    assert what in error.value.what and error.value.where == "log.json"
    assert check("log.json").problem.startswith(error.value.what)
    return error.value.hint


def test_several_arrays(tmp_path):
    both = {"n": 1, "events": RECORDS, "ubi": {"queries": RECORDS, "none": []}}
    (tmp_path / "log.json").write_text(json.dumps(both))
    hint = refused("the JSON object has several arrays of records: 'events', 'ubi.queries'")
    assert "jq '.events[]' log.json > records.json" in hint


def test_columns(tmp_path):
    columns = {name: [row[name] for row in RECORDS] for name in RECORDS[0]}
    (tmp_path / "log.json").write_text(json.dumps(columns, indent=1))
    hint = refused("the JSON is one object of columns (query, doc, clicks), not of records")
    code = hint.partition("in pandas: ")[2]
    eval(code, {"pd": pd})  # the remedy works
    assert edges(build("log.ndjson", None, tmp_path / "graph")) == EXPECTED


def test_rows_without_names(tmp_path):
    rows = [list(RECORDS[0]), *(list(row.values()) for row in RECORDS)]
    (tmp_path / "log.json").write_text(json.dumps(rows))
    hint = refused("the JSON rows are arrays of values, without names")
    command = hint.partition("python -c ")[2]
    code, _, target = command.rpartition(" > ")
    done = subprocess.run([sys.executable, "-c", code.strip('"')], capture_output=True, text=True, check=True)
    (tmp_path / target).write_text(done.stdout)
    assert next(csv.reader(done.stdout.splitlines())) == ["query", "doc", "clicks"]
    assert edges(build(target, None, tmp_path / "graph")) == EXPECTED
