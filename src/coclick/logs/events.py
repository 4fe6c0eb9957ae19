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

from coclick.logs import aggregation_sql as rules
from coclick.logs.duckdb_session import Workspace
from coclick.logs.reader import Rows

_DIV = "//"


@dataclass(frozen=True)
class Known:
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


def number_events(work: Workspace, rows: Rows) -> int:
    """Make the table `event` (q, d, a[, u, t, position]) of integers and return how many rows it has."""
    columns = ["spelling.id AS q", "doc.id AS d", "act AS a"]
    joins = "JOIN spelling ON spelling.raw = r.query JOIN doc ON doc.name = r.doc"
    if "user" in rows.fields:
        columns.append("person.id AS u")
        joins += " JOIN person ON person.name = r.usr"
    if "timestamp" in rows.fields:
        columns.append("ts AS t")
    if "position" in rows.fields:
        columns.append("position")
    work.run(f"""
        CREATE TABLE event AS SELECT {", ".join(columns)} FROM ({rows.relation}) r {joins}
        WHERE bad IS NULL AND act IS NOT NULL AND spelling.id IS NOT NULL""")
    return work.value("SELECT count(*) FROM event")


def aggregate(work: Workspace, rows: Rows) -> Known:
    """Make the tables that the graph's arrays are cut from, all sorted by query and document:

    shown    (pair, cell)     a row a page that showed the document: pair = q · docs + d, and
                              cell = day · places + position, where position 0 is unknown
    clicked  (q, d, day, c1 …[, navigational, users])     ci counts the i-th action
    clickers (q, d, users)
    skip     (q, clicked, skipped, n)
    """
    days, positions = "timestamp" in rows.fields, "position" in rows.fields
    farthest = work.value("SELECT max(position) FROM event") if positions else None
    known = Known(
        impressions=bool(work.value("SELECT count(*) FROM event WHERE a = 0")),
        users="user" in rows.fields,
        days=days,
        positions=farthest is not None,
        docs=work.value("SELECT count(*) FROM doc"),
        places=(farthest or 0) + 2,
        last_day=work.value(f"SELECT max(t) // {rules.DAY} FROM event") if days else 0,
    )
    counts = rules.action_counts(rows.actions)
    lowest = work.value("SELECT min(position) FROM event") if known.positions else None
    if known.sessions:
        work.run(f"""
            CREATE TABLE stretch AS
            SELECT u, b, (sum(starts) OVER (ORDER BY u, b ROWS UNBOUNDED PRECEDING))::INTEGER AS s
            FROM ({rules.session_starts(_DIV)});
            CREATE TABLE page AS {rules.pages(lowest, counts, _DIV)};
            CREATE TABLE click AS {rules.clicked_pages(rows.actions)}""")
    else:
        work.run(f"""
            CREATE VIEW page AS {rules.plain_pages(lowest, days, _DIV)};
            CREATE VIEW click AS {rules.plain_clicks(counts, days, known.users, _DIV)}""")
    by_day = rules.clicked_days(counts, known.users, known.sessions)
    work.run(f"CREATE TABLE clicked AS {by_day} ORDER BY q, d, day")
    if known.users:
        work.run(f"CREATE TABLE clickers AS {rules.clickers()} ORDER BY q, d")
    if known.impressions:
        _shown(work, known)
    if known.skips:
        work.run(f"CREATE TABLE skip AS {rules.skips(counts)} ORDER BY ALL")
    return known


def figures(work: Workspace, known: Known, rows: Rows) -> dict[str, Any]:
    """Users, the share of the busiest, sessions, the first and the last event, as far as the log tells."""
    found: dict[str, Any] = {}
    if known.users:
        table = "stretch" if known.sessions else "event"
        found["users"] = work.value(f"SELECT count(*) FROM (SELECT u FROM {table} GROUP BY u)")
        share = rules.busiest_share(rules.action_counts(rows.actions))
        found["busiest_users_share"] = work.value(share)
    if known.sessions:
        found["sessions"] = work.value("SELECT max(s) FROM stretch")
    if known.days:
        found |= span(*work.rows("SELECT min(t), max(t) FROM event")[0])
    return found


def span(first: int, last: int) -> dict[str, str]:
    """The figures of the first and the last event, given in microseconds since 1970."""
    start = datetime(1970, 1, 1, tzinfo=UTC)
    times = {"first": first, "last": last}
    return {name: (start + timedelta(microseconds=time)).isoformat() for name, time in times.items()}


def _shown(work: Workspace, known: Known) -> None:
    """Two packed keys sort in half the time that grouping by four columns takes; the rest is counting."""
    work.run(f"""
        CREATE TABLE shown AS
        SELECT q::BIGINT * {known.docs} + d AS pair, day::BIGINT * {known.places} + position AS cell
        FROM page ORDER BY pair, cell""")
