"""Tables of an event log: sessions, the documents that each result page showed, and what was clicked.

A session is one user's events with no gap above 30 minutes; a result page is what a session saw for one
query. A document counts once on a page: it was shown if it has an impression or a click there, on the day
of the first of these and at the smallest of their positions. A navigational click is the only click of its
session (paper 003 §4.2). The rules themselves are in `logs.aggregation_sql`, because Spark follows them too.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from coclick.logs import aggregation_sql
from coclick.logs.duckdb_session import DuckDBSession
from coclick.logs.reader import LogReader

_DIV = "//"


@dataclass(frozen=True)
class EventSchema:
    """What an event log tells: columns and tables that need more are left out, not invented."""

    impressions: bool
    users: bool
    days: bool
    positions: bool
    docs: int  # how many have a number
    places: int  # one more than the largest position
    last_day: int

    @property
    def sessions(self) -> bool:
        """Sessions need a user and a time."""
        return self.users and self.days

    @property
    def skips(self) -> bool:
        """So do skips, and what was shown where."""
        return self.sessions and self.impressions and self.positions


def create_events(db: DuckDBSession, log: LogReader) -> int:
    """Make the table `event` (q, d, a[, u, t, position]) of integers and return how many rows it has."""
    columns = ["spelling.id AS q", "doc.id AS d", "action_code AS a"]
    joins = "JOIN spelling ON spelling.raw = r.query JOIN doc ON doc.name = r.doc"
    if "user" in log.fields:
        columns.append("log_user.id AS u")
        joins += " JOIN log_user ON log_user.name = r.usr"
    if "timestamp" in log.fields:
        columns.append("ts AS t")
    if "position" in log.fields:
        columns.append("position")
    db.execute(f"""
        CREATE TABLE event AS SELECT {", ".join(columns)} FROM ({log.relation}) r {joins}
        WHERE error IS NULL AND action_code IS NOT NULL AND spelling.id IS NOT NULL""")
    return db.fetch_value("SELECT count(*) FROM event")


def aggregate(db: DuckDBSession, log: LogReader) -> EventSchema:
    """Make the tables that the graph's arrays are cut from, all sorted by query and document:

    shown    (pair, cell)     a row a page that showed the document: pair = q · docs + d, and
                              cell = day · places + position, where position 0 is unknown
    clicked  (q, d, day, c1 …[, navigational, users])     ci counts the i-th action
    clickers (q, d, users)
    skip     (q, clicked, skipped, n)
    """
    days, positions = "timestamp" in log.fields, "position" in log.fields
    farthest = db.fetch_value("SELECT max(position) FROM event") if positions else None
    known = EventSchema(
        impressions=bool(db.fetch_value("SELECT count(*) FROM event WHERE a = 0")),
        users="user" in log.fields,
        days=days,
        positions=farthest is not None,
        docs=db.fetch_value("SELECT count(*) FROM doc"),
        places=(farthest or 0) + 2,
        last_day=db.fetch_value(f"SELECT max(t) // {aggregation_sql.DAY} FROM event") if days else 0,
    )
    counts = aggregation_sql.action_counts(log.actions)
    lowest = db.fetch_value("SELECT min(position) FROM event") if known.positions else None
    if known.sessions:
        db.execute(f"""
            CREATE TABLE session_slot AS
            SELECT u, b, (sum(starts) OVER (ORDER BY u, b ROWS UNBOUNDED PRECEDING))::INTEGER AS s
            FROM ({aggregation_sql.session_starts(_DIV)});
            CREATE TABLE result_page AS {aggregation_sql.result_pages(lowest, counts, _DIV)};
            CREATE TABLE click AS {aggregation_sql.clicked_results(log.actions)}""")
    else:
        db.execute(f"""
            CREATE VIEW result_page AS {aggregation_sql.impressions_without_sessions(lowest, days, _DIV)};
            CREATE VIEW click AS {aggregation_sql.clicks_without_sessions(counts, days, known.users, _DIV)}""")
    by_day = aggregation_sql.clicks_by_day(counts, known.users, known.sessions)
    db.execute(f"CREATE TABLE clicked AS {by_day} ORDER BY q, d, day")
    if known.users:
        db.execute(f"CREATE TABLE clickers AS {aggregation_sql.clickers()} ORDER BY q, d")
    if known.impressions:
        _shown(db, known)
    if known.skips:
        db.execute(f"CREATE TABLE skip AS {aggregation_sql.skips(counts)} ORDER BY ALL")
    return known


def figures(db: DuckDBSession, known: EventSchema, log: LogReader) -> dict[str, Any]:
    """Users, the share of the busiest, sessions, the first and the last event, as far as the log tells."""
    found: dict[str, Any] = {}
    if known.users:
        table = "session_slot" if known.sessions else "event"
        found["users"] = db.fetch_value(f"SELECT count(*) FROM (SELECT u FROM {table} GROUP BY u)")
        share = aggregation_sql.busiest_users_share(aggregation_sql.action_counts(log.actions))
        found["busiest_users_share"] = db.fetch_value(share)
    if known.sessions:
        found["sessions"] = db.fetch_value("SELECT max(s) FROM session_slot")
    if known.days:
        found |= span(*db.fetchall("SELECT min(t), max(t) FROM event")[0])
    return found


def span(first: int, last: int) -> dict[str, str]:
    """The figures of the first and the last event, given in microseconds since 1970."""
    start = datetime(1970, 1, 1, tzinfo=UTC)
    times = {"first": first, "last": last}
    return {name: (start + timedelta(microseconds=time)).isoformat() for name, time in times.items()}


def _shown(db: DuckDBSession, known: EventSchema) -> None:
    """Two packed keys sort in half the time that grouping by four columns takes; the rest is counting."""
    db.execute(f"""
        CREATE TABLE shown AS
        SELECT q::BIGINT * {known.docs} + d AS pair, day::BIGINT * {known.places} + position AS cell
        FROM result_page ORDER BY pair, cell""")
