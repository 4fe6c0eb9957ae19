"""Hand-made graphs in the layout that Spark writes: valid ones open, invalid or hostile ones are refused."""

import hashlib
import json

import duckdb
import numpy as np
import pytest

from coclick import ClickGraph
from coclick.errors import ArtefactError, CoclickError
from coclick.logs import variants
from coclick.models.verify import verify
from coclick.storage.artefact import Artefact
from coclick.storage.manifest import FORMAT
from coclick.text.term_matrix import titles

TABLES = {
    "queries": "SELECT * FROM (VALUES (1, 'shoes'), (0, 'red shoes')) AS t(id, text)",
    "docs": "SELECT * FROM (VALUES (0, 'a', 'Red shoe'), (1, 'b', '')) AS t(id, name, text_title)",
    "edges": "SELECT * FROM (VALUES (1, 1, 2.0), (0, 0, 3.5), (1, 0, 1.0)) AS t(q, d, clicks)",
}
PAIRS = "SELECT 0 AS q, 0 AS d, 5 AS impressions"


def write(path, tables=TABLES, texts=("title",)):
    files = {}
    for name, sql in tables.items():
        place = f"{name}-{'0' * 16}/part-00000-x.parquet"
        (path / place).parent.mkdir(parents=True)
        duckdb.connect().execute(f"COPY ({sql}) TO '{path / place}' (FORMAT parquet)")
        data = (path / place).read_bytes()
        digest = hashlib.sha256(data).hexdigest()
        files[f"{name}.00000"] = {"file": place, "bytes": len(data), "digest": digest}
    manifest = {"format": FORMAT, "kind": "graph", "layout": "parquet", "texts": list(texts), "files": files}
    (path / "manifest.json").write_text(json.dumps(manifest))
    return path


def test_rows_may_come_in_any_order(tmp_path):
    graph = ClickGraph.open(write(tmp_path))
    assert graph.queries.to_list() == ["red shoes", "shoes"]
    assert graph.docs.to_list() == ["a", "b"]
    assert graph.texts["title"].to_list() == ["Red shoe", ""]
    assert np.array_equal(graph.clicks.to_scipy().toarray(), [[3.5, 0.0], [1.0, 2.0]])
    assert verify(tmp_path) == []


def test_a_vocabulary_in_any_order_is_looked_up_by_bytes(tmp_path, monkeypatch):
    monkeypatch.setattr("coclick.storage.parquet_tables._TEXTS_PER_FETCH", 3)
    texts = ["zoo", "Ärger", "apfel", "\U0001f600", "Zoo", "", "\uffee", "a\0b", "apfelmus"]
    rows = ", ".join(f"({row}, decode({bytes_sql(text)}))" for row, text in reversed([*enumerate(texts)]))
    tables = TABLES | {"queries": f"SELECT * FROM (VALUES {rows}) AS t(id, text)"}
    found = ClickGraph.open(write(tmp_path, tables)).queries
    assert found.to_list() == texts
    assert [texts[row] for row in found.order] == sorted(texts, key=str.encode)
    assert found.lookup([*texts, "apf"]).tolist() == [*range(len(texts)), -1]


def bytes_sql(text):
    return "'" + "".join(f"\\x{byte:02X}" for byte in text.encode()) + "'::BLOB"


def test_the_displayed_field_does_not_depend_on_the_order_of_fields(tmp_path):
    docs = "SELECT 0 AS id, 'a' AS name, 'long' AS text_summary, 'short' AS text_body"
    edges = "SELECT 0 AS q, 0 AS d, 1.0 AS clicks"
    tables = TABLES | {"docs": docs, "edges": edges}
    graph = ClickGraph.open(write(tmp_path / "two", tables, ("summary", "body")))
    assert titles(graph.texts).to_list() == ["short"]
    tables["docs"] += ", 'Title' AS text_title"
    graph = ClickGraph.open(write(tmp_path / "three", tables, ("summary", "title", "body")))
    assert titles(graph.texts).to_list() == ["Title"]
    assert titles({}) is None


def test_a_model_trained_on_it_can_be_saved_and_opened(tmp_path):
    from coclick import open_model, train

    train("vpcg", ClickGraph.open(write(tmp_path / "graph"))).save(tmp_path / "model")
    assert open_model(tmp_path / "model").search("red shoes").hits()[0][0] == "a"


