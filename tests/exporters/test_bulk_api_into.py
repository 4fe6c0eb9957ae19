"""Vectors added to an index that exists, through a server that answers in the documented form."""

import json
import subprocess
import sys

import pytest

import coclick.exporters
from coclick import ClickGraph, create
from coclick.exporters import update_index
from exporters.bulk_api_server import Index, serve

NASTY = 'x"\'}\n{"delete":{}}<b>\u2028=1+1'
ENGINES = ["opensearch", "elasticsearch"]


def export(path, engine, docs, **options):
    """Export a model in which documents have the words of their titles."""
    titles = {doc: f"{title} lamp" for doc, title in docs.items()}
    graph = ClickGraph.from_clicks([("lamp", next(iter(docs)), 1.0)], titles)
    model = create("bm25(tokenizer=words)").fit(graph)
    options = {"name": "learned", "into": "products"} | options
    coclick.exporters.export(model, engine, path, **options)
    return path


@pytest.fixture
def serve_index():
    servers = []

    def start(index):
        servers.append(serve(index))
        return update_index.Engine(f"http://127.0.0.1:{servers[-1].server_port}", "products", pause=0.01)

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


def run(command, engine, folder):
    settings = json.loads((folder / "settings.json").read_text())
    update_index.COMMANDS[command](engine, folder, settings)


def words_of(folder):
    """The words of each document in the files of an export."""
    found = {}
    for part in sorted(folder.glob("updates-*.ndjson")):
        lines = part.read_text().split("\n")[:-1]
        for action, update in zip(lines[::2], lines[1::2], strict=True):
            found[json.loads(action)["update"]["_id"]] = json.loads(update)["script"]["params"]["words"]
    return found


@pytest.mark.parametrize("kind", ENGINES)
def test_load_twice_replace_roll_back_remove(kind, serve_index, tmp_path, capsys):
    old = export(tmp_path / "old", kind, {"a": "red", "b": "blue", NASTY: "odd", "lost": "green"})
    new = export(tmp_path / "new", kind, {"b": "blue sky", "c": "white"})
    index = Index({key: {"price": 7} for key in ("a", "b", "c", "d", NASTY)})
    engine = serve_index(index)
    for times in range(2):
        run("load", engine, old)
        shown = capsys.readouterr().out
        assert ("3 unchanged" if times else "3 updated") in shown
        assert "ids that products does not have: 1" in shown
        assert (old / "missing-ids.txt").read_text() == '"lost"\n'
        held = {key: doc["learned_words"] for key, doc in index.docs.items() if "learned_words" in doc}
        expected = words_of(old)
        assert expected.pop("lost") and held == expected
    run("check", engine, old)
    before = json.dumps(index.docs)
    for _ in range(2):
        run("load", engine, new)
        held = {key: doc["learned_words"] for key, doc in index.docs.items() if "learned_words" in doc}
        assert held == words_of(new)  # words of the earlier version are not merged
    for _ in range(2):
        run("rollback", engine, new)
        for key, doc in json.loads(before).items():
            doc.pop("learned_previous", None)  # of the version before the one before
            assert index.docs[key] == doc
    for _ in range(2):
        run("remove", engine, old)
        assert all(doc == {"price": 7} for doc in index.docs.values())


@pytest.mark.parametrize("kind", ENGINES)
def test_ids_in_a_field(kind, serve_index, tmp_path):
    folder = export(tmp_path / "out", kind, {"s1": "red", "s2": "blue", "s3": "x"}, id_field="sku")
    index = Index({"1": {"sku": "s1"}, "2": {"sku": "s2"}, "3": {"sku": "s2"}, "4": {"sku": "other"}})
    engine = serve_index(index)
    run("load", engine, folder)
    run("check", engine, folder)
    words = words_of(folder)
    held = {key: doc.get("learned_words") for key, doc in index.docs.items()}
    assert held == {"1": words["s1"], "2": words["s2"], "3": words["s2"], "4": None}
    assert (folder / "missing-ids.txt").read_text() == '"s3"\n'


def test_busy_and_broken_documents(serve_index, tmp_path):
    folder = export(tmp_path / "out", "opensearch", dict.fromkeys("abcdef", "red"))
    index = Index({key: {} for key in "abcdef"})
    engine = serve_index(index)
    index.busy, index.broken = 8, ("c",)
    with pytest.raises(
        SystemExit, match=r"refused 1 documents, the first: 'c': failed to parse.*run load again"
    ):
        run("load", engine, folder)
    assert [key for key, doc in index.docs.items() if doc] == list("abdef")
    index.broken = ()
    run("load", engine, folder)
    assert all("learned_words" in doc for doc in index.docs.values())


def test_errors_are_sentences(serve_index, tmp_path):
    folder = export(tmp_path / "out", "opensearch", {"a": "red"})
    index = Index({"z": {}})
    engine = serve_index(index)
    with pytest.raises(SystemExit, match="none of the 1 ids is in products as _id"):
        run("load", engine, folder)
    assert index.docs == {"z": {}}
    index.properties["learned_words"] = {"type": "text"}
    with pytest.raises(SystemExit, match="learned_words of products has the type text, and the export needs"):
        run("load", engine, folder)
    with pytest.raises(SystemExit, match=r"404: no such index \[shop\]"):
        run("load", update_index.Engine(engine.url, "shop"), folder)
    with pytest.raises(SystemExit, match=r"cannot ask http://127\.0\.0\.1:1"):
        run("load", update_index.Engine("http://127.0.0.1:1", "products"), folder)


def test_run_py_is_complete(serve_index, tmp_path):
    folder = export(tmp_path / "out", "opensearch", {"a": "red"}, hybrid="title^3,body")
    index = Index({"a": {}})
    url = serve_index(index).url
    for arguments, status in (([], 1), ([url, "load"], 0), ([url, "check"], 0)):
        done = subprocess.run([sys.executable, "-I", folder / "run.py", *arguments], capture_output=True)
        assert done.returncode == status and b"Traceback" not in done.stderr
    assert index.pipelines.keys() == {"learned_hybrid"}
    assert index.scripts.keys() == {"learned_update", "learned_update_search"}
    export(folder, "opensearch", {"a": "red"}, force=True)  # run.py left no files that --force refuses


@pytest.mark.parametrize("kind", ENGINES)
def test_hybrid_queries_have_the_fields_as_given(kind, tmp_path):
    folder = export(tmp_path / "out", kind, {"a": "red"}, hybrid="title^3, body")
    body = json.loads((folder / "hybrid.json").read_text())
    text = json.dumps(body)
    assert '"multi_match": {"query": "lamp", "fields": ["title^3", "body"]}' in text
    assert '"learned_words"' in json.dumps(body["query"])
    template = json.loads((folder / "template.json").read_text())["script"]["source"]
    filled = json.loads(
        template.replace("{{#toJson}}words{{/toJson}}", '{"lamp": 1}').replace("{{query}}", "q")
    )
    assert json.dumps(filled).count('{"lamp": 1}') == 1
    readme = (folder / "README.md").read_text()
    assert "not run against a real server" in readme and "tuned" in readme
    assert (
        "not run against"
        not in (export(tmp_path / "own", kind, {"a": "red"}, into=None) / "README.md").read_text()
    )
