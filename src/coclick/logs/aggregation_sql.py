"""The rules by which events and clicks become pairs: SQL that DuckDB and Spark both run.

A rule is a relation over the tables before it, with `div` for the one operator that the two spell
differently: division of whole numbers. Sessions are numbered by whoever runs them: on one machine all in a
row, on many each user's own.

    event (q, d, a[, u, t, position])                  a = 0 is an impression, a = i the i-th action
    session_slot (u, b, s)                                   the session of each user in each half hour b
    result_page (s, q, d, day, position, c1 …)                 a row for each document on each result page
    click (s, u, q, d, day, position, c1 …, navigational)   those of them with a click
    clicked (q, d, day, c1 …[, navigational, users])    ci counts the i-th action
    clickers (q, d, users)
    skip (q, clicked, skipped, n)
"""

from __future__ import annotations

from collections.abc import Sequence

from coclick.logs.schema import ACTIONS, Action

MICRO = 1_000_000  # aggregated clicks are summed in millionths: exact, so no order of rows matters
GAP = 30 * 60 * 1_000_000  # microseconds without an event end a session
DAY = 24 * 60 * 60 * 1_000_000


def pair_sums(fields: set[str]) -> str:
    """Of the rows of an aggregated log with one query and document: clicks, impressions, users."""
    counts = [name for name in ("impressions", "users") if name in fields]
    sums = "".join(f", CAST(sum({name}) AS BIGINT) AS {name}" for name in counts)
    return f"CAST(sum(clicks) AS DOUBLE) / {MICRO} AS clicks {sums}"


def action_counts(actions: Sequence[Action]) -> list[str]:
    """The columns that count actions."""
    return [f"c{code}" for code in range(1, len(actions) + 1)]


def session_starts(div: str) -> str:
    """Each user's half hours (u, b), and in `starts` whether a session begins there.

    Events of a user in the same half hour are never more than 30 minutes apart, so it is enough to compare
    the first of one half hour with the last of the one before: far fewer rows to sort than events.
    """
    half_hour = half_hour_of("t", div)
    return f"""
        SELECT u, b, CASE WHEN began - lag(ended) OVER (PARTITION BY u ORDER BY b) <= {GAP}
            THEN 0 ELSE 1 END AS starts
        FROM (SELECT u, {half_hour} AS b, min(t) AS began, max(t) AS ended
              FROM event GROUP BY u, {half_hour}) AS half_hours"""


def half_hour_of(time: str, div: str) -> str:
    """The number of a time's half hour."""
    return f"CAST({time} {div} {GAP} AS INTEGER)"


def day_of(time: str, div: str) -> str:
    """The number of a time's day."""
    return f"CAST({time} {div} {DAY} AS INTEGER)"


def position_of(value: str, lowest: int | None) -> str:
    """Positions count from 1, also where the log counts from 0; 0 is unknown."""
    return "0" if lowest is None else f"CAST(coalesce({value} + {int(lowest == 0)}, 0) AS INTEGER)"


def result_pages(lowest: int | None, counts: Sequence[str], div: str) -> str:
    """A document counts once on a page, on the day of its first event there, at its smallest position."""
    clicks = "".join(f", CAST(count_if(a = {c[1:]}) AS INTEGER) AS {c}" for c in counts)
    return f"""
        SELECT s, q, d, CAST(min(b) {div} {DAY // GAP} AS INTEGER) AS day,
            {position_of("min(position)", lowest)} AS position {clicks}
        FROM event JOIN session_slot ON event.u = session_slot.u AND {half_hour_of("event.t", div)} = session_slot.b
        GROUP BY s, q, d"""


def clicked_results(actions: Sequence[Action]) -> str:
    """The rows of `result_page` with a click. A navigational click is the only click of its session."""
    any_click = " + ".join(action_counts(actions))
    clicks = _narrow_clicks(actions)
    return f"""
        SELECT result_page.*, u, CAST(alone AND {clicks} > 0 AS INTEGER) AS navigational
        FROM result_page
            JOIN (SELECT s, min(u) AS u FROM session_slot GROUP BY s) AS owner USING (s)
            JOIN (SELECT s, sum({clicks}) = 1 AS alone FROM result_page WHERE {any_click} > 0 GROUP BY s) AS session
                USING (s)
        WHERE {any_click} > 0"""