@pytest.mark.parametrize(
    ("table", "sql"),
    [
        ("queries", "SELECT 1 AS id, 'shoes' AS text"),
        ("queries", "SELECT 0 AS id, NULL::VARCHAR AS text"),
        ("docs", "SELECT 0 AS id, 'a' AS name"),
        ("edges", "SELECT 0 AS q, 2 AS d, 1.0 AS clicks"),
        ("edges", "SELECT -1 AS q, 0 AS d, 1.0 AS clicks"),
        ("skips", "SELECT 0 AS q, 0 AS clicked, 2 AS skipped, 1 AS count"),
        ("searches", "SELECT 9 AS q, 1 AS searches, 0 AS without_clicks"),
        ("searches", "SELECT 0 AS q, 1 AS searches"),
        ("searches", "SELECT 0 AS q, 1 AS searches, 0 AS without_clicks, 'x' AS day"),
        ("followups", "SELECT 0 AS q, 9 AS next, 1 AS count, 1 AS users"),
        ("followups", "SELECT -1 AS q, 0 AS next, 1 AS count, 1 AS users"),
        ("daily", "SELECT 0 AS q, 1 AS d, 19000 AS day, 1.0 AS clicks"),
        ("daily", "SELECT 0 AS q, 0 AS d, 19000 AS day, 1.0 AS clicks, [NULL] AS positions"),
        ("daily", "SELECT 0 AS q, 0 AS d, 'x' AS day"),
        ("daily", "SELECT 0 AS q, 0 AS d, 'x' AS day, 1.0 AS clicks"),
        ("daily", "SELECT 0 AS q, 0 AS d, -3_000_000_000 AS day, 1.0 AS clicks"),
    ],
)
def test_inconsistent_tables_are_refused(tmp_path, table, sql):
    with pytest.raises(ArtefactError):
        ClickGraph.open(write(tmp_path, TABLES | {"pairs": PAIRS, table: sql}))


ODD = ["'x'", "'a'::ENUM('a')", "[0]", "[0, NULL]", "{'a': 0}", "[{'a': 0}]", "MAP {0: 0}", "'\\xFF'::BLOB"]
ODD += [
    "TIME '10:00'",
    "DATE '2020-01-01'",
    "TIMESTAMP '2020-01-01'",
    "INTERVAL 1 DAY",
    "gen_random_uuid()",
    "NULL",
]
NUMBERS = {
    "queries": ("id",),
    "edges": ("q", "d", "clicks"),
    "pairs": ("q", "d", "impressions"),
    "daily": ("q", "d", "day", "clicks", "users"),
    "skips": ("q", "clicked", "skipped", "count"),
    "searches": ("q", "searches", "without_clicks"),
    "followups": ("q", "next", "count", "users"),
}
ONE = {  # a row of each table
    "queries": "SELECT 0 AS id, 'shoes' AS text",
    "docs": "SELECT 0 AS id, 'a' AS name, 'Red shoe' AS text_title",
    "edges": "SELECT 0 AS q, 0 AS d, 2.0 AS clicks",
    "pairs": PAIRS,
    "daily": "SELECT 0 AS q, 0 AS d, 19000 AS day, 2.0 AS clicks, 1 AS users",
    "skips": "SELECT 0 AS q, 0 AS clicked, 0 AS skipped, 1 AS count",
    "searches": "SELECT 0 AS q, 1 AS searches, 0 AS without_clicks",
    "followups": "SELECT 0 AS q, 0 AS next, 1 AS count, 1 AS users",
}


@pytest.mark.parametrize("table", NUMBERS)
def test_columns_of_other_types_are_refused(tmp_path, table):
    """Texts, times and lists went to NumPy, which failed with tracebacks of many kinds."""
    ClickGraph.open(write(tmp_path / "sound", ONE))
    start = 5 * list(NUMBERS).index(table)  # all types, but not each for every column
    for i, column in enumerate(NUMBERS[table]):
        for odd in [ODD[(start + 3 * i + j) % len(ODD)] for j in range(3)]:
            sql = f"SELECT * REPLACE ({odd} AS {column}) FROM ({ONE[table]})"
            with pytest.raises(ArtefactError):
                ClickGraph.open(write(tmp_path / f"{i}-{ODD.index(odd)}", ONE | {table: sql}))


def test_unknown_columns_are_ignored_and_positions_must_be_complete(tmp_path):
    more = ONE | {"pairs": f"SELECT *, 7 AS new FROM ({PAIRS})"}
    assert ClickGraph.open(write(tmp_path / "more", more)).pairs.impressions.tolist() == [5]
    half = ONE | {"daily": f"SELECT *, [{{'position': 1}}] AS positions FROM ({ONE['daily']})"}
    with pytest.raises(ArtefactError):
        ClickGraph.open(write(tmp_path / "half", half))


