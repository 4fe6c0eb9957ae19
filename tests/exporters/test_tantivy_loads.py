"""Loading into tantivy: twice, killed, a newer version, increments, the way back."""

import json
import os
import runpy
import signal

import pytest
import tantivy

import coclick.exporters
from coclick import ClickGraph, create
from coclick.exporters.programs import folder_versions, tantivy_versions
from exporters.small_exports import NASTY_ID, NASTY_TITLE, run, run_py

pytestmark = pytest.mark.slow

NASTY = {NASTY_ID: f"{NASTY_TITLE} lamp", "\\.": "\\N lamp"}
VERSIONS = {
    "first": {"d1": "red lamp", "d2": "blue lamp", "d3": "green lamp", **NASTY},
    "second": {"d1": "red lamp", "d2": "blue sky lamp", "d4": "white lamp", **NASTY},
    "third": {"d1": "red lamp", "d3": "green lamp", "d4": "white lamp", **NASTY},
}


@pytest.fixture(scope="module")
def exports(tmp_path_factory):
    """Whole exports of all versions, and increments between neighbours; idf is the same in all of them."""
    path, base = tmp_path_factory.mktemp("tantivy"), None
    for name, docs in VERSIONS.items():
        graph = ClickGraph.from_clicks([("lamp", "d1", 1.0), (f"{name} lamp", "d1", 1.0)], docs)
        model = create("vsm(tokenizer=words)").fit(graph)
        coclick.exporters.export(model, "tantivy", path / name)
        if base:
            coclick.exporters.export(model, "tantivy", path / f"{name}-changes", changes_from=base)
        base = path / name
    return path


def load(exports, name, place, command="load"):
    run("tantivy_versions", command, place, exports / name)


def content(exports, name, place):
    """The titles of all documents, the scores of a query, and the queries that are known."""
    index = tantivy.Index.open(str(place / "current"))
    script = runpy.run_path(exports / name / "search.py")
    hits = script["search"](index, script["vector"]("lamp", place / "current"), k=100)
    queries = [json.loads(line)["query"] for line in (place / "current/queries.ndjson").open()]
    assert index.searcher().num_docs == len(hits)  # every document has the word lamp
    return {doc: (title, score) for score, doc, title in hits}, sorted(queries)


def titles(exports, name, place):
    return {doc: title for doc, (title, _) in content(exports, name, place)[0].items()}


def versions(place):
    return sorted(path.name for path in (place / "versions").iterdir())


def version_of(folder):
    return json.loads((folder / "manifest.json").read_text())["version"]


def test_load_twice_replace_roll_back_remove(exports, tmp_path):
    for _ in range(2):
        load(exports, "first", tmp_path)
        assert titles(exports, "first", tmp_path) == VERSIONS["first"]
    opened = tantivy.Index.open(str(tmp_path / "current")).searcher()
    for _ in range(2):
        load(exports, "second", tmp_path)
        assert titles(exports, "second", tmp_path) == VERSIONS["second"]
    assert opened.num_docs == 5  # of the version that was opened
    for _ in range(2):
        load(exports, "second", tmp_path, "rollback")
        assert titles(exports, "first", tmp_path) == VERSIONS["first"]
    with pytest.raises(SystemExit, match="no version before"):
        load(exports, "first", tmp_path, "rollback")
    for name in ("second", "third"):
        load(exports, name, tmp_path)
    assert versions(tmp_path) == sorted(version_of(exports / name) for name in ("second", "third"))
    for _ in range(2):
        load(exports, "third", tmp_path, "remove")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("module", "killed_in"),
    [
        (tantivy_versions, "_build_documents"),
        (tantivy_versions, "_write_queries"),
        (folder_versions, "_point_to"),
    ],
)
@pytest.mark.parametrize("name", ["second", "second-changes"])
def test_a_killed_load_leaves_the_version_before_and_can_run_again(
    exports, name, module, killed_in, tmp_path
):
    load(exports, "first", tmp_path)
    child = os.fork()
    if child == 0:
        setattr(module, killed_in, lambda *_: os.kill(os.getpid(), signal.SIGKILL))
        load(exports, name, tmp_path)
        os._exit(0)
    assert os.WTERMSIG(os.waitpid(child, 0)[1]) == signal.SIGKILL
    assert titles(exports, "first", tmp_path) == VERSIONS["first"]
    load(exports, name, tmp_path)
    assert titles(exports, name, tmp_path) == VERSIONS["second"]
    assert len(versions(tmp_path)) == 2
    load(exports, name, tmp_path, "rollback")
    assert titles(exports, "first", tmp_path) == VERSIONS["first"]


def test_increments_lead_to_the_same_content_as_whole_exports(exports, tmp_path):
    states = {}
    for name in VERSIONS:
        load(exports, name, tmp_path / "whole")
        states[name] = content(exports, name, tmp_path / "whole")
    load(exports, "first", tmp_path / "place")
    for name, before in (("second", "first"), ("third", "second")):
        for _ in range(2):
            load(exports, f"{name}-changes", tmp_path / "place")
            assert content(exports, name, tmp_path / "place") == states[name]
        load(exports, f"{name}-changes", tmp_path / "place", "rollback")
        assert content(exports, before, tmp_path / "place") == states[before]
        load(exports, f"{name}-changes", tmp_path / "place")


def test_an_increment_is_refused_on_another_version(exports, tmp_path):
    with pytest.raises(SystemExit, match="but the loaded version is none"):
        load(exports, "third-changes", tmp_path)
    load(exports, "first", tmp_path)
    first, second = (version_of(exports / name) for name in ("first", "second"))
    with pytest.raises(SystemExit, match=f"changes version {second}, but the loaded version is {first}"):
        load(exports, "third-changes", tmp_path)
    assert versions(tmp_path) == [first]


def test_as_a_program(exports, tmp_path):
    done = run_py(exports / "first", tmp_path, "load")
    assert done.returncode == 0, done.stderr
    done = run_py(exports / "first", tmp_path, "check")
    assert "2 sample queries have the expected results" in done.stdout, done.stderr
    load(exports, "second", tmp_path)
    done = run_py(exports / "first", tmp_path, "check")
    assert done.returncode == 1 and "not as expected" in done.stderr
    assert run_py(exports / "first").stderr.startswith("usage")


def test_the_unit_of_scores_stays_while_weights_have_about_the_same_range(exports, tmp_path):
    """The largest weight of a vsm vector is at most 1; a document of one word has it."""
    docs = {**VERSIONS["second"], "one": "white"}
    graph = ClickGraph.from_clicks([("lamp", "d1", 1.0)], docs)
    model = create("vsm(tokenizer=words)").fit(graph)
    alone = coclick.exporters.export(model, "tantivy", tmp_path / "alone")
    base = json.loads((exports / "second/manifest.json").read_text())
    kept = coclick.exporters.export(model, "tantivy", tmp_path / "new", changes_from=exports / "second")
    fits = alone["score_unit"] <= base["score_unit"]
    assert kept["score_unit"] == (base["score_unit"] if fits else alone["score_unit"])
    smaller = {doc: title for doc, title in docs.items() if doc != "one"}
    graph = ClickGraph.from_clicks([("lamp", "d1", 1.0)], smaller)
    model = create("vsm(tokenizer=words)").fit(graph)
    again = coclick.exporters.export(model, "tantivy", tmp_path / "again", changes_from=tmp_path / "alone")
    assert again["score_unit"] == alone["score_unit"]
