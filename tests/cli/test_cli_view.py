"""`coclick view`, its text and JSON; `coclick add` with features of a user view."""

import json

import pytest

from coclick import ClickGraph, open_model


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


@pytest.fixture
def tagged(run, graph, tmp_path):
    """A model that reads tags, and a file of two new documents."""
    queries, docs = tmp_path / "queries.tsv", tmp_path / "docs.tsv"
    queries.write_text("query\tfeature\nhotel\ttravel\nshoe\tsport\nflu\thealth\n")
    docs.write_text(
        "doc\tfeature\n" + "".join(f"hotel-{i}\tbeds\nshoe-{i}\tleather\nflu-{i}\tpills\n" for i in range(6))
    )
    run("view", graph, "tags", "--queries", queries, "--docs", docs, "-o", tmp_path / "tagged")
    run("train", "pls(dim=3,views=tags)", tmp_path / "tagged", "-o", tmp_path / "model")
    new = tmp_path / "new.tsv"
    new.write_text("doc\ttitle\nn1\tAn inn\nn2\tA boot\nn3\tNothing\n")
    return tmp_path / "model", new


def test_new_documents_bring_features(run, tagged, tmp_path):
    model, new = tagged
    before = open_model(model)
    features = {"n1": {"beds": 3.0, "leather": 0.5}, "n2": {"leather": 1.0, "unknown": 4.0}}
    expected = before.add({"n1": "An inn", "n2": "A boot", "n3": "Nothing"}, {"tags": features})
    first, second = tmp_path / "first.tsv", tmp_path / "second.ndjson"
    first.write_text(
        "doc\tfeature\tvalue\nn1\tbeds\t2\nn1\tleather\t0.5\nn1\tbeds\t1\nn2\tbeds\t-1\nn9\tbeds\t1\n"
    )
    second.write_text(
        '{"doc": "n2", "feature": "leather", "value": 1}\n{"doc": "n2", "feature": "unknown", "value": 4}\n'
    )
    done = run("add", model, new, "--features", f"tags={first}", "--features", f"tags={second}")
    assert done.code == 0, done.err
    assert done.err.splitlines() == [
        f"added 3 documents to {model}",
        "1 of them have no word or feature that the model knows, so no query finds them yet",
        f"ignored: features in tags of 1 document not in {new}, such as 'n9'",
        f"rejected: value is negative ({first}, line 5)",
    ]
    larger, docs = open_model(model), ["n1", "n2", "n3"]
    for query in ("hotel", "shoe"):
        [scores] = larger.score([query], [docs])
        assert scores.tolist() == expected.score([query], [docs])[0].tolist()
        assert scores[2] == 0
    assert larger.search("hotel", 100).hits()[0][0] != "n2"
    assert "n2" in dict(larger.search("shoe", 100).hits())


def test_new_documents_without_their_features(run, tagged):
    model, new = tagged
    done = run("add", model, new)
    assert done.code == 0
    assert "3 of them have no word that the model knows" in done.err
    assert "the model also reads features: --features tags=FILE" in done.err


@pytest.mark.parametrize(
    ("option", "content", "message"),
    [
        ("{file}", "", "write --features VIEW=FILE"),
        ("colours={file}", "doc\tfeature\nn1\tred\n", "its user views are tags"),
        ("tags={file}.gone", "", "{file}.gone"),
        ("tags={file}", "", "the file is empty"),
        ("tags={file}", "doc\tweight\nn1\t2\n", "no column for 'feature': features of documents need"),
        ("tags={file}", "doc\tfeature\tvalue\nn1\tbeds\t0\n", "no valid feature in 1 row; most common"),
        ("tags={file}", "doc\tfeature\nd1\tbeds\n", "documents has a feature here; the first id is 'd1'"),
    ],
)
def test_mistakes_in_features(run, tagged, tmp_path, option, content, message):
    model, new = tagged
    file = tmp_path / "features.tsv"
    file.write_text(content)
    before = sorted(path.name for path in model.iterdir())
    done = run("add", model, new, "--features", option.format(file=file))
    assert done.code == 2 and message.format(file=file) in done.err
    assert sorted(path.name for path in model.iterdir()) == before
