"""Loading an export into PostgreSQL: twice, interrupted, a newer version, back to the older one."""

import re
import shutil

import pytest

import coclick.exporters
from coclick import ClickGraph, create
from exporters.postgres import psql, rows, run_psql

pytestmark = pytest.mark.slow

NASTY = {
    "a'; DROP TABLE shop; --": "it's a \"title\" of $$ and $coclick$ and :'variables' \\copy",
    "=HYPERLINK(1)": "<script>alert(1)</script>",
    "\\.": "\\N",
    "two\nlines\t\r": "+1 -1 @sum",
}


def model_of(docs):
    """A model in which the documents have the words of their titles."""
    titles = {doc: f"{title} {doc} lamp" for doc, title in docs.items()}
    return create("bm25(tokenizer=words)").fit(ClickGraph.from_clicks([("lamp", "d1", 1.0)], titles))


@pytest.fixture(scope="module")
def exports(tmp_path_factory):
    """Two exports of the table `shop`: d2 changes, d3 vanishes, d4 is new."""
    path = tmp_path_factory.mktemp("exports")
    old = {"d1": "red", "d2": "blue", "d3": "green", **NASTY}
    new = {"d1": "red", "d2": "blue sky", "d4": "white", **NASTY}
    stats = {}
    for name, docs in (("old", old), ("new", new)):
        stats[name] = coclick.exporters.export(model_of(docs), "pgvector", path / name, name="shop")
    return path, stats


@pytest.fixture
def shop(exports, database):
    """The folders of both exports; the tables are removed after the test."""
    path, _ = exports
    yield path
    psql(database, path / "old", "-f", "remove.sql")
    assert not rows(database, "SELECT * FROM pg_class WHERE relname LIKE 'shop%'")


def content(database):
    """Everything in the database that the next load or rollback depends on."""
    tables = ("shop", "shop_queries", "shop_undo", "shop_queries_undo", "shop_versions")
    return [sorted(map(str, rows(database, f"SELECT * FROM {table}"))) for table in tables]


def titles(database):
    return {row["doc"]: row["title"] for row in rows(database, "SELECT doc, title FROM shop")}


def expected_titles(path, name):
    """Read documents.tsv by the rules of COPY, with no code of ours."""
    escapes = {"n": "\n", "t": "\t", "r": "\r", "\\": "\\"}
    found = {}
    for line in (path / name / "documents.tsv").read_bytes().decode().split("\n")[:-1]:
        doc, title, _ = line.split("\t")
        found[re.sub(r"\\(.)", lambda m: escapes[m[1]], doc)] = re.sub(
            r"\\(.)", lambda m: escapes[m[1]], title
        )
    return found


def versions(database):
    return {row["slot"]: row["version"] for row in rows(database, "SELECT * FROM shop_versions")}


def test_loading_twice_changes_nothing(shop, exports, database):
    psql(database, shop / "old", "-f", "load.sql")
    once = content(database)
    assert titles(database) == expected_titles(shop, "old")
    assert titles(database).keys() >= NASTY.keys()
    psql(database, shop / "old", "-f", "load.sql")
    assert content(database) == once
    assert versions(database) == {"current": exports[1]["old"]["version"]}


def test_a_newer_export_replaces_the_older_one_and_can_be_rolled_back(shop, exports, database):
    psql(database, shop / "old", "-f", "load.sql")
    psql(database, shop / "old", "-f", "index.sql")
    before = content(database)
    for _ in range(2):
        psql(database, shop / "new", "-f", "load.sql")
        assert titles(database) == expected_titles(shop, "new")
        assert "d3" not in titles(database) and "d4" in titles(database)
        old, new = (exports[1][name]["version"] for name in ("old", "new"))
        assert versions(database) == {"current": new, "previous": old}
    for _ in range(2):  # the second time there is nothing to do
        psql(database, shop / "new", "-f", "rollback.sql")
        assert content(database) == before
    failed = run_psql(database, shop / "old", "-f", "rollback.sql")
    assert failed.returncode != 0 and "no version before" in failed.stderr
    assert content(database) == before


