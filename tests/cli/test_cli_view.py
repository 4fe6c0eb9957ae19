"""The output of `coclick view`: text and JSON."""

import json

import pytest

from coclick import ClickGraph


@pytest.fixture
def files(tmp_path):
    queries, docs = tmp_path / "queries.tsv", tmp_path / "docs.tsv"
    queries.write_text("query\tfeature\nhotel\ttravel\nshoe\tsport\nnobody asked\tsport\n")
    docs.write_text("doc\tfeature\tvalue\nhotel-0\tbeds\t2\nshoe-0\tleather\t-1\n")
    return "--queries", queries, "--docs", docs


COUNTED = {
    "view": "tags",
    "queries": 2,
    "docs": 1,
    "query_features": 2,
    "doc_features": 1,
    "entries": 3,
    "unknown_queries": 1,
    "unknown_docs": 0,
    "query_rows": 3,
    "doc_rows": 2,
    "rejected": {"value is negative": 1},
}


def test_json(run, graph, files, tmp_path):
    done = run("view", graph, "tags", *files, "-o", tmp_path / "new", "--json")
    assert (done.code, json.loads(done.out)) == (0, COUNTED)
    described = json.loads(run("info", tmp_path / "new", "--json").out)
    assert {"view": "tags"} | described["views"]["tags"] == COUNTED


def test_summary(run, graph, files, tmp_path):
    done = run("view", graph, "tags", *files, "-o", tmp_path / "new")
    queries, docs = (len(names) for names in (ClickGraph.open(graph).queries, ClickGraph.open(graph).docs))
    assert done.out.splitlines() == [
        f"2 of {queries} queries have features in tags, 2 distinct",
        "queries not in the graph: 1",
        f"1 of {docs} documents have features in tags, 1 distinct",
        "rejected rows are in rejects_tags.parquet: value is negative 1",
    ]
    assert "tags" in run("info", tmp_path / "new").out
    assert run("verify", tmp_path / "new").code == 0


def test_mistakes(run, graph, files, tmp_path):
    one_side = run("view", graph, "tags", *files[:2], "-o", tmp_path / "new")
    assert one_side.code == 2 and "both --queries and --docs" in one_side.err
    taken = run("view", graph, "clicks", *files, "-o", tmp_path / "new")
    assert taken.code == 2 and "choose another name" in taken.err
    assert run("view", graph, "tags", *files, "-o", graph).code == 2
