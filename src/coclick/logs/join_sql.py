"""SQL that gives events the query they belong to, for logs that write it only with the search.

An event has the id of its search (`query_id`), or belongs to the last search of its session.
"""

from __future__ import annotations

from collections.abc import Sequence

from coclick.logs.aggregation_sql import GAP
from coclick.logs.format import QUERY_ID, Format
from coclick.logs.typed_fields import (
    MISSING_QUERY,
    MISSING_TIME,
    is_search,
    searches_without_query,
)

_TAKEN = {"user": "usr", "session": "session"}  # field → column, taken from the search if an event lacks it
NO_SEARCH = " without a search"  # appended to the action of an event before any search of its session


def logged_queries(format: Format, rows: str, fields: set[str], searches: Sequence[str]) -> str:
    """Return the statement that creates `logged_query`: one row for each id of a search.

    Of several texts the smallest wins, so the order of rows does not matter. User and session may be known
    from the search or from an event.
    """
    if format.join != QUERY_ID:
        return ""
    more = "".join(f", min({column}) AS {column}" for name, column in _TAKEN.items() if name in fields)
    of_search = f"FILTER (WHERE {is_search('action', searches)})"
    more += f", min(ts) {of_search} AS ts" if "timestamp" in fields else ""
    return f"""
        CREATE TABLE logged_query AS
        SELECT query_id, min(query) {of_search} AS query {more}
        FROM ({rows}) WHERE query_id IS NOT NULL GROUP BY query_id"""


def with_queries(format: Format, rows: str, fields: set[str], searches: Sequence[str]) -> str:
    """Return the rows with the query, user, session and time of their search, and their checks."""
    if format.join == QUERY_ID:
        taken = {"query": "coalesce(logged.query, own.query)"}
        for name, column in _TAKEN.items():
            if name in fields:
                taken[column] = f"coalesce(own.{column}, logged.{column})"
        if "timestamp" in fields:  # some systems write the time of the search only
            taken["ts"] = "coalesce(own.ts, logged.ts)"
        replaced = ", ".join(f"{sql} AS {name}" for name, sql in taken.items())
        rows = f"""SELECT own.* REPLACE ({replaced})
            FROM ({rows}) own LEFT JOIN logged_query logged USING (query_id)"""
        action = searches_without_query("action", searches)
        checks = MISSING_QUERY
    else:
        nobody = _nobody(fields)
        rows = _last_search(rows, fields)
        # Without a user nobody knows which search an event belongs to: it is rejected, not ignored.
        checks = f"WHEN query IS NULL AND {nobody} THEN 'user|is missing' {MISSING_QUERY}"
        action = f"CASE WHEN query IS NULL AND NOT ({nobody}) THEN action || '{NO_SEARCH}' ELSE action END"
    checks += f" {MISSING_TIME}" if "timestamp" in fields else ""
    return f"""
        SELECT * REPLACE ({action} AS action, CASE WHEN error IS NOT NULL THEN error {checks} END AS error)
        FROM ({rows})"""


def _nobody(fields: set[str]) -> str:
    """The condition that a row has neither a user nor a session."""
    return "usr IS NULL AND session IS NULL" if "session" in fields else "usr IS NULL"


def _last_search(rows: str, fields: set[str]) -> str:
    """Rows with the query of the last search before them, by the same user within 30 minutes."""
    session = ", session" if "session" in fields else ""
    window = f"(PARTITION BY usr{session} ORDER BY ts ROWS UNBOUNDED PRECEDING)"
    return f"""
        SELECT * EXCLUDE (last_query, last_ts) REPLACE (
            CASE WHEN query IS NULL AND NOT ({_nobody(fields)}) AND ts - last_ts <= {GAP}
                THEN last_query ELSE query END AS query)
        FROM (SELECT *, last_value(query IGNORE NULLS) OVER {window} AS last_query,
                last_value(CASE WHEN query IS NOT NULL THEN ts END IGNORE NULLS) OVER {window} AS last_ts
              FROM ({rows}))"""