def test_a_load_that_is_killed_changes_nothing(shop, exports, database, tmp_path):
    psql(database, shop / "old", "-f", "load.sql")
    before = content(database)
    shutil.copytree(shop / "new", tmp_path / "new")
    script = tmp_path / "new/load.sql"
    *most, last = script.read_text().rpartition("COMMIT;")
    script.write_text("".join([*most[:-1], "\\! kill -9 $PPID\n", most[-1], last]))
    assert run_psql(database, tmp_path / "new", "-f", "load.sql").returncode == -9
    assert content(database) == before
    psql(database, shop / "new", "-f", "load.sql")
    assert titles(database) == expected_titles(shop, "new")


def test_a_damaged_file_changes_nothing_and_psql_fails(shop, database, tmp_path):
    psql(database, shop / "old", "-f", "load.sql")
    before = content(database)
    shutil.copytree(shop / "new", tmp_path / "new")
    with (tmp_path / "new/queries.tsv").open("a") as file:
        file.write("a query without a vector\n")
    assert run_psql(database, tmp_path / "new", "-f", "load.sql").returncode == 3
    (tmp_path / "new/documents.tsv").unlink()
    assert run_psql(database, tmp_path / "new", "-f", "load.sql").returncode == 3
    assert content(database) == before


def test_tables_of_earlier_exports_are_taken_over(shop, exports, database):
    """Earlier releases made two tables without versions, and a second load doubled the queries."""
    psql(database, shop / "old", "-c", """
        CREATE EXTENSION IF NOT EXISTS vector;
        CREATE TABLE shop (doc text PRIMARY KEY, title text NOT NULL, vector sparsevec(1000000000) NOT NULL);
        CREATE TABLE shop_queries (query text NOT NULL, vector sparsevec(1000000000) NOT NULL);
        INSERT INTO shop VALUES ('gone', '', '{}/1000000000');
        INSERT INTO shop_queries VALUES ('twice', '{}/1000000000'), ('twice', '{}/1000000000');
    """)  # fmt: skip
    psql(database, shop / "old", "-f", "load.sql")
    assert titles(database) == expected_titles(shop, "old")
    assert [row["query"] for row in rows(database, "SELECT query FROM shop_queries")] == ["lamp"]
    assert versions(database) == {"current": exports[1]["old"]["version"], "previous": "unknown"}
    psql(database, shop / "old", "-f", "rollback.sql")
    assert titles(database) == {"gone": ""}


def test_a_table_of_someone_else_is_not_touched(exports, database):
    path, _ = exports
    psql(database, path, "-c", "CREATE TABLE shop (sku int); INSERT INTO shop VALUES (7)")
    for script, status in (("load.sql", 3), ("rollback.sql", 0), ("remove.sql", 0)):
        done = run_psql(database, path / "old", "-f", script)
        assert done.returncode == status
        assert rows(database, "SELECT * FROM shop") == [{"sku": 7}]
        if script == "load.sql":
            assert "the table shop has the columns: sku integer. This export needs: doc text" in done.stderr
            assert "--into" in done.stderr
    psql(database, path, "-c", "DROP TABLE shop")


def test_reserved_words_are_names(database, tmp_path):
    coclick.exporters.export(model_of({"d1": "red"}), "pgvector", tmp_path / "order", name="order")
    for script in ("load.sql", "sample.sql", "index.sql", "remove.sql"):
        psql(database, tmp_path / "order", "-f", script)


@pytest.fixture(scope="module")
def increments(tmp_path_factory):
    """A whole export and two increments of the table `shop`; words keep their weights (no idf changes)."""
    path = tmp_path_factory.mktemp("increments")
    first = {"d1": "red lamp", "d2": "blue lamp", "d3": "green lamp", **NASTY}
    second = {"d1": "red lamp", "d2": "blue sky lamp", "d4": "white lamp", **NASTY}
    third = {**{doc: f"{title} " for doc, title in first.items()}, "d2": "blue sky lamp"}
    stats, base = {}, None
    for name, docs in (("first", first), ("second", second), ("third", third)):
        for kind, changes_from in (("whole", None), ("changes", base)):
            graph = ClickGraph.from_clicks([("lamp", "d1", 1.0), (f"{name} lamp", "d1", 1.0)], docs)
            model = create("vsm(tokenizer=words)").fit(graph)
            stats[name] = coclick.exporters.export(
                model, "pgvector", path / f"{name}-{kind}", name="shop", changes_from=changes_from
            )
        base = path / f"{name}-whole"
    return path, stats


