"""A model without vectors, loaded into real engines, ranks held-out queries as in coclick."""

import json
import subprocess
import sys
from typing import Any

import pytest
from qdrant_client import QdrantClient, models

from coclick import ClickGraph, build, create, simulate
from coclick.evaluation.holdout import hold_out
from coclick.evaluation.protocol import Protocol, evaluate_model, evaluate_rankings
from coclick.exporters import export
from coclick.exporters.programs import qdrant_alias
from coclick.exporters.programs.engine import EngineError
from coclick.exporters.shipping import (
    ask_bulk_api,
    ask_parquet,
    ask_qdrant,
    ask_solr,
    ask_tantivy,
    ask_vespa,
)
from coclick.exporters.shipping.answer import Recipe, answer
from coclick.exporters.shipping.form import ShippedModel
from coclick.exporters.shipping.simulation import InMemory
from exporters.http_server import serve
from exporters.postgres import psql, rows, run_psql
from exporters.small_exports import run, run_py
from exporters.solr_server import Collection, Solr
from exporters.vespa_server import Vespa

pytestmark = pytest.mark.slow

SPEC = "backoff(neighbours + vpcg(units=words,own_weight=0) + bm25)"
ODD = ['it\'s $coclick$ \\ "x"', "'; DROP TABLE x; --", "größe 文字", "", "…", "node.js c++"]
DEPTH = 10


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    """A simulated log, of which the last days are held out."""
    folder = tmp_path_factory.mktemp("log")
    simulate.sample(folder / "files", queries=300, docs=300, events=8000)
    files = folder / "files"
    build([files / "events.parquet"], docs=[files / "docs.tsv"], out=folder / "graph")
    return hold_out(ClickGraph.open(folder / "graph"))


@pytest.fixture(scope="module")
def model(log):
    return create(SPEC).fit(log.train)


def quality(log, rankings):
    return evaluate_rankings("engine", rankings, log.judgments, Protocol(depth=DEPTH)).values().mean()


def in_coclick(log, model):
    protocol = Protocol(depth=DEPTH)
    return evaluate_model(model, log.judgments, protocol, max_scored=0).values().mean()


def ask_postgres(database, name, queries):
    listed = ", ".join("('{}')".format(query.replace("'", "''")) for query in queries)
    sql = f"""SELECT q.query, s.doc, s.score
              FROM (VALUES {listed}) AS q(query), {name}_search(q.query, {DEPTH}) AS s"""
    found = {query: [] for query in queries}
    for row in rows(database, sql):
        found[row["query"]].append((row["doc"], row["score"]))
    return found


def assert_as_simulated(model, found, tolerance=1e-3):
    """The tolerance is for engines that round weights."""
    simulated = InMemory(ShippedModel.from_model(model))
    for query, hits in found.items():
        expected = simulated.rank(query, DEPTH)
        assert [score for _, score in hits] == pytest.approx(
            [score for _, score in expected], rel=tolerance
        ), query


def docs_of(found):
    return {query: [doc for doc, _ in hits] for query, hits in found.items()}


def test_postgres_ranks_as_coclick(log, model, database, tmp_path):
    export(model, "pgvector", tmp_path / "out", name="shipped", measure=False)
    psql(database, tmp_path / "out", "-f", "load.sql", "-f", "search/load.sql")
    queries = list(log.judgments.queries)
    found = ask_postgres(database, "shipped", queries)
    assert quality(log, docs_of(found)) == pytest.approx(in_coclick(log, model), abs=0.01)
    assert_as_simulated(model, found | ask_postgres(database, "shipped", ODD))
    known = [query for query in queries if log.train.clicks.row(log.train.queries.id(query))[0].size]
    assert len(known) > 20
    for query in known:
        assert docs_of(found)[query] == [doc for doc, _ in model.search(query, DEPTH).hits()]


def test_check_of_rankings_in_postgres(log, model, database, tmp_path):
    folder = tmp_path / "out"
    export(model, "pgvector", folder, name="checked", measure=False)
    psql(database, folder, "-f", "load.sql", "-f", "search/load.sql")
    samples = json.loads((folder / "search/expected.json").read_text())
    assert {sample["known"] for sample in samples} == {True, False}
    for _ in range(2):
        done = psql(database, folder, "-f", "check.sql", "-f", "search/check.sql")
        assert done.endswith(f"{len(samples)} rankings have the expected results\n")
    results = folder / "search/sample-results.tsv"
    first, *others = results.read_text().splitlines(keepends=True)
    query, doc, score = first.split("\t")
    for wrong in (f"{query}\telsewhere\t{score}", f"{query}\t{doc}\t{2 * float(score)}\n"):
        results.write_text(wrong + "".join(others))
        done = run_psql(database, folder, "-f", "search/check.sql")
        assert done.returncode == 3 and "not as expected, the first" in done.stderr
    psql(database, folder, "-f", "search/remove.sql", "-f", "remove.sql")


