"""SQL for OpenSearch User Behavior Insights: `ubi_queries` and `ubi_events` records, joined on `query_id`.

An export is bulk NDJSON, with an action line (`{"index": …}`) before every record, or the records alone. A
record with `action_name` is an event; any other record with `query_id` is a query.
"""

from __future__ import annotations

from coclick.logs.duckdb_session import DuckDBSession
from coclick.logs.files import LogFile
from coclick.logs.text_sql import cells, lines
from coclick.logs.typed_fields import Column

_KEYS = {
    "action_name": "$.action_name",
    "query_id": "$.query_id",
    "user_query": "$.user_query",
    "client_id": "$.client_id",
    "user_id": "$.user_id",
    "session_id": "$.session_id",
    "timestamp": "$.timestamp",
    "object_id": "$.event_attributes.object.object_id",
    "ordinal": "$.event_attributes.position.ordinal",
    "bulk_index": "$.index",
    "bulk_create": "$.create",
}

COLUMNS = {
    "query": Column("text"),
    "doc": Column("object_id"),
    "timestamp": Column("timestamp"),
    "user": Column("who"),
    "action": Column("action_name"),
    # UBI counts from 0
    "position": Column("coalesce(CAST(TRY_CAST(ordinal AS BIGINT) + 1 AS VARCHAR), ordinal)"),
}


def create_queries(db: DuckDBSession, file: LogFile, source: str) -> None:
    """Create `ubi_query`, one row per id. The smallest text wins, so the order of lines does not matter."""
    db.execute(f"""
        CREATE TABLE ubi_query AS
        SELECT query_id, min(user_query) AS user_query, min(client_id) AS client_id, count(*) AS records
        FROM ({_records(file, source)})
        WHERE action_name IS NULL AND query_id IS NOT NULL GROUP BY query_id""")


def events(file: LogFile, source: str) -> str:
    """Return a relation of all records except queries, with the columns of `COLUMNS`. `source` has lines."""
    return f"""
        SELECT event.* REPLACE (CASE WHEN parse_error IS NULL AND action_name IS NULL
                THEN '|neither a query nor an event' ELSE parse_error END AS parse_error),
            coalesce(logged.user_query, event.user_query) AS text,
            coalesce(event.client_id, user_id, session_id, logged.client_id) AS who
        FROM ({_records(file, source)}) event LEFT JOIN ubi_query logged USING (query_id)
        WHERE parse_error IS NOT NULL OR action_name IS NOT NULL OR query_id IS NULL"""


def _records(file: LogFile, source: str) -> str:
    """The records with one column per key of `_KEYS`, null if empty, without the bulk action lines."""
    columns = ", ".join(f"nullif(cell[{number}], '') AS {name}" for number, name in enumerate(_KEYS, 1))
    return f"""
        SELECT * FROM (SELECT * EXCLUDE (cell), {columns} FROM ({cells(file, source, list(_KEYS.values()))}))
        WHERE parse_error IS NOT NULL OR action_name IS NOT NULL OR query_id IS NOT NULL
            OR coalesce(bulk_index, bulk_create) IS NULL"""


def all_lines(files: list[LogFile]) -> str:
    """Return a relation of the lines of all files of an export, compressed or not."""
    shapes = {file.shape: [other for other in files if other.shape == file.shape] for file in files}
    return " UNION ALL ".join(f"({lines(group)})" for group in shapes.values())
