"""Loading into Qdrant's local mode: twice, killed, a newer version, increments, the way back."""

import importlib
import json
import os
import re
import signal
from contextlib import redirect_stdout
from io import StringIO
from types import SimpleNamespace
from typing import Any

import pytest
from qdrant_client import QdrantClient, models

import coclick.exporters
from coclick import ClickGraph, create
from coclick.exporters.programs.qdrant_connection import main
from exporters.small_exports import NASTY_ID, NASTY_TITLE, run_py

pytestmark = pytest.mark.slow

NASTY = {NASTY_ID: NASTY_TITLE, "\\.": "\\N"}
VERSIONS = {
    "first": {"d1": "red lamp", "d2": "blue lamp", "d3": "green lamp", **NASTY},
    "second": {"d1": "red lamp", "d2": "blue sky lamp", "d4": "white lamp", **NASTY},
    "third": {"d1": "red lamp", "d3": "green lamp", "d4": "white lamp", **NASTY},
}


def write_exports(path, **options):
    """Whole exports of all versions, and increments between neighbours; idf is the same in all of them."""
    base = None
    for name, docs in VERSIONS.items():
        graph = ClickGraph.from_clicks([("lamp", "d1", 1.0), (f"{name} lamp", "d1", 1.0)], docs)
        model = create("vsm(tokenizer=words)").fit(graph)
        coclick.exporters.export(model, "qdrant", path / name, **options)
        if base:
            coclick.exporters.export(model, "qdrant", path / f"{name}-changes", changes_from=base, **options)
        base = path / name
    return path


@pytest.fixture(scope="module")
def exports(tmp_path_factory):
    """Exports to a collection of their own."""
    return write_exports(tmp_path_factory.mktemp("qdrant"), name="shop")


@pytest.fixture
def place(tmp_path):
    return tmp_path / "database"


def run(folder, place, command):
    """Run a command as `run.py` does, in this process: starting one takes a second."""
    program = "qdrant_into" if (folder / "missing-ids.txt").exists() else "qdrant_alias"
    module = importlib.import_module(f"coclick.exporters.programs.{program}")
    try:
        with redirect_stdout(StringIO()) as shown:
            main(module.COMMANDS, folder, [str(place), command])
    except SystemExit as error:
        return SimpleNamespace(returncode=1, stderr=str(error), stdout=shown.getvalue())
    return SimpleNamespace(returncode=0, stderr="", stdout=shown.getvalue())


def ok(folder, place, command):
    done = run(folder, place, command)
    assert done.returncode == 0, done.stderr
    return done.stdout


def kill(folder, place, command, method, call):
    """Run a command in a process that is killed at a call of the client."""
    child = os.fork()
    if child == 0:
        calls = iter(range(1, 100))
        real = getattr(QdrantClient, method)

        def counted(self, *arguments, **options):
            if next(calls) == call:
                os.kill(os.getpid(), signal.SIGKILL)
            return real(self, *arguments, **options)

        setattr(QdrantClient, method, counted)
        run(folder, place, command)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL


def open_database(place) -> Any:
    return QdrantClient(path=str(place))


def content(place, collection="shop"):
    """All points, with their vectors."""
    client = open_database(place)
    points, _ = client.scroll(collection, limit=1000, with_vectors=True)
    collections = {known.name for known in client.get_collections().collections}
    client.close()
    return {
        point.payload["doc"]: (point.payload["title"], str(sorted(point.vector.items()))) for point in points
    }, collections


def titles(place):
    return {doc: title for doc, (title, _) in content(place)[0].items()}


def version_of(folder):
    return json.loads((folder / "manifest.json").read_text())["version"]


def test_load_twice_replace_roll_back_remove(exports, place):
    for _ in range(2):
        ok(exports / "first", place, "load")
        assert titles(place) == VERSIONS["first"]
    assert "sample queries have the expected results" in ok(exports / "first", place, "check")
    first = content(place)[0]
    for _ in range(2):
        ok(exports / "second", place, "load")
        assert titles(place) == VERSIONS["second"]
    done = run(exports / "first", place, "check")
    assert done.returncode == 1 and "not as expected" in done.stderr
    for _ in range(2):
        ok(exports / "second", place, "rollback")
        assert content(place)[0] == first
    done = run(exports / "first", place, "rollback")
    assert done.returncode == 1 and "no version before" in done.stderr
    for name in ("second", "third"):
        ok(exports / name, place, "load")
    kept = {f"shop_{version_of(exports / name)}" for name in ("second", "third")}
    assert content(place)[1] == {*kept, "shop_state"}
    for _ in range(2):
        ok(exports / "third", place, "remove")
    client = open_database(place)
    assert not client.get_collections().collections and not client.get_aliases().aliases
    client.close()


