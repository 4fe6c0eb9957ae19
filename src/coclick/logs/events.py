"""Aggregate an event log in DuckDB: sessions, result pages, clicks, distinct users and skips.

A session is what the log calls one or, in a log without session ids, a run of one user's events and searches
without a gap above 30 minutes. A result page is what a session saw for one query. A document counts once per
page: it was shown if it has an impression or a click there, on the day of the first of these events and at
their smallest position. The only click of a session is navigational (Jiang et al. 2016, §4.2). An event
without a user and session id has no session; it counts as in a log without sessions. The SQL is in
`logs.aggregation_sql`, because Spark runs it too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from coclick.logs import aggregation_sql, recency
from coclick.logs.duckdb_session import DuckDBSession
from coclick.logs.reader import LogReader
from coclick.logs.schema import SEARCH
from coclick.logs.time_options import as_iso

_DIV = "//"


@dataclass(frozen=True)
class EventSchema:
    """What an event log records. The graph has no columns or tables that would need more."""

    has_impressions: bool
    has_users: bool
    has_days: bool
    has_session_ids: bool
    has_searches: bool  # rows that say what was searched
    has_positions: bool
    n_docs: int
    n_positions: int  # with position 0, which means unknown
    last_day: int
    n_without_user: int = 0  # events and searches, in a log with users
    n_without_session: int = 0  # of these, in a log with sessions

    @property
    def has_sessions(self) -> bool:
        """Whether there are users, and session ids or times: sessions need both."""
        return has_sessions(self.has_users, self.has_session_ids, self.has_days)

    @property
    def has_skips(self) -> bool:
        """Whether there are sessions, impressions and positions, which skips need."""
        return self.has_sessions and self.has_impressions and self.has_positions

    @property
    def shows_every_click(self) -> bool:
        """Whether each click is on a page of `result_page`, even if the log has no impression of it."""
        return self.has_sessions and not self.n_without_session


def has_sessions(users: bool, session_ids: bool, days: bool) -> bool:
    """Return whether a log has sessions."""
    return users and (session_ids or days)


def create_events(db: DuckDBSession, log: LogReader) -> int:
    """Create the tables `event` (q, d, a[, u, t, s, position]) and `search` (q[, u, t, s, results]).

    Return the number of records they come from.
    """
    columns = ["spelling.id AS q"]
    joins = "JOIN spelling ON spelling.raw = r.query"
    if "user" in log.fields:
        columns.append("log_user.id AS u")
        joins += " LEFT JOIN log_user ON log_user.name = r.usr"
    if "timestamp" in log.fields:
        columns.append("ts AS t")
    if "session" in log.fields:
        columns.append("log_session.id AS s")
        joins += f""" LEFT JOIN log_session
            ON log_session.usr IS NOT DISTINCT FROM r.usr AND log_session.name = {session_key(log)}"""
    if "event_id" in log.fields:
        columns.append("CASE WHEN event_id IS NOT NULL THEN hash(event_id) END AS e")
    of_event = [*columns, "doc.id AS d", "action_code AS a", *_present(log, "position")]
    of_search = [*columns, *_present(log, "results")]
    valid = "error IS NULL AND spelling.id IS NOT NULL"
    db.execute(f"""
        CREATE TABLE event AS SELECT {", ".join(of_event)}
        FROM ({log.relation}) r {joins} JOIN doc ON doc.name = r.doc WHERE {valid} AND action_code >= 0""")
    if log.has_searches:
        db.execute(f"""
            CREATE TABLE search AS SELECT {", ".join(of_search)}
            FROM ({log.relation}) r {joins} WHERE {valid} AND action_code = {SEARCH}""")
    if log.format.has_lists:
        rows = f"SELECT count(*) FROM ({log.relation}) r {joins} WHERE {log.is_record} AND {valid}"
        return db.fetch_value(f"{rows} AND action_code IS NOT NULL")
    return sum(
        db.fetch_value(f"SELECT count(*) FROM {table}")
        for table in ("event", "search")[: 1 + log.has_searches]
    )


def _present(log: LogReader, *names: str) -> list[str]:
    """The names of the fields that the log has."""
    return [name for name in names if name in log.fields]


def session_key(log: LogReader) -> str:
    """Return the SQL for what identifies a session of one user in the log."""
    return aggregation_sql.session_key("timestamp" in log.fields, _DIV)


def create_visits(db: DuckDBSession, log: LogReader) -> None:
    """Create the tables `visit` and `half_hour` if the log has sessions."""
    by_id, days = "session" in log.fields, "timestamp" in log.fields
    if has_sessions("user" in log.fields, by_id, days):
        visits = aggregation_sql.visits(by_id, days, log.has_searches, "results" in log.fields, _DIV)
        half_hours = aggregation_sql.half_hours(log.has_searches)
        db.execute(f"CREATE TABLE visit AS {visits}; CREATE TABLE half_hour AS {half_hours}")


def aggregate(db: DuckDBSession, log: LogReader, min_users: int) -> EventSchema:
    """Create the tables that the graph's arrays are written from, sorted by query and document:

    shown    (pair, cell)     one row per page that showed the document: pair = q · n_docs + d,
                              cell = day · n_positions + position; position 0 is unknown
    clicked  (q, d, day, c1 …[, navigational, users])     ci counts the i-th action
    clickers (q, d, users)
    skip     (q, clicked, skipped, n)

    Needs the tables `visit` and `half_hour` if the log has sessions.
    """
    days, positions = "timestamp" in log.fields, "position" in log.fields
    without_user, without_session = _count_anonymous(db, log)
    lowest, last_position, last_day, first_code = db.fetchall(f"""
        SELECT {"min(position), max(position)" if positions else "NULL, NULL"},
            {f"max(t) // {aggregation_sql.DAY}" if days else "0"}, min(a) FROM event""")[0]
    schema = EventSchema(
        has_impressions=first_code == 0,
        has_users="user" in log.fields,
        has_days=days,
        has_session_ids="session" in log.fields,
        has_searches=log.has_searches,
        has_positions=last_position is not None,
        n_docs=db.fetch_value("SELECT count(*) FROM doc"),
        n_positions=(last_position or 0) + 2,
        last_day=last_day,
        n_without_user=without_user,
        n_without_session=without_session,
    )
    counts = aggregation_sql.action_counts(log.actions)
    if schema.has_sessions:
        by_id, single = schema.has_session_ids, schema.n_without_session > 0
        pages = aggregation_sql.result_pages(lowest, counts, by_id, days, _DIV, single)
        clicks = aggregation_sql.clicked_results(log.actions, by_id, days, _DIV, single)
        if not by_id:
            db.execute(f"""
                CREATE TABLE session_slot AS
                SELECT u, b, (sum(starts) OVER (ORDER BY u, b ROWS UNBOUNDED PRECEDING))::INTEGER AS s
                FROM ({aggregation_sql.session_starts()})""")
        db.execute(f"""
            CREATE TABLE session AS {aggregation_sql.sessions(by_id)};
            CREATE TABLE result_page AS {pages}; CREATE TABLE click AS {clicks}""")
    else:
        db.execute(f"""
            CREATE VIEW result_page AS {aggregation_sql.impressions_without_sessions(lowest, days, _DIV)};
            CREATE VIEW click AS
            {aggregation_sql.clicks_without_sessions(counts, days, schema.has_users, _DIV)}""")
    by_day = aggregation_sql.clicks_by_day(counts, schema.has_users, schema.has_sessions)
    db.execute(f"CREATE TABLE clicked AS {by_day} ORDER BY q, d, day")
    if schema.has_users:
        db.execute(f"CREATE TABLE clickers AS {aggregation_sql.clickers()} ORDER BY q, d")
    if schema.has_impressions:
        _create_shown(db, schema)
    if schema.has_skips:
        db.execute(f"CREATE TABLE skip AS {aggregation_sql.skips(counts, min_users)} ORDER BY ALL")
    return schema


def _count_anonymous(db: DuckDBSession, log: LogReader) -> tuple[int, int]:
    """How many events and searches have no user and, in a log with sessions, no session."""
    if "user" not in log.fields:
        return 0, 0
    sums = [
        db.fetchall(f"SELECT {', '.join(count_anonymous(log.fields))} FROM {table}")[0]
        for table in ("event", "search")[: 1 + log.has_searches]
    ]
    without_user, without_session = (sum(column) for column in zip(*sums, strict=True))
    return without_user, without_session


def count_anonymous(fields: set[str]) -> list[str]:
    """Return the SQL of the number of rows without a user and, in a log with sessions, without a session."""
    by_id, days = "session" in fields, "timestamp" in fields
    if "user" not in fields:
        return ["0", "0"]
    alone = f"count(*) - count({'s' if by_id else 'u'})" if has_sessions(True, by_id, days) else "0"
    return ["count(*) - count(u)", alone]


def anonymous_stats(without_user: int, without_session: int) -> dict[str, int]:
    """Return the statistics of rows without a user, if there are any."""
    found = {"without_user": without_user, "without_session": without_session}
    return {name: count for name, count in found.items() if count}


def stats(db: DuckDBSession, schema: EventSchema, log: LogReader) -> dict[str, Any]:
    """Count users and sessions, and find the first and last event, as far as the log records them."""
    found: dict[str, Any] = {}
    if schema.has_users:
        table = "session" if schema.has_sessions else "event"
        found["users"] = db.fetch_value(f"SELECT count(u) FROM (SELECT u FROM {table} GROUP BY u)")
        found |= anonymous_stats(schema.n_without_user, schema.n_without_session)
        share = aggregation_sql.busiest_users_share(aggregation_sql.action_counts(log.actions))
        found["busiest_users_share"] = db.fetch_value(share)
    if schema.has_sessions:
        found["sessions"] = db.fetch_value("SELECT count(*) FROM session")
    if schema.has_days:
        half_hours = schema.has_sessions and not schema.has_searches and not schema.n_without_user
        days = db.fetchall(recency.events_by_day(half_hours, _DIV))
        future = db.fetch_value(recency.future_events(recency.future_limit()))
        found |= span(days[0][1], days[-1][2]) | recency.day_stats(days, future)
    return found


def span(first: int, last: int) -> dict[str, str]:
    """Return the first and last event as ISO times, given microseconds since 1970."""
    return {name: str(as_iso(time)) for name, time in (("first", first), ("last", last))}


def _create_shown(db: DuckDBSession, schema: EventSchema) -> None:
    """Create `shown`. Sorting two packed keys takes half the time of grouping by four columns."""
    fits = (schema.last_day + 1) * schema.n_positions <= np.iinfo(np.int32).max
    type = "INTEGER" if fits else "BIGINT"
    db.execute(f"""
        CREATE TABLE shown AS
        SELECT q::BIGINT * {schema.n_docs} + d AS pair, day::{type} * {schema.n_positions} + position AS cell
        FROM result_page ORDER BY pair, cell""")
