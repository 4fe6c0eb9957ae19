"""A model without vectors, loaded into real engines, ranks held-out queries as in coclick."""

import json
import subprocess
import sys

import pytest

from coclick import ClickGraph, build, create, simulate
from coclick.evaluation.holdout import hold_out
from coclick.evaluation.protocol import Protocol, evaluate_model, evaluate_rankings
from coclick.exporters import export
from coclick.exporters.shipping import ask_tantivy
from coclick.exporters.shipping.answer import Recipe, answer
from coclick.exporters.shipping.form import ShippedModel
from coclick.exporters.shipping.simulation import InMemory
from exporters.postgres import psql, rows, run_psql

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


def assert_as_simulated(model, found):
    simulated = InMemory(ShippedModel.from_model(model))
    for query, hits in found.items():
        expected = simulated.rank(query, DEPTH)
        assert [score for _, score in hits] == pytest.approx([score for _, score in expected], rel=1e-3), (
            query
        )


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
    folder, docs, queries = tmp_path / "out", tmp_path / "docs", tmp_path / "queries"
    export(model, "tantivy", folder, measure=False)
    python = [sys.executable]
    subprocess.run([*python, folder / "load.py", docs], check=True)
    subprocess.run([*python, folder / "search/ask.py", "load", queries], check=True)
    samples = json.loads((folder / "search/expected.json").read_text())
    for sample in (samples[0], samples[-1]):
        command = [*python, folder / "search/ask.py", docs, queries, sample["query"]]
        shown = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        scores = [float(line.split("\t")[0]) for line in shown.splitlines()]
        assert scores == pytest.approx([row["score"] for row in sample["results"]], rel=1e-3)
    engine = ask_tantivy.open_engine(str(docs), str(queries), folder / "search")
    recipe = Recipe.read(folder / "search")
    asked = [*log.judgments.queries, *ODD]
    found = {query: answer(engine, recipe, query, DEPTH) for query in asked}
    assert_as_simulated(model, found)
    rankings = {query: [doc for doc, _ in found[query]] for query in log.judgments.queries}
    assert quality(log, rankings) == pytest.approx(in_coclick(log, model), abs=0.01)
