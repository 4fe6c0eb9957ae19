"""Count searches and follow-ups of an event log in DuckDB, and write them as tables of the graph.

A search is a result page: what one session saw for one query, or a search that the log records although it
showed nothing. In a log with neither impressions nor searches only successful searches are visible, so there
is no table of searches. Follow-ups need times.
"""

from __future__ import annotations

from typing import Any

from coclick.logs import aggregation_sql
from coclick.logs.duckdb_session import DuckDBSession
from coclick.logs.events import EventSchema
from coclick.logs.write_arrays import IdMap, write_by_query
from coclick.storage.artefact import ArtefactWriter

_DIV = "//"
_OPTIONAL = ("day", "without_results")


def counts_searches(sessions: bool, searches: bool, impressions: bool) -> bool:
    """Return whether a log tells about searches, also about those without a click."""
    return sessions and (searches or impressions)


def knows_failures(searches: bool, impressions: bool, results: bool) -> bool:
    """Return whether a log tells which searches had no results."""
    return searches and (impressions or results)


def count_searches(db: DuckDBSession, schema: EventSchema, has_results: bool) -> dict[str, Any]:
    """Create the tables `searched` and `followup`, as far as the log allows; return the statistics."""
    found: dict[str, Any] = {}
    if not schema.has_sessions:
        return found
    known = knows_failures(schema.has_searches, schema.has_impressions, has_results)
    pages = aggregation_sql.pages(schema.has_session_ids, schema.has_searches, schema.has_impressions)
    db.execute(f"CREATE TABLE page AS {pages}")
    if counts_searches(schema.has_sessions, schema.has_searches, schema.has_impressions):
        order = "q, day" if schema.has_days else "q"
        searched = aggregation_sql.searched(schema.has_days, known, _DIV)
        db.execute(f"CREATE TABLE searched AS {searched} ORDER BY {order}")
        sums = search_sums(known)
        found = dict(
            zip(sums, db.fetchall(f"SELECT {', '.join(sums.values())} FROM searched")[0], strict=True)
        )
    if schema.has_days:
        db.execute(f"CREATE TABLE followup AS {aggregation_sql.followups()} ORDER BY q, next")
    db.execute("DROP TABLE page")
    return found


def search_sums(known: bool) -> dict[str, str]:
    """Return the statistics of `searched` with the SQL that computes them."""
    names = ("searches", "without_clicks", *(("without_results",) if known else ()))
    sums = {name: f"CAST(coalesce(sum({name}), 0) AS BIGINT)" for name in names}
    return {name if name == "searches" else f"searches_{name}": sql for name, sql in sums.items()}


def write_searches(db: DuckDBSession, out: ArtefactWriter, queries: IdMap, min_users: int) -> None:
    """Write the graph's tables `searches` and `followups`: queries of the graph, enough users."""
    tables = {name for (name,) in db.fetchall("SELECT table_name FROM duckdb_tables()")}
    if "searched" in tables:
        present = {name for name, *_ in db.fetchall("DESCRIBE searched")}
        names = ["searches", "without_clicks", *(name for name in _OPTIONAL if name in present)]
        counts = {name: name for name in names}
        write_by_query(db, out, "searches", "searched", {}, counts, queries, queries)
    if "followup" in tables:
        source = "followup"
        if min_users > 1:
            source = "common_followup"
            kept = f"SELECT * FROM followup WHERE users >= {min_users} ORDER BY q, next"
            db.execute(f"CREATE TABLE {source} AS {kept}")
        counts = {"count": "n", "users": "users"}
        write_by_query(db, out, "followups", source, {"next": "next"}, counts, queries, queries)
