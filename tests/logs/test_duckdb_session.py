"""A task alongside the session: it sees its tables, its errors are raised, and a failing caller stops it."""

import time

import duckdb
import pytest

from coclick.logs.duckdb_session import DuckDBSession

_ENDLESS = (
    "CREATE TABLE never AS SELECT count(*) FROM range(10000000000) a JOIN range(10000) b ON a.range > b.range"
)


@pytest.fixture
def db(tmp_path):
    with DuckDBSession(tmp_path / "spill", 400_000_000, 2) as session:
        yield session


def test_its_tables_are_seen_by_the_session(db):
    db.execute("CREATE TABLE number AS SELECT range AS n FROM range(10)")
    with db.run_alongside(
        lambda other: other.execute("CREATE TABLE square AS SELECT n * n AS n FROM number")
    ) as task:
        assert db.fetch_value("SELECT sum(n) FROM number") == 45
        task.result()
    assert db.fetch_value("SELECT sum(n) FROM square") == 285


def test_its_error_is_raised_where_its_result_is_asked_for(db):
    asked = db.run_alongside(lambda other: other.fetch_value("SELECT n FROM missing"))
    with asked as task, pytest.raises(duckdb.CatalogException):
        task.result()
    assert db.fetch_value("SELECT 1") == 1


def test_it_is_stopped_when_the_caller_fails(db):
    started = time.monotonic()
    with pytest.raises(KeyboardInterrupt), db.run_alongside(lambda other: other.execute(_ENDLESS)):
        raise KeyboardInterrupt
    assert time.monotonic() - started < 20
    assert db.fetchall("SELECT table_name FROM duckdb_tables()") == []