@pytest.mark.parametrize(("method", "call"), [("create_collection", 1), ("upsert", 1), ("upsert", 2)])
def test_a_killed_load_leaves_the_version_before_and_can_run_again(exports, place, method, call):
    ok(exports / "first", place, "load")
    kill(exports / "second", place, "load", method, call)
    if method != "upsert" or call == 1:  # the last call is that of the state, after the alias
        assert titles(place) == VERSIONS["first"]
    ok(exports / "second", place, "load")
    assert titles(place) == VERSIONS["second"]
    ok(exports / "second", place, "rollback")
    assert titles(place) == VERSIONS["first"]


def test_increments_lead_to_the_same_content_as_whole_exports(exports, place, tmp_path):
    states = {}
    for name in VERSIONS:
        ok(exports / name, tmp_path / "other", "load")
        states[name] = content(tmp_path / "other")[0]
    ok(exports / "first", place, "load")
    for name, before in (("second", "first"), ("third", "second")):
        for _ in range(2):
            ok(exports / f"{name}-changes", place, "load")
            assert content(place)[0] == states[name]
        ok(exports / f"{name}-changes", place, "check")
        for _ in range(2):
            ok(exports / f"{name}-changes", place, "rollback")
            assert content(place)[0] == states[before]
        ok(exports / f"{name}-changes", place, "load")
    ok(exports / "first", place, "load")  # its collection was changed in place
    assert content(place)[0] == states["first"]
    ok(exports / "first", place, "rollback")
    assert content(place)[0] == states["third"]


@pytest.mark.parametrize(
    ("method", "call"), [("upsert", 1), ("upsert", 2), ("upsert", 3), ("delete", 1), ("upsert", 4)]
)
def test_a_killed_increment_can_run_again_or_be_rolled_back(exports, place, method, call):
    ok(exports / "first", place, "load")
    for remedy in ("load", "rollback"):
        kill(exports / "second-changes", place, "load", method, call)
        ok(exports / "second-changes", place, remedy)
        assert titles(place) == VERSIONS["second" if remedy == "load" else "first"]
        if remedy == "load":
            kill(exports / "second-changes", place, "rollback", "upsert", 1)
            ok(exports / "second-changes", place, "rollback")
            assert titles(place) == VERSIONS["first"]


def test_other_loads_wait_for_an_interrupted_increment(exports, place):
    ok(exports / "first", place, "load")
    kill(exports / "second-changes", place, "load", "delete", 1)
    done = run(exports / "third", place, "load")
    version = version_of(exports / "second")
    assert done.returncode == 1 and f"the load of version {version} was interrupted" in done.stderr


def test_an_increment_is_refused_on_another_version(exports, place):
    done = run(exports / "third-changes", place, "load")
    assert done.returncode == 1 and "but the loaded version is none" in done.stderr
    ok(exports / "first", place, "load")
    done = run(exports / "third-changes", place, "load")
    first, second = (version_of(exports / name) for name in ("first", "second"))
    assert f"changes version {second}, but the loaded version is {first}" in done.stderr
    assert done.returncode == 1 and titles(place) == VERSIONS["first"]


def test_a_collection_of_someone_else_is_not_touched(exports, place):
    client = open_database(place)
    client.create_collection("shop", vectors_config={})
    client.close()
    done = run(exports / "first", place, "load")
    assert done.returncode == 1 and "shop is a collection, not an alias" in done.stderr


def test_the_readme_has_the_commands(exports):
    for name, refused in (("first", False), ("second-changes", True)):
        text = (exports / name / "README.md").read_text()
        commands = re.findall(r"run\.py \S+ (\w+)", text)
        assert commands == ["load", "check", "rollback", "remove"]
        assert ("It is\n   refused" in text) == refused
    done = run_py(exports / "first")  # a new process, without coclick on its path
    assert done.returncode == 1 and done.stderr.startswith("usage") and "rollback" in done.stderr


# -- a collection that exists ------------------------------------------------------------------------


@pytest.fixture(scope="module")
def additions(tmp_path_factory):
    """Exports into the collection `products`."""
    return write_exports(tmp_path_factory.mktemp("into"), name="learned", into="products", id_field="sku")


@pytest.fixture
def products(place):
    """Points with a vector of their own; d2 is there twice, d5 in no export; d4 is missing."""
    client = open_database(place)
    client.create_collection(
        "products", vectors_config={"image": models.VectorParams(size=2, distance=models.Distance.DOT)}
    )
    docs = ["d1", "d2", "d2", "d3", "d5", *NASTY]
    points = [
        models.PointStruct(id=i + 1, vector={"image": [i, 1.0]}, payload={"sku": doc, "price": i})
        for i, doc in enumerate(docs)
    ]
    client.upsert("products", points)
    client.close()
    return place


