"""Vectors added to a table that exists in PostgreSQL."""

import json

import pytest

import coclick.exporters
from coclick import ClickGraph, create
from coclick.errors import UserError
from exporters.postgres import psql, rows, run_psql

pytestmark = pytest.mark.slow


def export(path, docs, **options):
    """Export a model in which documents have the words of their titles."""
    titles = {doc: f"{title} lamp" for doc, title in docs.items()}
    graph = ClickGraph.from_clicks([("lamp", next(iter(docs)), 1.0)], titles)
    model = create("bm25(tokenizer=words)").fit(graph)
    options = {"name": "learned", "into": "products", "id_field": "sku"} | options
    return model, coclick.exporters.export(model, "pgvector", path, **options)


@pytest.fixture
def products(database):
    """A table with integer ids and a column of its own."""
    psql(database, None, "-c", """
        CREATE TABLE products (sku int PRIMARY KEY, price numeric);
        INSERT INTO products SELECT sku, sku * 1.5 FROM generate_series(1, 5) AS sku;
    """)  # fmt: skip
    yield
    psql(database, None, "-c", """DROP TABLE products; DROP TABLE IF EXISTS
        learned_queries, learned_undo, learned_queries_undo, learned_versions""")  # fmt: skip


def vectors(database):
    found = rows(database, "SELECT sku, learned_vector::text AS vector FROM products")
    return {row["sku"]: row["vector"] for row in found if row["vector"]}


def exported_vectors(path):
    lines = (path / "documents.tsv").read_text().splitlines()
    return {line.split("\t")[0]: sorted(line.split("\t")[2].strip("{}").split("/")[0].strip("}").split(","))
            for line in lines}  # fmt: skip


def parsed(vector):
    return sorted(vector.split("}")[0].strip("{").split(","))


def test_load_twice_replace_roll_back_remove(products, database, tmp_path):
    nasty = "x'); DROP TABLE products; --\n\"$coclick$"
    model, _ = export(tmp_path / "old", {"1": "red", "2": "blue", "77": "green", nasty: "it's <b>"})
    _, _ = export(tmp_path / "new", {"2": "blue sky", "3": "white"})
    before = rows(database, "SELECT * FROM products ORDER BY sku")
    for _ in range(2):
        shown = psql(database, tmp_path / "old", "-f", "load.sql")
        assert "2 ids are not in products; missing-ids.txt lists them" in shown
        assert (tmp_path / "old/missing-ids.txt").read_text().splitlines() == [
            "77", nasty.replace("\n", "\\n"),
        ]  # fmt: skip
        loaded = vectors(database)
        assert loaded.keys() == {1, 2}
    for sku, vector in loaded.items():
        written = dict(pair.split(":") for pair in exported_vectors(tmp_path / "old")[str(sku)])
        held = dict(pair.split(":") for pair in parsed(vector))
        assert {k: float(v) for k, v in held.items()} == pytest.approx(
            {k: float(v) for k, v in written.items()}, rel=1e-6
        )
    sample = psql(database, tmp_path / "old", "-f", "sample.sql").splitlines()
    scores = dict(model.search(json.loads((tmp_path / "old/expected.json").read_text())["query"], 10).hits())
    assert {row.split("|")[0] for row in sample} == {"1", "2"}
    for row in sample:
        doc, score = row.split("|")
        assert float(score) == pytest.approx(scores[doc], rel=1e-5)

    for _ in range(2):
        psql(database, tmp_path / "new", "-f", "load.sql")
        assert vectors(database).keys() == {2, 3} and vectors(database)[2] != loaded[2]
    psql(database, tmp_path / "new", "-f", "index.sql")
    for _ in range(2):
        psql(database, tmp_path / "new", "-f", "rollback.sql")
        assert vectors(database) == loaded
    failed = run_psql(database, tmp_path / "old", "-f", "rollback.sql")
    assert failed.returncode == 3 and "no version before" in failed.stderr and "remove.sql" in failed.stderr
    for _ in range(2):
        psql(database, tmp_path / "old", "-f", "remove.sql")
        assert rows(database, "SELECT * FROM products ORDER BY sku") == before
    assert not rows(database, "SELECT * FROM pg_class WHERE relname LIKE 'learned%'")