def test_postgres_versions(log, model, database, tmp_path):
    """Load twice, load a newer version, roll back, roll back again, remove."""
    first, second = tmp_path / "first", tmp_path / "second"
    other = create("neighbours").fit(log.train)
    export(model, "pgvector", first, name="turns", measure=False)
    export(other, "pgvector", second, name="turns", measure=False)
    queries = list(log.judgments.queries)[:20]
    load = ("-f", "load.sql", "-f", "search/load.sql")
    for _ in range(2):
        psql(database, first, *load)
    before = ask_postgres(database, "turns", queries)
    psql(database, second, *load)
    after = ask_postgres(database, "turns", queries)
    assert after != before
    psql(database, first, "-f", "search/rollback.sql")  # not the current version
    assert ask_postgres(database, "turns", queries) == after
    for _ in range(2):
        psql(database, second, "-f", "search/rollback.sql")
        assert ask_postgres(database, "turns", queries) == before
    psql(database, second, *load)
    psql(database, first, *load)
    assert ask_postgres(database, "turns", queries) == before
    schemas = "SELECT nspname FROM pg_namespace WHERE nspname LIKE 'turns\\_%'"
    assert len(rows(database, schemas)) == 2
    for _ in range(2):
        psql(database, first, "-f", "search/remove.sql", "-f", "remove.sql")
    assert rows(database, schemas) == []