@pytest.fixture
def increment(increments, database):
    yield increments[0]
    psql(database, increments[0] / "first-whole", "-f", "remove.sql")


def state(database):
    """What readers see."""
    return content(database)[:2]


def test_increments_lead_to_the_same_content_as_whole_exports(increment, increments, database):
    states = {}
    for name in ("first", "second", "third"):
        psql(database, increment / f"{name}-whole", "-f", "load.sql")
        states[name] = state(database)
        assert titles(database) == expected_titles(increment, f"{name}-whole")
    psql(database, increment / "third-whole", "-f", "remove.sql")
    psql(database, increment / "first-whole", "-f", "load.sql")
    for name, before in (("second", "first"), ("third", "second")):
        held = content(database)[:-1]
        for _ in range(2):
            psql(database, increment / f"{name}-changes", "-f", "load.sql")
            assert state(database) == states[name]
            known = {
                slot: increments[1][of]["version"] for slot, of in (("current", name), ("previous", before))
            }
            assert versions(database) == known
        for _ in range(2):
            psql(database, increment / f"{name}-changes", "-f", "rollback.sql")
            assert state(database) == states[before] and content(database)[0:2] == held[0:2]
        psql(database, increment / f"{name}-changes", "-f", "load.sql")
    counted = rows(database, "SELECT documents FROM shop_versions WHERE slot = 'current'")
    assert counted == [{"documents": 7}]


def test_an_increment_is_refused_on_another_version(increment, increments, database):
    done = run_psql(database, increment / "second-changes", "-f", "load.sql")
    assert done.returncode == 3 and "but the loaded version is none" in done.stderr
    psql(database, increment / "first-whole", "-f", "load.sql")
    before = content(database)
    done = run_psql(database, increment / "third-changes", "-f", "load.sql")
    second, first = (increments[1][name]["version"] for name in ("second", "first"))
    assert done.returncode == 3
    assert f"changes version {second}, but the loaded version is {first}" in done.stderr
    assert "HINT" in done.stderr and content(database) == before


def test_an_increment_that_is_killed_changes_nothing(increment, database, tmp_path):
    psql(database, increment / "first-whole", "-f", "load.sql")
    before = content(database)
    shutil.copytree(increment / "second-changes", tmp_path / "new")
    script = tmp_path / "new/load.sql"
    *most, last = script.read_text().rpartition("COMMIT;")
    script.write_text("".join([*most[:-1], "\\! kill -9 $PPID\n", most[-1], last]))
    assert run_psql(database, tmp_path / "new", "-f", "load.sql").returncode == -9
    assert content(database) == before
    psql(database, increment / "second-changes", "-f", "load.sql")
    assert titles(database) == expected_titles(increment, "second-whole")


def test_check_finds_what_is_not_as_expected(shop, exports, database):
    """Another version, a changed vector, a missing row, a row too many."""
    psql(database, shop / "old", "-f", "load.sql")
    for _ in range(2):
        assert "1 sample queries have the expected results" in psql(database, shop / "old", "-f", "check.sql")
    heavy = "'{1000000000:9}/1000000000'"
    other = "(SELECT vector FROM shop WHERE doc LIKE 'a''%')"  # has more words
    damages = {
        f"UPDATE shop SET vector = {other} WHERE doc = 'd1'": "instead",
        "DELETE FROM shop WHERE doc = 'd3'": "d3 with the score",
        "INSERT INTO shop SELECT 'extra', '', vector FROM shop WHERE doc = 'd3'": "is not expected",
        f"UPDATE shop SET vector = {heavy} WHERE doc = 'd1'": "is not found",
    }
    for sql, message in damages.items():
        psql(database, None, "-c", sql)
        done = run_psql(database, shop / "old", "-f", "check.sql")
        assert done.returncode == 3 and message in done.stderr, sql
        assert "HINT" in done.stderr and exports[1]["old"]["version"] in done.stderr
        psql(database, shop / "old", "-f", "load.sql")
    psql(database, shop / "old", "-f", "check.sql")
