"""Vectors added to an index that exists, through a server that answers in the documented form."""

import copy
import json

import pytest

from coclick.exporters.programs.engine import Engine
from exporters.bulk_api_server import Cluster, Index
from exporters.http_server import serve
from exporters.small_exports import NASTY_ID, NASTY_TITLE, run_py, settings_of
from exporters.small_exports import export as export_docs
from exporters.small_exports import run as run_program

ENGINES = ["opensearch", "elasticsearch"]


def export(path, engine, docs, **options):
    return export_docs(path, engine, docs, **{"name": "learned", "into": "products"} | options)


def run(command, engine, folder):
    run_program("bulk_api_into", command, engine, folder)


def words_of(folder):
    """The words of each document in the files of an export."""
    found = {}
    for part in sorted(folder.glob("updates-*.ndjson")):
        lines = part.read_text().split("\n")[:-1]
        for action, update in zip(lines[::2], lines[1::2], strict=True):
            found[json.loads(action)["update"]["_id"]] = json.loads(update)["script"]["params"]["words"]
    return found


def held(index):
    return {key: doc["learned_words"] for key, doc in index.docs.items() if "learned_words" in doc}


@pytest.mark.parametrize("kind", ENGINES)
def test_load_twice_replace_roll_back_remove(kind, tmp_path, capsys):
    old_docs = {"a": "red", "b": "blue", NASTY_ID: NASTY_TITLE, "lost": "green"}
    old = export(tmp_path / "old", kind, old_docs, hybrid="title")
    new = export(tmp_path / "new", kind, {"b": "blue sky", "c": "white"}, hybrid="title")
    index = Index({key: {"price": 7} for key in ("a", "b", "c", "d", NASTY_ID)})
    cluster = Cluster(products=index)
    with serve(cluster) as engine:
        for times in range(2):
            run("load", engine, old)
            shown = capsys.readouterr().out
            assert ("3 unchanged" if times else "3 updated") in shown
            assert "ids that products does not have: 1" in shown
            assert (old / "missing-ids.txt").read_text() == '"lost"\n'
            expected = words_of(old)
            assert expected.pop("lost") and held(index) == expected
            run("check", engine, old)
        before = copy.deepcopy(index.docs)
        for _ in range(2):
            run("load", engine, new)
            assert held(index) == words_of(new)  # words of the earlier version are not merged
            run("check", engine, new)
        with pytest.raises(SystemExit, match="not as expected"):
            run("check", engine, old)
        for _ in range(2):
            run("rollback", engine, new)
            for key, doc in before.items():
                doc.pop("learned_previous", None)  # of the version before the one before
                assert index.docs[key] == doc
        run("check", engine, old)
        for _ in range(2):
            run("remove", engine, old)
            assert all(doc == {"price": 7} for doc in index.docs.values())
        assert not cluster.scripts and not cluster.pipelines


@pytest.mark.parametrize("kind", ENGINES)
def test_interrupted_loads(kind, tmp_path):
    """The connection breaks after some documents; a second run, or going back, leads to a whole version."""
    old = export(tmp_path / "old", kind, dict.fromkeys("abcd", "red"))
    new = export(tmp_path / "new", kind, dict.fromkeys("cdef", "blue"))
    index = Index({key: {} for key in "abcdef"})
    cluster = Cluster(products=index)
    with serve(cluster) as engine:
        run("load", engine, old)
        cluster.fail_after = 2
        with pytest.raises(SystemExit, match="cannot ask"):
            run("load", engine, new)
        assert {key: value for key, value in held(index).items() if key in "cd"} == {
            key: value for key, value in words_of(new).items() if key in "cd"
        }
        run("rollback", engine, new)
        assert held(index) == words_of(old)
        with pytest.raises(SystemExit, match="cannot ask"):
            run("load", engine, new)
        cluster.fail_after = None
        run("load", engine, new)
        assert held(index) == words_of(new)
        run("rollback", engine, new)
        assert held(index) == words_of(old)


@pytest.mark.parametrize("kind", ENGINES)
def test_ids_in_a_field_of_several_indexes(kind, tmp_path):
    folder = export(tmp_path / "out", kind, {"s1": "red", "s2": "blue", "s3": "x"}, id_field="sku")
    mapping = {"properties": {"sku": {"type": "keyword"}}}
    first = Index({"1": {"sku": "s1"}, "2": {"sku": "s2"}}, mapping)
    second = Index({"3": {"sku": "s2"}, "4": {"sku": "other"}}, mapping)
    cluster = Cluster(products_1=first, products_2=second)
    cluster.aliases["products"] = {"products_1", "products_2"}
    with serve(cluster) as engine:
        run("load", engine, folder)
        run("check", engine, folder)
    words = words_of(folder)
    assert held(first) == {"1": words["s1"], "2": words["s2"]}
    assert held(second) == {"3": words["s2"]}
    assert (folder / "missing-ids.txt").read_text() == '"s3"\n'


def test_ids_in_a_field_of_numbers(tmp_path):
    """The engine refuses a search for an id that is not a number, so it is never asked for one."""
    folder = export(tmp_path / "out", "opensearch", {"17": "red", "x": "blue"}, id_field="sku.number")
    nested = {"sku": {"type": "keyword", "fields": {"number": {"type": "long"}}}}
    index = Index({"1": {"sku.number": 17}}, {"properties": nested})
    with serve(Cluster(products=index)) as engine:
        run("load", engine, folder)
    assert held(index) == {"1": words_of(folder)["17"]}
    assert (folder / "missing-ids.txt").read_text() == '"x"\n'