@pytest.mark.parametrize("texts", [None, 5, "title", {"title": 1}, ["title", 1], [["title"]]])
def test_a_list_of_texts_that_is_none_is_refused(tmp_path, texts):
    write(tmp_path)
    manifest = json.loads((tmp_path / "manifest.json").read_text()) | {"texts": texts}
    (tmp_path / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(ArtefactError, match="no valid list of texts"):
        ClickGraph.open(tmp_path)


def test_spellings_are_read(tmp_path):
    spellings = "SELECT 1 AS id, 'SHOES' AS spelling, 3 AS count"
    graph = ClickGraph.open(write(tmp_path, TABLES | {"variants": spellings}))
    assert variants(graph) == [("shoes", "SHOES", 3)]


@pytest.mark.parametrize(
    ("table", "column", "sql"),
    [
        ("pairs", "impressions", "SELECT 0 AS q, 0 AS d, 3_000_000_000 AS impressions"),
        ("daily", "users", "SELECT 0 AS q, 0 AS d, 19000 AS day, 1.0 AS clicks, 2_147_483_648 AS users"),
        ("skips", "count", "SELECT 0 AS q, 0 AS clicked, 1 AS skipped, 2_147_483_648 AS count"),
        ("followups", "count", "SELECT 0 AS q, 0 AS next, 2_147_483_648 AS count, 1 AS users"),
    ],
)
def test_counts_beyond_32_bits_are_refused_and_not_wrapped(tmp_path, table, column, sql):
    with pytest.raises(CoclickError, match=rf"{table} \({column}\) are too large for 32 bits"):
        ClickGraph.open(write(tmp_path, TABLES | {"pairs": PAIRS, table: sql}))


def test_the_largest_count_of_32_bits(tmp_path):
    pairs = "SELECT 0 AS q, 0 AS d, 2_147_483_647 AS impressions"
    assert ClickGraph.open(write(tmp_path, TABLES | {"pairs": pairs})).pairs.impressions.tolist() == [
        2**31 - 1
    ]


def test_searches_and_followups(tmp_path):
    searches = """SELECT * FROM (VALUES (1, 19001, 4, 2), (0, 19002, 1, 1), (0, 19000, 3, 0))
        AS t(q, day, searches, without_clicks)"""
    followups = "SELECT * FROM (VALUES (1, 0, 2, 1), (0, 1, 5, 4)) AS t(q, next, count, users)"
    graph = ClickGraph.open(write(tmp_path, TABLES | {"searches": searches, "followups": followups}))
    found, after = graph.searches, graph.followups
    assert found.indptr.tolist()[:3] == [0, 2, 3] and found.day.tolist() == [19000, 19002, 19001]
    assert (found.searches.tolist(), found.without_clicks.tolist()) == ([3, 1, 4], [0, 1, 2])
    assert found.without_results is None
    assert after.next.tolist() == [1, 0] and after.users.tolist() == [4, 1] and after.count.dtype == np.int32


def test_days_and_their_positions(tmp_path):
    days = """SELECT * FROM (VALUES
        (1, 0, 19002, 0.0, 1, []::STRUCT(position INTEGER, shown INTEGER)[]),
        (0, 0, 19001, 2.0, 4, [{'position': 1, 'shown': 3}, {'position': 4, 'shown': 1}]),
        (0, 0, 19000, 1.5, 1, [{'position': 2, 'shown': 1}])
        ) AS t(q, d, day, clicks, impressions, positions)"""
    pairs = "SELECT * FROM (VALUES (1, 0, 1), (0, 0, 5)) AS t(q, d, impressions)"
    daily = ClickGraph.open(write(tmp_path, TABLES | {"pairs": pairs, "daily": days})).daily
    assert daily.indptr.tolist() == [0, 2, 3]
    assert daily.day.tolist() == [19000, 19001, 19002]
    assert daily.clicks.tolist() == [1.5, 2, 0]
    assert daily.impressions.tolist() == [1, 4, 1]
    assert daily.users is None
    assert daily.position_indptr.tolist() == [0, 1, 3, 3]
    assert daily.position.tolist() == [2, 1, 4]
    assert daily.shown.tolist() == [1, 3, 1]


def test_a_column_name_cannot_inject_sql(tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("secret")
    name = f"title\" AS text FROM read_text('{secret}') --"
    with pytest.raises(ArtefactError, match="no column"):
        ClickGraph.open(write(tmp_path / "graph", texts=[name]))


def test_a_truncated_or_changed_file_is_detected(tmp_path):
    write(tmp_path)
    part = next((tmp_path / f"edges-{'0' * 16}").iterdir())
    data = bytearray(part.read_bytes())
    data[len(data) // 2] ^= 1
    part.write_bytes(data)
    assert any("digest" in what for _, what in verify(tmp_path))
    part.write_bytes(data[:-1])
    with pytest.raises(ArtefactError, match="bytes where"):
        Artefact(tmp_path)
