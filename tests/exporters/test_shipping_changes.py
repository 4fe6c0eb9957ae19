"""Models without vectors, as increments: loaded twice, a newer version, the way back, in every engine."""

import json
from contextlib import redirect_stdout
from io import StringIO
from typing import Any

import pytest
from qdrant_client import QdrantClient

from coclick import ClickGraph, create
from coclick.exporters import export
from coclick.exporters.programs import qdrant_alias
from coclick.exporters.programs.qdrant_connection import main as run_qdrant
from coclick.exporters.shipping import ask_parquet, ask_qdrant, ask_tantivy
from coclick.exporters.shipping.answer import Recipe, answer
from coclick.exporters.shipping.form import ShippedModel
from coclick.exporters.shipping.simulation import InMemory
from exporters.bulk_api_server import Cluster
from exporters.http_server import serve
from exporters.postgres import psql, rows, run_psql
from exporters.small_exports import run, settings_of

pytestmark = pytest.mark.slow

COLOURS = ["red", "blue", "green", "white", "black", "pink", "grey", "brown"]
DOCS = {f"{what} {colour}": f"{colour} {what}" for what in ("lamp", "chair") for colour in COLOURS}
ASKED = ["red lamp", "blue chair", "lamp red", "brown chairs", "bright lamps", "sofa", "sky"]


def model_of(docs, boost=()):
    """Each document has clicks for its title; queries of `boost` have others, for one document more."""
    clicks = [(title, doc, 3.0) for doc, title in docs.items()]
    return create("neighbours").fit(ClickGraph.from_clicks([*clicks, *boost], docs))


BEFORE = model_of(DOCS)
CHANGED = {doc: title for doc, title in DOCS.items() if doc != "chair pink"}
CHANGED |= {"lamp red": "red sky lamp", "lamp gold": "gold lamp"}
AFTER = model_of(CHANGED, [("red lamp", "lamp gold", 9.0)])


def simulated(model):
    engine = InMemory(ShippedModel.from_model(model))
    return {query: engine.rank(query) for query in ASKED}


@pytest.fixture(scope="module")
def expected():
    return {"before": simulated(BEFORE), "after": simulated(AFTER)}


def assert_same(found, expected):
    assert expected["red lamp"] and expected["bright lamps"]
    for query, hits in expected.items():
        assert dict(found[query]) == pytest.approx(dict(hits), rel=0.02), query


def write(path, engine, **options):
    """Export the first version, and the changes to the second; return the folders and what changed."""
    before, changes = path / "before", path / "changes"
    export(BEFORE, engine, before, measure=False, **options)
    stats = export(AFTER, engine, changes, changes_from=before, measure=False, **options)
    counts = stats["changes"]["documents"]
    assert counts["added"] == 1 and counts["deleted"] == 1 and counts["changed"] >= 1
    assert stats["form"] == "rankings and signals" and stats["base_version"]
    return before, changes


FOLDERS: dict[str, Any] = {"tantivy": ask_tantivy.open_engine, "parquet": ask_parquet.Parquet}


@pytest.mark.parametrize("engine", FOLDERS)
def test_folders_of_versions(engine, expected, tmp_path):
    before, changes = write(tmp_path, engine)
    place, program = tmp_path / "place", f"{engine}_versions"

    def state():
        search = place / "current/search"
        opened, recipe = FOLDERS[engine](search), Recipe.read(search)
        return {query: answer(opened, recipe, query) for query in ASKED}

    with pytest.raises(SystemExit, match="the loaded version is none"):
        run(program, "load", place, changes)
    for folder, name in ((before, "before"), (changes, "after")):
        for _ in range(2):
            run(program, "load", place, folder)
            assert_same(state(), expected[name])
    for _ in range(2):
        run(program, "rollback", place, changes)
        assert_same(state(), expected["before"])
    run(program, "load", place, changes)
    assert_same(state(), expected["after"])
    assert "only the changes since" in (changes / "README.md").read_text()