def test_busy_and_broken_documents(tmp_path):
    folder = export(tmp_path / "out", "opensearch", dict.fromkeys("abcdef", "red"))
    index = Index({key: {} for key in "abcdef"})
    cluster = Cluster(products=index)
    with serve(cluster) as engine:
        cluster.busy, cluster.broken = 8, ("c", "e", "f")
        with pytest.raises(
            SystemExit,
            match=r"refused 3 documents, the first: 'c': failed to parse \(\[words\] must.*run load",
        ):
            run("load", engine, folder)
        assert list(held(index)) == list("abd")
        cluster.broken = ()
        run("load", engine, folder)
        assert list(held(index)) == list("abcdef")
        cluster.busy = 1000
        new = export(tmp_path / "new", "opensearch", dict.fromkeys("abcdef", "blue"))
        with pytest.raises(
            SystemExit, match="refused 6 documents, the first: 'a': the engine stays busy: 429"
        ):
            run("load", engine, new)


def test_errors_are_sentences(tmp_path):
    folder = export(tmp_path / "out", "opensearch", {"a": "red"})
    index = Index({"z": {}})
    with serve(Cluster(products=index)) as engine:
        with pytest.raises(SystemExit, match="none of the 1 ids is in products as _id"):
            run("load", engine, folder)
        assert index.docs == {"z": {}}
        index.properties["learned_version"] = {"type": "text"}
        with pytest.raises(SystemExit, match="learned_version of products has the type text, and the export"):
            run("load", engine, folder)
        in_text = export(tmp_path / "text", "opensearch", {"a": "red"}, name="other", id_field="sku")
        with pytest.raises(
            SystemExit, match="cannot be looked up in sku of products: there is no such field"
        ):
            run("load", engine, in_text)
        index.properties["sku"] = {"type": "text"}
        with pytest.raises(SystemExit, match=r"it is of type text; export with --id and a field of type key"):
            run("load", engine, in_text)
    no_index = pytest.raises(SystemExit, match=r"404: no such index \[products\]")
    with serve(Cluster(shop=index)) as engine, no_index:
        run("load", engine, folder)
    with pytest.raises(SystemExit, match=r"cannot ask http://127\.0\.0\.1:1"):
        run("load", Engine("http://127.0.0.1:1"), folder)


def test_run_py_is_complete(tmp_path):
    folder = export(tmp_path / "out", "opensearch", {"a": "red"}, hybrid="title^3,body")
    cluster = Cluster(products=Index({"a": {}}))
    with serve(cluster) as engine:
        for arguments, status in (([], 1), ([engine.url, "load"], 0), ([engine.url, "check"], 0)):
            done = run_py(folder, *arguments)
            assert done.returncode == status and "Traceback" not in done.stderr, done.stderr
    assert cluster.pipelines.keys() == {"learned_hybrid"}
    assert cluster.scripts.keys() == {"learned_update", "learned_search"}
    export(folder, "opensearch", {"a": "red"}, force=True)  # run.py left no files that --force refuses


@pytest.mark.parametrize("kind", ENGINES)
def test_hybrid_queries_have_fields_filters_and_boosts(kind, tmp_path):
    folder = export(tmp_path / "out", kind, {"a": "red"}, hybrid="title^3, body")
    body = json.loads((folder / "hybrid.json").read_text())
    assert '"multi_match": {"query": "lamp", "fields": ["title^3", "body"]}' in json.dumps(body)
    assert '"learned_words"' in json.dumps(body["query"])
    template = json.loads((folder / "template.json").read_text())["script"]["source"]
    in_stock, new = {"term": {"in_stock": True}}, {"term": {"new": True}}
    filled = (
        template.replace("{{#toJson}}words{{/toJson}}", '{"lamp": 1}')
        .replace("{{#toJson}}filter{{/toJson}}", json.dumps([in_stock]))
        .replace("{{#toJson}}boosts{{/toJson}}", json.dumps([new]))
        .replace("{{query}}", "q")
        .replace("{{size}}{{^size}}10{{/size}}", "7")
        .replace("{{from}}{{^from}}0{{/from}}", "0")
    )
    assert "{{" not in filled
    text = {"multi_match": {"query": "q", "fields": ["title^3", "body"]}}
    query = json.loads(filled)["query"]
    if kind == "elasticsearch":
        words = {"field": "learned_words", "query_vector": {"lamp": 1}, "prune": False, "boost": 1.0}
        either = {"bool": {"should": [text, {"sparse_vector": words}], "minimum_should_match": 1}}
        assert query == {"bool": {"must": [either], "filter": [in_stock], "should": [new]}}
    else:
        words = {"neural_sparse": {"learned_words": {"query_tokens": {"lamp": 1}}}}
        assert query["hybrid"]["queries"] == [
            {"bool": {"must": [text], "filter": [in_stock], "should": [new]}},
            {"bool": {"must": [words], "filter": [in_stock]}},
        ]
    readme = (folder / "README.md").read_text()
    assert "not run against a real server" in readme and "tuned" in readme
    assert settings_of(folder)["version"] == json.loads((folder / "manifest.json").read_text())["version"]
