"""Exports loaded into real engines with the commands of their READMEs rank as coclick."""

import json
import runpy
import subprocess
import sys
from types import SimpleNamespace
from typing import Any

import duckdb
import pytest
import tantivy
from qdrant_client import QdrantClient, models

import coclick.exporters
from coclick import ClickGraph, create
from coclick.exporters.pgvector import PgVector
from exporters.postgres import psql
from exporters.same_ranking import assert_same_ranking
from exporters.small_exports import run

pytestmark = pytest.mark.slow

EXACT = 1e-6


def exported(model, engine, tmp_path, **options):
    folder = tmp_path / engine
    stats = coclick.exporters.export(model, engine, folder, **options)
    return folder, stats


def lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.mark.parametrize("kind", ["words", "dense"])
def test_pgvector(kind, request, database, tmp_path, queries):
    model = request.getfixturevalue(kind)
    folder, stats = exported(model, "pgvector", tmp_path, name=kind)
    psql(database, folder, "-f", "load.sql")
    held = json.loads(psql(database, folder, "-c", f"SELECT json_agg(doc) FROM {kind}"))
    assert len(held) == stats["documents"]
    expected = json.loads((folder / "expected.json").read_text())["results"]
    sample = psql(database, folder, "--csv", "-f", "sample.sql")
    assert [row.split(",")[0] for row in sample.splitlines()] == [row["doc"] for row in expected]
    rows = psql(
        database,
        folder,
        "-c",
        f"""
        SELECT json_agg(json_build_array(query, doc, score) ORDER BY query, score DESC) FROM {kind}_queries q,
        LATERAL (SELECT doc, -(d.vector <#> q.vector) AS score FROM {kind} d WHERE d.vector <#> q.vector < 0
                 ORDER BY d.vector <#> q.vector, doc LIMIT 10)""",
    )
    for query in queries:
        found = [(doc, score) for asked, doc, score in json.loads(rows) if asked == query]
        assert_same_ranking(model, query, found, EXACT, held)
    psql(database, folder, "-f", "index.sql")


def test_pgvector_stores_documents_too_long_for_its_index(database, tmp_path):
    long = {"a": " ".join(f"word{i}" for i in range(1200)), "b": "word7 word8"}
    model = create("bm25(tokenizer=words)").fit(ClickGraph.from_clicks([("word7", "a", 1.0)], long))
    for name, limit, indexed in (("whole", None, False), ("cut", 1000, True)):
        folder = tmp_path / name
        coclick.exporters.export(model, "pgvector", folder, name=name, max_weights=limit)
        for file in ("load.sql", "index.sql"):
            psql(database, folder, "-f", file)
        indexes = psql(database, folder, "-c", f"SELECT indexdef FROM pg_indexes WHERE tablename = '{name}'")
        assert ("hnsw" in indexes) == indexed
        assert indexed or "one has 1,200" in (folder / "index.sql").read_text()


@pytest.mark.parametrize(("dim", "index"), [(2000, "vector_ip_ops"), (4000, "halfvec_ip_ops"), (4001, "--")])
def test_pgvector_index_by_number_of_dimensions(dim, index, database, tmp_path):
    source: Any = SimpleNamespace(dense=True, dim=dim, tokens=[], model="wide", form="dense vectors")
    PgVector(source, f"wide_{dim}").write_schema(tmp_path)
    for file in ("schema.sql", "index.sql", "index.sql"):
        psql(database, tmp_path, "-f", file)
    assert index in (tmp_path / "index.sql").read_text()


@pytest.mark.parametrize("kind", ["words", "dense"])
def test_qdrant(kind, request, tmp_path, queries):
    model = request.getfixturevalue(kind)
    folder, stats = exported(model, "qdrant", tmp_path)
    client = QdrantClient(":memory:")
    for command in ("load", "check"):
        run("qdrant_alias", command, client, folder)
    assert client.count("coclick").count == stats["documents"]
    vectors = {row["query"]: row["vector"] for row in lines(folder / "queries.ndjson")}
    using = json.loads((folder / "sample.json").read_text())["using"]
    for query in queries:
        vector = vectors[query]
        asked = models.SparseVector(**vector) if isinstance(vector, dict) else vector
        points = client.query_points("coclick", query=asked, using=using, limit=10).points
        found = [(point.payload["doc"], point.score) for point in points if point.score > EXACT]
        assert_same_ranking(model, query, found, EXACT)


def test_tantivy(words, tmp_path, queries):
    folder, stats = exported(words, "tantivy", tmp_path)
    place = tmp_path / "place"
    for command in ("load", "check"):
        subprocess.run([sys.executable, folder / "run.py", place, command], check=True)
    index, sample = place / "current", (folder / "sample.json").read_text()
    shown = subprocess.run(
        [sys.executable, folder / "search.py", index, sample], check=True, capture_output=True, text=True
    )
    expected = json.loads((folder / "expected.json").read_text())["results"]
    assert shown.stdout.split("\t")[1] == expected[0]["doc"]

    script = runpy.run_path(folder / "search.py")
    opened = tantivy.Index.open(str(index))
    error = stats["score_error"]["largest"]
    assert 0 < error < 1e-3
    for query in queries:
        hits = script["search"](opened, script["vector"](query, index))
        held = set(words.graph_.docs) - {"x" * 70_000}
        assert_same_ranking(words, query, [(doc, score) for score, doc, _ in hits], 2 * error, held)


@pytest.mark.parametrize("kind", ["words", "dense"])
def test_parquet(kind, request, tmp_path, queries, monkeypatch):
    model = request.getfixturevalue(kind)
    folder, stats = exported(model, "parquet", tmp_path)
    monkeypatch.chdir(folder)
    sql = (folder / "sample.sql").read_text()
    sample = json.loads((folder / "expected.json").read_text())["query"]
    rows = duckdb.sql("SELECT doc, title FROM 'documents-*.parquet'").fetchall()
    assert len(rows) == stats["documents"]
    assert dict(rows).items() <= {doc: model.title(doc) for doc in model.graph_.docs}.items()
    for query in queries:
        text = query.replace("'", "''")
        found = duckdb.sql(sql.replace(f"'{sample}'", f"'{text}'").rstrip(";\n")).fetchall()
        kept = [(doc, score) for doc, score, _ in found if score > EXACT]
        assert_same_ranking(model, query, kept, EXACT)