def _narrow_clicks(actions: Sequence[Action]) -> str:
    """How many clicks in the narrow sense a page's row holds: carts and purchases follow upon a click."""
    codes = [
        f"c{code}"
        for code, action in enumerate(actions, 1)
        if action.name == "click" or set(action.names) & set(ACTIONS["click"])
    ]
    return " + ".join(codes or action_counts(actions))


def impressions_without_sessions(lowest: int | None, days: bool, div: str) -> str:
    """Without sessions an impression stands for itself."""
    day = day_of("t", div) if days else "0"
    return f"SELECT q, d, {day} AS day, {position_of('position', lowest)} AS position FROM event WHERE a = 0"


def clicks_without_sessions(counts: Sequence[str], days: bool, users: bool, div: str) -> str:
    """Without sessions a click stands for itself."""
    day = day_of("t", div) if days else "0"
    clicks = "".join(f", CAST(a = {c[1:]} AS INTEGER) AS {c}" for c in counts)
    return f"SELECT q, d, {day} AS day {', u' if users else ''} {clicks} FROM event WHERE a > 0"


def clicks_by_day(counts: Sequence[str], users: bool, sessions: bool) -> str:
    """Clicks by pair and day; distinct users by grouping twice, half the work of count(DISTINCT)."""
    summed = [*counts, *(["navigational"] if sessions else [])]
    sums = ", ".join(f"CAST(sum({name}) AS BIGINT) AS {name}" for name in summed)
    if not users:
        return f"SELECT q, d, day, {sums} FROM click GROUP BY q, d, day"
    return f"""
        SELECT q, d, day, {sums}, count(*) AS users
        FROM (SELECT q, d, day, u, {sums} FROM click GROUP BY q, d, day, u) AS by_user GROUP BY q, d, day"""


def clickers() -> str:
    """How many users clicked each pair."""
    return """
        SELECT q, d, count(*) AS users FROM (SELECT q, d, u FROM click GROUP BY q, d, u) AS by_user
        GROUP BY q, d"""


def weighted_clicks(actions: Sequence[Action]) -> str:
    """Of each pair the weighted clicks, and the actions that count as clicks whatever their weights."""
    counts = [f"sum({name})" for name in action_counts(actions)]
    weighted = [f"CAST({a.weight!r} AS DOUBLE) * {n}" for a, n in zip(actions, counts, strict=True)]
    return f"""
        SELECT q, d, {" + ".join(weighted)} AS clicks, {" + ".join(counts)} AS actions
        FROM clicked GROUP BY q, d"""


def busiest_users_share(counts: Sequence[str]) -> str:
    """The share of all clicks that the ten busiest users made: bots show here."""
    return f"""
        WITH by_user AS (SELECT sum({" + ".join(counts)}) AS n FROM click GROUP BY u)
        SELECT round((SELECT sum(n) FROM (SELECT n FROM by_user ORDER BY n DESC LIMIT 10) AS busiest)
            / sum(n), 4)
        FROM by_user"""


def skips(counts: Sequence[str]) -> str:
    """Joachims' rule: what was clicked is preferred to what stood above it on the page and was not."""
    return f"""
        SELECT click.q AS q, click.d AS clicked, passed.d AS skipped, count(*) AS n
        FROM (SELECT s, q, d, position FROM result_page WHERE {" + ".join(counts)} = 0 AND position > 0) AS passed
            JOIN click ON passed.s = click.s AND passed.q = click.q AND passed.position < click.position
        GROUP BY click.q, click.d, passed.d"""


def is_rejected(actions: bool) -> str:
    """The condition under which a row is rejected: something is wrong with it, and it would have counted.
    What is wrong with a row of an action that is neither shown nor clicked (`action_code` is null) matters not."""
    return "error IS NOT NULL" + (" AND (action_code IS NOT NULL OR action IS NULL)" if actions else "")


def passes_thresholds(min_clicks: float, min_users: int) -> str:
    """The condition under which a clicked pair is an edge."""
    return f"actions >= {min_clicks!r}" + (f" AND users >= {min_users}" if min_users > 1 else "")