@pytest.mark.parametrize(
    ("options", "sql", "message"),
    [
        ({"into": "public.nothing"}, "", "there is no table public.nothing"),
        ({"id_field": "ean"}, "", "the table products has no column ean"),
        (
            {},
            "ALTER TABLE products ADD learned_vector int",
            "the column learned_vector of products has the type integer, not sparsevec(1000000000)",
        ),
        ({"id_field": "price"}, "", "none of the document ids is in the column price of products"),
    ],
)
def test_what_does_not_fit_is_an_error(options, sql, message, products, database, tmp_path):
    export(tmp_path / "out", {"1": "red"}, **options)
    if sql:
        psql(database, None, "-c", sql)
    done = run_psql(database, tmp_path / "out", "-f", "load.sql")
    assert done.returncode == 3 and message in done.stderr and "HINT" in done.stderr
    assert [row["sku"] for row in rows(database, "SELECT sku, price FROM products ORDER BY sku")] == [
        1,
        2,
        3,
        4,
        5,
    ]


@pytest.mark.parametrize(
    ("engine", "options", "message"),
    [
        ("pgvector", {"id_field": None}, "which column of products"),
        ("pgvector", {"into": 'a"; DROP'}, "cannot be the name of a table"),
        ("pgvector", {"into": "a.b.c"}, "cannot be the name of a table"),
        ("pgvector", {"id_field": "$coclick$"}, "cannot be the name of the field"),
        ("pgvector", {"hybrid": "title"}, "not with pgvector"),
        ("pgvector", {"into": None}, "are for an index that exists"),
        ("tantivy", {}, "tantivy cannot add vectors"),
        ("qdrant", {"hybrid": "title"}, "not with qdrant"),
        ("opensearch", {"into": "Products"}, "cannot be the name of an index"),
        ("opensearch", {"into": "a/_all"}, "cannot be the name of an index"),
        ("opensearch", {"hybrid": "title^x"}, "is not a field with a weight"),
        ("opensearch", {"hybrid": 'title","x'}, "is not a field with a weight"),
        ("opensearch", {"hybrid": "title^0"}, "is not a field with a weight"),
        ("opensearch", {"hybrid": ""}, "is not a field with a weight"),
    ],
)
def test_bad_names(engine, options, message, words, tmp_path):
    options = {"into": "products", "id_field": "sku"} | options
    with pytest.raises(UserError, match=message):
        coclick.exporters.export(words, engine, tmp_path / "out", **options)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("target", [{}, {"into": "products", "id_field": "sku"}])
def test_with_the_default_name_queries_are_loaded_too(target, products, database, tmp_path):
    titles = {"1": "red lamp", "2": "blue lamp", "3": "white sky"}
    model = create("bm25(tokenizer=words)").fit(
        ClickGraph.from_clicks([("lamp", "1", 3.0), ("blue", "2", 2.0)], titles)
    )
    coclick.exporters.export(model, "pgvector", tmp_path / "out", **target)
    for _ in range(2):
        psql(database, tmp_path / "out", "-f", "load.sql")
        assert {row["query"] for row in rows(database, "SELECT * FROM coclick_queries")} == {"lamp", "blue"}
    table, column = ("products", "t.sku") if target else ("coclick", "t.doc")
    vector = "t.coclick_vector" if target else "t.vector"
    found = rows(database, f"""SELECT {column}::text AS doc, -({vector} <#> q.vector) AS score
        FROM {table} t, coclick_queries q
        WHERE q.query = 'lamp' AND {vector} <#> q.vector < 0""")  # fmt: skip
    expected = dict(model.search("lamp", 10).hits())
    assert {row["doc"]: row["score"] for row in found} == pytest.approx(expected, rel=1e-5)
    assert len(expected) == 2
    psql(database, tmp_path / "out", "-f", "check.sql")
    psql(database, tmp_path / "out", "-f", "remove.sql")
    assert not rows(database, "SELECT * FROM pg_class WHERE relname LIKE 'coclick%'")