def test_a_failed_load_changes_nothing(log, model, database, tmp_path):
    export(model, "pgvector", tmp_path / "out", name="broken", measure=False)
    psql(database, tmp_path / "out", "-f", "load.sql")
    lines = (tmp_path / "out/search/queries.tsv").read_text()
    (tmp_path / "out/search/queries.tsv").write_text(lines[: len(lines) // 2])
    done = run_psql(database, tmp_path / "out", "-f", "search/load.sql")
    assert done.returncode != 0
    assert rows(database, "SELECT nspname FROM pg_namespace WHERE nspname LIKE 'broken\\_%'") == []


def test_into_a_table_that_exists(log, model, database, tmp_path):
    psql(database, None, "-c", "CREATE TABLE wares (sku text PRIMARY KEY)")
    docs = json.dumps(log.train.docs.to_list()).replace("'", "''")
    psql(database, None, "-c", f"INSERT INTO wares SELECT json_array_elements_text('{docs}')")
    export(model, "pgvector", tmp_path / "out", name="added", into="wares", id_field="sku", measure=False)
    psql(database, tmp_path / "out", "-f", "load.sql", "-f", "search/load.sql")
    assert_as_simulated(model, ask_postgres(database, "added", list(log.judgments.queries)[:30]))


def test_tantivy_ranks_as_coclick(log, model, tmp_path):
    folder, indexes = tmp_path / "out", tmp_path / "indexes"
    export(model, "tantivy", folder, measure=False)
    python = [sys.executable]
    for step in ("load", "check"):
        subprocess.run([*python, folder / "run.py", indexes, step], check=True)
    samples = json.loads((folder / "search/expected.json").read_text())
    for sample in (samples[0], samples[-1]):
        command = [*python, indexes / "current/search/ask.py", sample["query"]]
        shown = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        scores = [float(line.split("\t")[0]) for line in shown.splitlines()]
        assert scores == pytest.approx([row["score"] for row in sample["results"]], rel=1e-3)
    engine = ask_tantivy.open_engine(indexes / "current/search")
    recipe = Recipe.read(folder / "search")
    asked = [*log.judgments.queries, *ODD]
    found = {query: answer(engine, recipe, query, DEPTH) for query in asked}
    assert_as_simulated(model, found, 0.02)
    rankings = {query: [doc for doc, _ in found[query]] for query in log.judgments.queries}
    assert quality(log, rankings) == pytest.approx(in_coclick(log, model), abs=0.01)


def assert_ranks_as_coclick(log, model, engine, folder):
    """Ask an engine with the program and the files of the export."""
    recipe = Recipe.read(folder / "search")
    found = {query: answer(engine, recipe, query, DEPTH) for query in [*log.judgments.queries, *ODD]}
    assert_as_simulated(model, found, 0.02)
    rankings = {query: [doc for doc, _ in found[query]] for query in log.judgments.queries}
    assert quality(log, rankings) == pytest.approx(in_coclick(log, model), abs=0.01)


def test_parquet_ranks_as_coclick(log, model, tmp_path):
    export(model, "parquet", tmp_path / "out", measure=False)
    assert_ranks_as_coclick(log, model, ask_parquet.Parquet(tmp_path / "out/search"), tmp_path / "out")


def test_qdrant_ranks_as_coclick(log, model, tmp_path):
    folder = tmp_path / "out"
    export(model, "qdrant", folder, measure=False)
    client = QdrantClient(":memory:")
    sparse = {"words": models.SparseVectorParams()}
    client.create_collection("coclick", vectors_config={}, sparse_vectors_config=sparse)
    for line in (folder / "points.ndjson").read_text().splitlines():
        points = json.loads(line)["points"]
        client.upsert("coclick", [models.PointStruct(**point) for point in points])
    engine = ask_qdrant.open_engine(client, folder / "search")
    settings = json.loads((folder / "search/settings.json").read_text())
    for _ in range(2):
        qdrant_alias.load(client, folder / "search", settings)
    assert client.count("coclick_queries").count == len(ShippedModel.from_model(model).known_rows())
    assert_ranks_as_coclick(log, model, engine, folder)
    place = str(tmp_path / "database")
    for part in (folder, folder / "search"):
        assert run_py(part, place, "load").returncode == 0
    assert_check_finds_another_content(folder, place)


class DocumentedCluster:
    """Answers requests as the references of Elasticsearch and OpenSearch say, from the files of an export."""

    def __init__(self, folder):
        self.indexes = {"coclick": self.read(folder), "coclick_queries": self.read(folder / "search")}

    @staticmethod
    def read(folder):
        lines = [
            line for part in sorted(folder.glob("documents-*")) for line in part.read_text().split("\n")[:-1]
        ]
        pairs = zip(lines[::2], lines[1::2], strict=True)
        return {json.loads(action)["index"]["_id"]: json.loads(doc) for action, doc in pairs}

    def answer(self, method, path, body):
        """Answer over HTTP."""
        try:
            return 200, self.ask(method, path, json.loads(body) if body else None)
        except EngineError as error:
            return error.status, {}

    def ask(self, method, path, body=None):
        index, _, rest = path.strip("/").partition("/")
        docs = self.indexes[index]
        if method == "GET":
            key = rest.removeprefix("_doc/")
            if key not in docs:
                raise EngineError(path, 404, "not found")
            return {"found": True, "_source": docs[key]}
        assert method == "POST" and rest == "_search"
        query, allowed = body["query"], docs.keys()
        if "bool" in query:
            allowed = {*query["bool"]["filter"][0]["ids"]["values"]}
            [query] = query["bool"]["must"]
        if "neural_sparse" in query:
            [(field, given)] = query["neural_sparse"].items()
            weights = given["query_tokens"]
        else:
            field, weights = query["sparse_vector"]["field"], query["sparse_vector"]["query_vector"]
            assert query["sparse_vector"]["prune"] is False
        assert not any("." in name for name in weights)
        scores = {
            key: sum(weight * docs[key][field].get(name, 0.0) for name, weight in weights.items())
            for key in docs.keys() & allowed
        }
        best = sorted((key for key in scores if scores[key] > 0), key=lambda key: (-scores[key], key))
        hits = [{"_id": key, "_score": scores[key], "_source": docs[key]} for key in best[: body["size"]]]
        return {"hits": {"hits": hits}}


@pytest.mark.parametrize("name", ["opensearch", "elasticsearch"])
def test_bulk_api_ranks_as_coclick(name, log, model, tmp_path):
    folder = tmp_path / "out"
    export(model, name, folder, measure=False)
    settings = json.loads((folder / "search/ask.json").read_text())
    cluster: Any = DocumentedCluster(folder)
    engine = ask_bulk_api.BulkApiEngine(cluster, settings)
    assert_ranks_as_coclick(log, model, engine, folder)
    loaded = json.loads((folder / "search/settings.json").read_text())
    assert loaded["alias"] == "coclick_queries"
    assert loaded["documents"] == len(DocumentedCluster.read(folder / "search"))
    for program in ("run.py", "ask.py"):
        command = [sys.executable, folder / "search" / program]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 1 and "URL" in done.stderr and "Traceback" not in done.stderr
    with serve(cluster) as served:
        assert_check_finds_another_content(folder, served.url)


def assert_some_as_simulated(log, model, engine, folder):
    recipe = Recipe.read(folder / "search")
    some = [*list(log.judgments.queries)[:20], *ODD]
    assert_as_simulated(model, {query: answer(engine, recipe, query, DEPTH) for query in some}, 0.02)


def ask_settings(folder):
    return json.loads((folder / "search/ask.json").read_text())


@pytest.mark.parametrize("into", [None, "Products"])
def test_solr_ranks_as_coclick(into, log, model, tmp_path):
    """The loads and the questions of the program, through a server that answers in the documented form."""
    folder = tmp_path / "out"
    names = {} if into is None else {"into": into, "id_field": "sku"}
    export(model, "solr", folder, measure=False, **names)
    wares = {f"key-{i}": {"sku": doc} for i, doc in enumerate(log.train.docs)}
    solr = Solr(Products=Collection(wares, {"sku": "string"}))
    with serve(solr) as engine:
        run("solr_alias" if into is None else "solr_into", "load", engine, folder)
        for _ in range(2):
            run("solr_alias", "load", engine, folder / "search")
        loaded = solr.collections[solr.aliases["coclick_queries"]]
        assert len(loaded.docs) == len(ShippedModel.from_model(model).known_rows())
        asked = ask_solr.Solr(engine, ask_settings(folder))
        if into is None:
            assert_ranks_as_coclick(log, model, asked, folder)
        assert_some_as_simulated(log, model, asked, folder)
        assert_a_sample_is_answered(folder, engine)
        assert_check_finds_another_content(folder, engine.url)


@pytest.mark.parametrize("id_field", [None, "documentid", "sku"])
def test_vespa_ranks_as_coclick(id_field, log, model, tmp_path):
    folder = tmp_path / "out"
    names = {} if id_field is None else {"into": "shop.products", "id_field": id_field}
    export(model, "vespa", folder, measure=False, **names)
    own = dict.fromkeys(("doc", "title", "words", "version"))
    queries = dict.fromkeys(("doc", "stored", "units", "version"))
    added = ("coclick_words", "coclick_version", "coclick_previous_words", "coclick_previous_version")
    types = {"coclick": own, "coclick_queries": queries, "products": dict.fromkeys(("sku", *added))}
    wares = {f"id:shop:products::{doc}": {"sku": doc} for doc in log.train.docs}
    vespa = Vespa(types, wares)
    vespa.page = 1000
    with serve(vespa) as engine:
        run("vespa_versions" if id_field is None else "vespa_into", "load", engine, folder)
        for _ in range(2):
            run("vespa_versions", "load", engine, folder / "search")
        asked = ask_vespa.Vespa(engine, ask_settings(folder))
        if id_field is None:
            assert_ranks_as_coclick(log, model, asked, folder)
        assert_some_as_simulated(log, model, asked, folder)
        assert_a_sample_is_answered(folder, engine)
        assert_check_finds_another_content(folder, engine.url)
        if id_field is not None:
            with pytest.raises(SystemExit, match="which content cluster"):
                run("vespa_versions", "remove", engine, folder / "search")
            return
        run("vespa_versions", "remove", engine, folder / "search")
        assert not any(name.startswith("id:coclick_queries:") for name in vespa.docs)
    packaged = folder / "application"
    assert '<document type="coclick_queries"' in (packaged / "services.xml").read_text()
    schema = (packaged / "schemas/coclick_queries.sd").read_text()
    assert "field units type weightedset<string>" in schema and schema.count("{") == schema.count("}")


def assert_check_finds_another_content(folder, *address):
    """`check` of the rankings passes, and fails if a result is expected that the engine does not have."""
    done = run_py(folder / "search", *address, "check")
    expected = json.loads((folder / "search/expected.json").read_text())
    assert done.stdout.endswith(f"{len(expected)} rankings are as expected\n"), done.stderr
    known, other = expected[0]["results"], expected[-1]["results"]
    for results in (known, other):
        doc = results[0]["doc"]
        results[0]["doc"] = "elsewhere"
        (folder / "search/expected.json").write_text(json.dumps(expected))
        done = run_py(folder / "search", *address, "check")
        assert done.returncode == 1 and "is not found" in done.stderr and "Traceback" not in done.stderr
        results[0]["doc"] = doc


def assert_a_sample_is_answered(folder, engine):
    """By the program, as a user runs it, for a query of the log and for another one."""
    samples = json.loads((folder / "search/expected.json").read_text())
    for sample in (samples[0], samples[-1]):
        done = run_py(folder / "search", engine.url, sample["query"], program="ask.py")
        scores = [float(line.split("\t")[0]) for line in done.stdout.splitlines()]
        assert scores == pytest.approx([row["score"] for row in sample["results"]], rel=1e-3), done.stderr