@pytest.mark.parametrize("engine", FOLDERS)
def test_rankings_alone_can_change(engine, tmp_path):
    """The documents are the same, so the version is; the rankings are not."""
    before, changes, place = tmp_path / "before", tmp_path / "changes", tmp_path / "place"
    export(BEFORE, engine, before, measure=False)
    other = model_of(DOCS, [("red lamp", "chair blue", 99.0)])
    stats = export(other, engine, changes, changes_from=before, measure=False)
    assert stats["version"] == stats["base_version"]
    run(f"{engine}_versions", "load", place, before)
    run(f"{engine}_versions", "load", place, changes)
    search = place / "current/search"
    assert answer(FOLDERS[engine](search), Recipe.read(search), "red lamp")[0][0] == "chair blue"
    run(f"{engine}_versions", "rollback", place, changes)
    assert answer(FOLDERS[engine](search), Recipe.read(search), "red lamp")[0][0] == "lamp red"


def test_postgres(expected, database, tmp_path):
    before, changes = write(tmp_path, "pgvector", name="steps")
    load, back = (
        ("-f", "load.sql", "-f", "search/load.sql"),
        ("-f", "search/rollback.sql", "-f", "rollback.sql"),
    )

    def state():
        found = {}
        for query in ASKED:
            hits = rows(database, f"SELECT * FROM steps_search('{query}', 10)")
            found[query] = [(row["doc"], row["score"]) for row in hits]
        return found

    assert run_psql(database, changes, "-f", "load.sql").returncode != 0
    for folder, name in ((before, "before"), (changes, "after")):
        for _ in range(2):
            psql(database, folder, *load)
            assert_same(state(), expected[name])
    for _ in range(2):
        psql(database, changes, *back)
        assert_same(state(), expected["before"])
    psql(database, changes, *load)
    assert_same(state(), expected["after"])
    psql(database, changes, "-f", "search/remove.sql", "-f", "remove.sql")


def test_qdrant(expected, tmp_path):
    before, changes = write(tmp_path, "qdrant", name="steps")
    place = str(tmp_path / "database")

    def step(folder, command):
        with redirect_stdout(StringIO()):
            run_qdrant(qdrant_alias.COMMANDS, folder, [place, command])

    def state(folder):
        """Ask with the program of a folder."""
        client = QdrantClient(path=place)
        engine, recipe = ask_qdrant.open_engine(client, folder / "search"), Recipe.read(folder / "search")
        found = {query: answer(engine, recipe, query) for query in ASKED}
        client.close()
        return found

    with pytest.raises(SystemExit):
        step(changes, "load")
    for folder, name in ((before, "before"), (changes, "after")):
        for _ in range(2):
            step(folder, "load")
            step(folder / "search", "load")
            assert_same(state(folder), expected[name])
    for _ in range(2):
        step(changes, "rollback")
        step(changes / "search", "rollback")
        assert_same(state(before), expected["before"])


@pytest.mark.parametrize("engine", ["opensearch", "elasticsearch"])
def test_bulk_api(engine, tmp_path):
    """The server of the tests has the same documents after an increment as after a whole load."""
    before, changes = write(tmp_path, engine)
    export(AFTER, engine, tmp_path / "whole", measure=False)

    def docs(cluster, alias):
        [index] = cluster.aliases[alias]
        return cluster.indexes[index].docs

    whole, cluster = Cluster(), Cluster()
    with serve(whole) as server:
        for folder in (tmp_path / "whole", tmp_path / "whole/search"):
            run("bulk_api_alias", "load", server, folder)
    with serve(cluster) as server:
        for folder in (before, before / "search"):
            run("bulk_api_alias", "load", server, folder)
        first = [json.dumps(docs(cluster, name)) for name in ("coclick", "coclick_queries")]
        for _ in range(2):
            for folder in (changes, changes / "search"):
                run("bulk_api_alias", "load", server, folder)
            for name in ("coclick", "coclick_queries"):
                assert docs(cluster, name) == docs(whole, name)
        for folder in (changes, changes / "search"):
            run("bulk_api_alias", "rollback", server, folder)
        assert first == [json.dumps(docs(cluster, name)) for name in ("coclick", "coclick_queries")]
    assert settings_of(changes)["base"]
