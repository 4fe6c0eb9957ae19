"""Events that were delivered twice.

Events with the same id count once. Without ids, rows that are equal in all fields are counted and reported,
and count once with `duplicates="drop"`: two clicks of one user on one result in the same second may be real.
Rows with neither a user nor a session may be of different people, so they are never equal.
"""

from __future__ import annotations

from typing import Any, Literal

from coclick.errors import UserError
from coclick.logs.duckdb_session import DuckDBSession
from coclick.logs.reader import LogReader

Duplicates = Literal["count", "drop"]
MIN_DISTINCT = 1 / 3  # of the rows; with fewer distinct values a column is not the id of an event
MAX_COUNTED = 500_000  # events; of larger logs, equal rows are counted for one user in 64
SAMPLE = 64


def check_duplicates(duplicates: str) -> None:
    """Check the option."""
    if duplicates not in ("count", "drop"):
        raise UserError(f"--duplicates must be count or drop, not {duplicates!r}")


def remove_duplicates(db: DuckDBSession, log: LogReader, duplicates: Duplicates) -> dict[str, Any]:
    """Remove repeated rows of `event` and `search`; return how many there were.

    The tables have the column `e`, a hash of the event's id, if the log has ids.
    """
    tables = ["event", *(["search"] if log.has_searches else [])]
    found: dict[str, Any] = {"by_id": 0, "exact": 0, "dropped": 0}
    if "event_id" in log.fields:
        rows, ids = _sums(db, tables, "count(e), count(DISTINCT e)")
        if ids < MIN_DISTINCT * rows:
            return found | {"not_ids": [ids, rows]}
        found["by_id"] = sum(_remove_repeated(db, table, "e", "WHERE e IS NOT NULL") for table in tables)
    elif {"user", "timestamp"} <= log.fields:
        (size,) = _sums(db, tables, "count(*)")
        who = "coalesce(u, s)" if "session" in log.fields else "u"
        step = SAMPLE if size > MAX_COUNTED and duplicates == "count" else 1
        found["exact"] = step * sum(_count_equal(db, table, who, step) for table in tables)
        if step > 1:
            found["estimated"] = True
        if duplicates == "drop" and found["exact"]:
            found["dropped"] = sum(_remove_equal(db, table, who) for table in tables)
    return found


def _sums(db: DuckDBSession, tables: list[str], counts: str) -> list[int]:
    rows = [db.fetchall(f"SELECT {counts} FROM {table}")[0] for table in tables]
    return [sum(column) for column in zip(*rows, strict=True)]


def _remove_repeated(db: DuckDBSession, table: str, key: str, where: str) -> int:
    """Keep the smallest of the rows with the same key, so that the order of rows does not matter."""
    before = db.fetch_value(f"SELECT count(*) FROM {table}")
    repeated = f"SELECT {key} FROM {table} {where} GROUP BY {key} HAVING count(*) > 1"
    columns = ", ".join(f"{name} NULLS LAST" for (name, *_) in db.fetchall(f"DESCRIBE {table}"))
    db.execute(f"""
        DELETE FROM {table} WHERE rowid IN (
            SELECT place FROM (
                SELECT rowid AS place, row_number() OVER (PARTITION BY {key} ORDER BY {columns}) AS n
                FROM {table} SEMI JOIN ({repeated}) USING ({key}))
            WHERE n > 1)""")
    return before - db.fetch_value(f"SELECT count(*) FROM {table}")


def _count_equal(db: DuckDBSession, table: str, who: str, step: int) -> int:
    columns = ", ".join(name for (name, *_) in db.fetchall(f"DESCRIBE {table}"))
    groups = f"SELECT count(*) AS n FROM {table} WHERE {who} % {step} = 0 GROUP BY {columns}"
    return int(db.fetch_value(f"SELECT coalesce(sum(n - 1), 0) FROM ({groups})"))


def _remove_equal(db: DuckDBSession, table: str, who: str) -> int:
    before = db.fetch_value(f"SELECT count(*) FROM {table}")
    db.execute(f"""
        CREATE TABLE once AS SELECT DISTINCT * FROM {table} WHERE {who} IS NOT NULL
            UNION ALL SELECT * FROM {table} WHERE {who} IS NULL;
        DROP TABLE {table}; ALTER TABLE once RENAME TO {table}""")
    return before - db.fetch_value(f"SELECT count(*) FROM {table}")
