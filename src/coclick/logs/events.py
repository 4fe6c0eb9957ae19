"""Tables of an event log: sessions, the documents that each result page showed, and what was clicked.

A session is one user's events with no gap above 30 minutes; a result page is what a session saw for one
query. A document counts once on a page: it was shown if it has an impression or a click there, on the day
of the first of these and at the smallest of their positions. A navigational click is the only click of its
session (paper 003 §4.2).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from coclick.logs.names import ACTIONS
from coclick.logs.rows import Rows
from coclick.logs.workspace import Workspace

GAP = 30 * 60 * 1_000_000  # microseconds
_DAY = 24 * 60 * 60 * 1_000_000


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
        last_day=work.value(f"SELECT max(t) // {_DAY} FROM event") if days else 0,
    )
    counts = [f"c{code}" for code in range(1, len(rows.actions) + 1)]
    if known.sessions:
        _sessions(work)
        _pages(work, known, counts)
        _clicked_pages(work, counts, _click_counts(rows))
    else:
        _plain(work, known, counts)
    _clicked(work, known, counts)
    if known.impressions:
        _shown(work, known)
    if known.skips:
        _skips(work, counts)
    return known


def figures(work: Workspace, known: Known, actions: int) -> dict[str, Any]:
    """Users, sessions, and the share of all clicks that the ten busiest users made: bots show here."""
    found: dict[str, Any] = {}
    if known.users:
        clicks = " + ".join(f"c{code}" for code in range(1, actions + 1))
        table = "stretch" if known.sessions else "event"
        found["users"] = work.value(f"SELECT count(*) FROM (SELECT u FROM {table} GROUP BY u)")
        found["busiest_users_share"] = work.value(f"""
            WITH person_clicks AS (SELECT sum({clicks}) AS n FROM click GROUP BY u)
            SELECT round((SELECT sum(n) FROM (FROM person_clicks ORDER BY n DESC LIMIT 10)) / sum(n), 4)
            FROM person_clicks""")
    if known.sessions:
        found["sessions"] = work.value("SELECT max(s) FROM stretch")
    return found


def _sessions(work: Workspace) -> None:
    """Table `stretch` (u, b, s): the session of each user in each half hour b.

    Events of a user in the same half hour are never more than 30 minutes apart, so it is enough to compare
    the first of one half hour with the last of the one before: far fewer rows to sort than events.
    """
    work.run(f"""
        CREATE TABLE stretch AS
        SELECT u, b, (sum(starts) OVER (ORDER BY u, b ROWS UNBOUNDED PRECEDING))::INTEGER AS s
        FROM (
            SELECT u, b, CASE WHEN first - lag(last) OVER (PARTITION BY u ORDER BY b) <= {GAP}
                THEN 0 ELSE 1 END AS starts
            FROM (SELECT u, (t // {GAP})::INTEGER AS b, min(t) AS first, max(t) AS last
                  FROM event GROUP BY ALL))""")


def _pages(work: Workspace, known: Known, counts: list[str]) -> None:
    """Table `page` (s, q, d, day, position, c1 …): a row for each document on each result page."""
    position = _position(work, "min(position)", known)
    clicks = "".join(f", count_if(a = {c[1:]})::INTEGER AS {c}" for c in counts)
    work.run(f"""
        CREATE TABLE page AS
        SELECT s, q, d, (min(b) // {_DAY // GAP})::INTEGER AS day, {position} AS position {clicks}
        FROM event JOIN stretch ON event.u = stretch.u AND (event.t // {GAP})::INTEGER = stretch.b
        GROUP BY s, q, d""")


def _position(work: Workspace, value: str, known: Known) -> str:
    """Positions count from 1, also where the log counts from 0; 0 is unknown."""
    if not known.positions:
        return "0"
    from_zero = work.value("SELECT min(position) FROM event") == 0
    return f"coalesce({value} + {int(from_zero)}, 0)::INTEGER"


def _click_counts(rows: Rows) -> str:
    """How many clicks in the narrow sense a page's row holds: carts and purchases follow upon a click."""
    codes = [
        f"c{code}"
        for code, action in enumerate(rows.actions, 1)
        if action.name == "click" or set(action.names) & set(ACTIONS["click"])
    ]
    return " + ".join(codes or [f"c{code}" for code in range(1, len(rows.actions) + 1)])


def _clicked_pages(work: Workspace, counts: list[str], clicks: str) -> None:
    """Table `click` (s, u, q, d, day, position, c1 …, navigational): the rows of `page` with a click."""
    any_click = " + ".join(counts)
    work.run(f"""
        CREATE TABLE click AS
        SELECT page.*, u, (alone AND {clicks} > 0)::INTEGER AS navigational
        FROM page
            JOIN (SELECT s, min(u) AS u FROM stretch GROUP BY s) USING (s)
            JOIN (SELECT s, sum({clicks}) = 1 AS alone FROM page WHERE {any_click} > 0 GROUP BY s) USING (s)
        WHERE {any_click} > 0""")


def _plain(work: Workspace, known: Known, counts: list[str]) -> None:
    """Without sessions an event stands for itself: `page` and `click` are views of the events."""
    day = f"(t // {_DAY})::INTEGER" if known.days else "0"
    position = _position(work, "position", known)
    user = ", u" if known.users else ""
    clicks = "".join(f", (a = {c[1:]})::INTEGER AS {c}" for c in counts)
    work.run(f"""
        CREATE VIEW page AS SELECT q, d, {day} AS day, {position} AS position FROM event WHERE a = 0;
        CREATE VIEW click AS SELECT q, d, {day} AS day {user} {clicks} FROM event WHERE a > 0""")


def _clicked(work: Workspace, known: Known, counts: list[str]) -> None:
    """Distinct users by grouping twice, which takes half the time of count(DISTINCT)."""
    summed = [*counts, *(["navigational"] if known.sessions else [])]
    sums = ", ".join(f"sum({name})::BIGINT AS {name}" for name in summed)
    if known.users:
        work.run(f"""
            CREATE TABLE clicked AS SELECT q, d, day, {sums}, count(*) AS users
            FROM (SELECT q, d, day, u, {sums} FROM click GROUP BY q, d, day, u)
            GROUP BY q, d, day ORDER BY q, d, day;
            CREATE TABLE clickers AS SELECT q, d, count(*) AS users
            FROM (SELECT q, d, u FROM click GROUP BY q, d, u) GROUP BY q, d ORDER BY q, d""")
    else:
        work.run(f"""
            CREATE TABLE clicked AS SELECT q, d, day, {sums}
            FROM click GROUP BY q, d, day ORDER BY q, d, day""")


def _shown(work: Workspace, known: Known) -> None:
    """Two packed keys sort in half the time that grouping by four columns takes; the rest is counting."""
    work.run(f"""
        CREATE TABLE shown AS
        SELECT q::BIGINT * {known.docs} + d AS pair, day::BIGINT * {known.places} + position AS cell
        FROM page ORDER BY pair, cell""")


def _skips(work: Workspace, counts: list[str]) -> None:
    """Joachims' rule: what was clicked is preferred to what stood above it on the page and was not."""
    work.run(f"""
        CREATE TABLE skip AS
        SELECT click.q AS q, click.d AS clicked, passed.d AS skipped, count(*) AS n
        FROM (SELECT s, q, d, position FROM page WHERE {" + ".join(counts)} = 0 AND position > 0) AS passed
            JOIN click ON passed.s = click.s AND passed.q = click.q AND passed.position < click.position
        GROUP BY ALL ORDER BY ALL""")