def vectors(place):
    """The added vector of each point, and everything else in it."""
    client = open_database(place)
    points, _ = client.scroll("products", limit=1000, with_vectors=True)
    collections = {known.name for known in client.get_collections().collections}
    client.close()
    learned = {
        point.id: (point.payload["sku"], str(point.vector["learned_words"]))
        for point in points
        if point.vector.get("learned_words") is not None
    }
    return learned, [(p.id, p.payload, p.vector["image"]) for p in points], collections


def test_into_a_collection(additions, products):
    before = vectors(products)[1]
    for _ in range(2):
        assert "ids are not in products" not in ok(additions / "first", products, "load")
        first = vectors(products)
        assert {doc for doc, _ in first[0].values()} == VERSIONS["first"].keys() and len(first[0]) == 6
        assert first[1] == before
    assert first[0][2] == first[0][3]
    ok(additions / "first", products, "check")
    for folder in (additions / "second", additions / "second-changes"):
        for _ in range(2):
            assert "1 ids are not in products" in ok(folder, products, "load")
            second = vectors(products)
            assert {doc for doc, _ in second[0].values()} == {"d1", "d2", *NASTY}
            assert second[0][2] != first[0][2] and second[1] == before
            assert (folder / "missing-ids.txt").read_text() == '"d4"\n'
        for _ in range(2):
            ok(folder, products, "rollback")
            assert vectors(products)[0] == first[0]
    done = run(additions / "third-changes", products, "load")
    assert done.returncode == 1 and "this increment changes version" in done.stderr
    done = run(additions / "first", products, "rollback")
    assert done.returncode == 1 and "no version before" in done.stderr
    for _ in range(2):
        ok(additions / "first", products, "remove")
    client = open_database(products)
    assert {known.name for known in client.get_collections().collections} == {"products"}
    assert [
        (p.id, p.payload, p.vector["image"]) for p in client.scroll("products", with_vectors=True)[0]
    ] == before
    client.close()


@pytest.mark.parametrize(("method", "call"), [("upsert", 1), ("update_vectors", 1), ("delete_vectors", 1)])
@pytest.mark.parametrize("folder", ["second", "second-changes"])
def test_a_killed_load_into_a_collection(additions, products, method, call, folder):
    ok(additions / "first", products, "load")
    first = vectors(products)[0]
    for remedy in ("load", "rollback"):
        kill(additions / folder, products, "load", method, call)
        ok(additions / folder, products, remedy)
        if remedy == "load":
            assert {doc for doc, _ in vectors(products)[0].values()} == {"d1", "d2", *NASTY}
            ok(additions / folder, products, "rollback")
        assert vectors(products)[0] == first


def test_what_does_not_fit_is_an_error(additions, place, tmp_path):
    done = run(additions / "first", place, "load")
    assert done.returncode == 1 and "there is no collection products" in done.stderr
    client = open_database(place)
    client.create_collection(
        "products",
        vectors_config={"learned_words": models.VectorParams(size=2, distance=models.Distance.DOT)},
    )
    client.close()
    done = run(additions / "first", place, "load")
    assert "the vector learned_words of products is of 2 dimensions" in done.stderr
    client = open_database(tmp_path / "other")
    client.create_collection("products", vectors_config={})
    client.upsert("products", [models.PointStruct(id=1, vector={}, payload={"sku": 7})])
    client.close()
    done = run(additions / "first", tmp_path / "other", "load")
    assert done.returncode == 1 and "none of the 5 document ids is in products as sku" in done.stderr


def test_ids_that_are_numbers(place, tmp_path):
    graph = ClickGraph.from_clicks([("lamp", "7", 1.0)], {"7": "red lamp", "8": "blue lamp"})
    model = create("vsm(tokenizer=words)").fit(graph)
    for field in ("_id", "sku"):
        coclick.exporters.export(
            model, "qdrant", tmp_path / field, name=f"by{field}", into="products",
            id_field=None if field == "_id" else field,
        )  # fmt: skip
    client = open_database(place)
    client.create_collection("products", vectors_config={})
    client.upsert("products", [models.PointStruct(id=i, vector={}, payload={"sku": 15 - i}) for i in (7, 8)])
    client.close()
    for field in ("_id", "sku"):
        ok(tmp_path / field, place, "load")
        ok(tmp_path / field, place, "check")
