"""SQL that aggregates events and clicks by (query, document), for both DuckDB and Spark.

Each function returns a query over the tables before it. `div` is the integer division operator, the only one
that the two engines spell differently. The engine numbers the sessions: DuckDB globally, Spark per user.

A row without a user (`u` is null) has a session only if the log names it. A row without a session (`s` is
null) counts as it does in a log without sessions. No count of users counts rows without one.

    event (q, d, a[, u, t, s, position])        query, document, action code (0 is an impression,
                                                i the i-th action), user, time in microseconds,
                                                session if the log names it
    search (q[, u, t, s, results])              searches that the log records, with the number of results
    visit (u[, s], b, q, began, ended, …)       a user's rows for a query in half hour b (of a session)
    half_hour (u, b, began, ended, …)           a user's rows in half hour b
    session_slot (u, b, s)                      the session s of user u in half hour b
    session (s, u)
    page (s, u, q, t, clicked, …)               one row for each result page, searches without results too
    result_page (s, q, d, day, position, c1 …)  one row for each document on each result page
    click (s, u, q, d, day, position, c1 …, navigational)    the rows of result_page with a click
    clicked (q, d, day, c1 …[, navigational, users])         ci counts the i-th action
    clickers (q, d, users)
    skip (q, clicked, skipped, n)
    searched (q[, day], searches, without_clicks[, without_results])
    followup (q, next, n, users)
"""

from __future__ import annotations

from collections.abc import Sequence

from coclick.graph.recency import HalfLife
from coclick.logs.schema import SEARCH, Action, click_codes, long_click_codes

MICRO = 1_000_000  # clicks are summed in millionths: exact, so independent of the order of rows
GAP = 30 * 60 * 1_000_000  # microseconds; a longer gap between events starts a new session
_BILLION = 1_000_000_000
DAY = 24 * 60 * 60 * 1_000_000


def pair_sums(fields: set[str]) -> str:
    """Return the select list that sums clicks, impressions and users of an aggregated log.

    The users of two rows may be the same, so a pair has at least as many as its largest row: `known_users`.
    """
    counts = [name for name in ("impressions", "users") if name in fields]
    sums = "".join(f", CAST(sum({name}) AS BIGINT) AS {name}" for name in counts)
    known = ", max(users) AS known_users" if "users" in fields else ""
    return f"CAST(sum(clicks) AS DOUBLE) / {MICRO} AS clicks {sums} {known}"


def action_counts(actions: Sequence[Action]) -> list[str]:
    """Return the names of the columns that count each action: c1, c2 …"""
    return [f"c{code}" for code in range(1, len(actions) + 1)]


def session_key(days: bool, div: str) -> str:
    """Return what identifies a session of one user: its id or, in a row without one, the user's day."""
    day = f"concat(' ', {day_of('ts', div)})" if days else "' '"
    return f"coalesce(session, {day})"


def visits(by_id: bool, days: bool, searches: bool, results: bool, div: str) -> str:
    """Return `visit`: what a user did for one query in one half hour.

    It has far fewer rows than `event`, and sessions, searches and follow-ups are computed from it. `searches`
    says whether there is a table `search`, `results` whether that has the number of results.
    """
    keys = ["u", "q", *(["s"] if by_id else []), *(["t"] if days else [])]
    source, counts = "event", "CAST(count(*) AS INTEGER) AS events"
    if searches:
        found = "CAST(results AS DOUBLE)" if results else "CAST(NULL AS DOUBLE)"
        source = f"""(
            SELECT {", ".join(keys)}, a, CAST(NULL AS DOUBLE) AS results FROM event UNION ALL
            SELECT {", ".join(keys)}, {SEARCH} AS a, {found} AS results FROM search) AS every"""
        counts = f"""{_count("a >= 0")} AS events, {_count("a < 0")} AS searches, max(results) AS results"""
    half_hour = half_hour_of("t", div) if days else "0"
    session = "s, " if by_id else ""
    first, last = ("min(t)", "max(t)") if days else ("CAST(NULL AS BIGINT)", "CAST(NULL AS BIGINT)")
    return f"""
        SELECT u, {session} {half_hour} AS b, q, {first} AS began, {last} AS ended, {counts},
            {_count("a > 0")} AS clicks
        FROM {source} WHERE NOT ({without_session(by_id)})
        GROUP BY u, {session} q {f", {half_hour}" if days else ""}"""


def without_session(by_id: bool) -> str:
    """Return the condition that an event or search has no session: no user and, `by_id`, no session id."""
    return "s IS NULL" if by_id else "u IS NULL"


def _count(condition: str) -> str:
    """The number of rows that meet a condition. In DuckDB count_if takes longer: it sums 128-bit numbers."""
    return f"CAST(count(nullif({condition}, false)) AS INTEGER)"


def half_hours(searches: bool) -> str:
    """Return `half_hour`, from which sessions are numbered and bots are suspected."""
    searched = ", CAST(sum(searches) AS BIGINT) AS searches" if searches else ""
    return f"""
        SELECT u, b, min(began) AS began, max(ended) AS ended, CAST(sum(clicks) AS BIGINT) AS clicks,
            count(*) AS visits {searched}
        FROM visit WHERE u IS NOT NULL GROUP BY u, b"""


def session_starts() -> str:
    """Return each user's half hours (u, b), with `starts` = 1 where a session begins.

    Events of a user in the same half hour are at most 30 minutes apart. So it is enough to compare the first
    event of a half hour with the last one of the half hour before, which sorts far fewer rows than events.
    """
    return f"""
        SELECT u, b, CASE WHEN began - lag(ended) OVER (PARTITION BY u ORDER BY b) <= {GAP}
            THEN 0 ELSE 1 END AS starts
        FROM half_hour"""


def sessions(by_id: bool) -> str:
    """Return `session`: the user of each session."""
    return f"SELECT s, min(u) AS u FROM {'visit' if by_id else 'session_slot'} GROUP BY s"


def pages(by_id: bool, searches: bool, impressions: bool) -> str:
    """Return `page`, with the time of its first row.

    A search found nothing if its page has no event and the log says that it had no results. If the log does
    not say it for this search, but has impressions, a page without any found nothing too.
    """
    source = "visit" if by_id else "visit JOIN session_slot AS slot ON visit.u = slot.u AND visit.b = slot.b"
    failed = ""
    if searches:
        unknown = 0 if impressions else 1
        failed = f", max(events) = 0 AND coalesce(max(results), {unknown}) = 0 AS failed"
    return f"""
        SELECT s, min(visit.u) AS u, q, min(began) AS t, max(clicks) > 0 AS clicked {failed}
        FROM {source} GROUP BY s, q"""


def searched(days: bool, failed: bool, div: str) -> str:
    """Return `searched`: how often each query was searched, by day if the log has times."""
    day = f", {day_of('t', div)}" if days else ""
    return f"""
        SELECT q {day and day + " AS day"}, count(*) AS searches,
            CAST(count_if(NOT clicked) AS BIGINT) AS without_clicks
            {", CAST(count_if(failed) AS BIGINT) AS without_results" if failed else ""}
        FROM page GROUP BY q {day}"""


def followups() -> str:
    """Return `followup`: the query of the next page in the session, by the time of their first rows."""
    return """
        SELECT q, next, CAST(sum(n) AS BIGINT) AS n, count(u) AS users
        FROM (SELECT q, next, u, count(*) AS n
              FROM (SELECT q, u, lead(q) OVER (PARTITION BY s ORDER BY t, q) AS next FROM page) AS ordered
              WHERE next IS NOT NULL GROUP BY q, next, u) AS by_user
        GROUP BY q, next"""


def half_hour_of(time: str, div: str) -> str:
    """Return the half hour of a time, counted from 1970."""
    return f"CAST({time} {div} {GAP} AS INTEGER)"


def day_of(time: str, div: str) -> str:
    """Return the day of a time, counted from 1970."""
    return f"CAST({time} {div} {DAY} AS INTEGER)"


def position_of(value: str, lowest: int | None) -> str:
    """Return the position counted from 1, even if the log counts from 0; 0 means unknown."""
    return "0" if lowest is None else f"CAST(coalesce({value} + {int(lowest == 0)}, 0) AS INTEGER)"


def result_pages(
    lowest: int | None, counts: Sequence[str], by_id: bool, days: bool, div: str, single: bool
) -> str:
    """Return `result_page`: a document once per page, on the day of its first event, at its best position.

    If `single`, there are events without a session: each of their impressions is a page.
    """
    clicks = "".join(f", {_count(f'a = {c[1:]}')} AS {c}" for c in counts)
    source, day = "event WHERE s IS NOT NULL", day_of("min(t)", div) if days else "0"
    if not by_id:
        source = f"""event
            JOIN session_slot AS slot ON event.u = slot.u AND {half_hour_of("event.t", div)} = slot.b"""
        day = f"CAST(min(b) {div} {DAY // GAP} AS INTEGER)"
    return f"""
        SELECT s, q, d, {day} AS day, {position_of("min(position)", lowest)} AS position {clicks}
        FROM {source} GROUP BY s, q, d""" + (
        f"""
        UNION ALL SELECT NULL AS s, q, d, {day_of("t", div) if days else "0"} AS day,
            {position_of("position", lowest)} AS position {"".join(f", 0 AS {name}" for name in counts)}
        FROM event WHERE a = 0 AND {without_session(by_id)}"""
        if single
        else ""
    )


def clicked_results(actions: Sequence[Action], by_id: bool, days: bool, div: str, single: bool) -> str:
    """Return `click`: the rows of `result_page` with a click. The only click of a session is navigational.

    If `single`, there are events without a session: each of their clicks is a row.
    """
    any_click = " + ".join(action_counts(actions))
    clicks = _click_actions(actions)
    return f"""
        SELECT result_page.*, u, CAST(alone AND {clicks} > 0 AS INTEGER) AS navigational
        FROM result_page
            JOIN session USING (s)
            JOIN (
                SELECT s, sum({clicks}) = 1 AS alone FROM result_page WHERE {any_click} > 0 GROUP BY s
            ) AS clicks_of_session USING (s)
        WHERE {any_click} > 0""" + (
        f"""
        UNION ALL SELECT NULL AS s, q, d, {day_of("t", div) if days else "0"} AS day, 0 AS position
            {_as_counts(action_counts(actions))}, u, 0 AS navigational
        FROM event WHERE a > 0 AND {without_session(by_id)}"""
        if single
        else ""
    )


def _as_counts(counts: Sequence[str]) -> str:
    """The action of one event as columns c1, c2 …, of which one is 1."""
    return "".join(f", CAST(a = {name[1:]} AS INTEGER) AS {name}" for name in counts)


def _click_actions(actions: Sequence[Action]) -> str:
    """Count of proper clicks in a row of `result_page`: carts and purchases only follow clicks."""
    codes = [*click_codes(actions), *long_click_codes(actions)]
    return " + ".join(f"c{code}" for code in sorted(codes))


def impressions_without_sessions(lowest: int | None, days: bool, div: str) -> str:
    """Return `result_page` of a log without sessions: one row for each impression."""
    day = day_of("t", div) if days else "0"
    return f"SELECT q, d, {day} AS day, {position_of('position', lowest)} AS position FROM event WHERE a = 0"


def clicks_without_sessions(counts: Sequence[str], days: bool, users: bool, div: str) -> str:
    """Return `click` of a log without sessions: one row for each click."""
    day = day_of("t", div) if days else "0"
    user = ", u" if users else ""
    return f"SELECT q, d, {day} AS day {user} {_as_counts(counts)} FROM event WHERE a > 0"


def clicks_by_day(counts: Sequence[str], users: bool, sessions: bool) -> str:
    """Return `clicked`. Grouping twice counts distinct users in half the time of count(DISTINCT)."""
    summed = [*counts, *(["navigational"] if sessions else [])]
    sums = ", ".join(f"CAST(sum({name}) AS BIGINT) AS {name}" for name in summed)
    if not users:
        return f"SELECT q, d, day, {sums} FROM click GROUP BY q, d, day"
    return f"""
        SELECT q, d, day, {sums}, count(u) AS users
        FROM (SELECT q, d, day, u, {sums} FROM click GROUP BY q, d, day, u) AS by_user GROUP BY q, d, day"""


def clickers() -> str:
    """Return `clickers`: how many users clicked each pair."""
    return """
        SELECT q, d, count(u) AS users FROM (SELECT q, d, u FROM click GROUP BY q, d, u) AS by_user
        GROUP BY q, d"""


def weighted_clicks(actions: Sequence[Action], half_life: HalfLife | None = None) -> str:
    """Return for each pair its weighted clicks, and the unweighted number of actions that count as clicks.

    With a half-life, the clicks of a day decay with its age. They are summed in billionths: exact, so
    independent of the order of rows.
    """
    names = action_counts(actions)
    counts = [f"sum({name})" for name in names]
    summed = counts if half_life is None else names
    weighted = [f"CAST({a.weight!r} AS DOUBLE) * {n}" for a, n in zip(actions, summed, strict=True)]
    clicks = " + ".join(weighted)
    if half_life is not None:
        age = f"greatest({half_life.last_day} - day, 0) / CAST({half_life.days!r} AS DOUBLE)"
        units = f"({clicks}) * power(CAST(2 AS DOUBLE), -({age})) * {_BILLION}"
        clicks = f"CAST(sum(CAST(round({units}) AS BIGINT)) AS DOUBLE) / {_BILLION}"
    return f"""
        SELECT q, d, {clicks} AS clicks, {" + ".join(counts)} AS actions
        FROM clicked GROUP BY q, d"""


def busiest_users_share(counts: Sequence[str]) -> str:
    """Return the share of all clicks made by the ten busiest users. A high share suggests bots."""
    return f"""
        WITH by_user AS (SELECT u, sum({" + ".join(counts)}) AS n FROM click GROUP BY u),
            busiest AS (SELECT n FROM by_user WHERE u IS NOT NULL ORDER BY n DESC LIMIT 10)
        SELECT round((SELECT coalesce(sum(n), 0) FROM busiest) / sum(n), 4) FROM by_user"""


def pairs_of_users(min_users: int) -> str:
    """Return the pairs (q, d) that at least `min_users` users saw or clicked."""
    return f"""
        SELECT q, d FROM (SELECT q, d, u FROM event GROUP BY q, d, u) AS by_user
        GROUP BY q, d HAVING count(u) >= {min_users}"""


def skips(counts: Sequence[str], min_users: int) -> str:
    """Return `skip` by Joachims' rule: a clicked document is preferred to unclicked ones above it.

    At least `min_users` users must have made the skip.
    """
    of_users = f"HAVING count(DISTINCT u) >= {min_users}" if min_users > 1 else ""
    return f"""
        SELECT click.q AS q, click.d AS clicked, passed.d AS skipped, count(*) AS n
        FROM (
            SELECT s, q, d, position FROM result_page WHERE {" + ".join(counts)} = 0 AND position > 0
        ) AS passed
            JOIN click ON passed.s = click.s AND passed.q = click.q AND passed.position < click.position
                AND click.position > 1
        GROUP BY click.q, click.d, passed.d {of_users}"""


def is_rejected(has_actions: bool) -> str:
    """Return the condition that a row is rejected: it has an error and its action is not ignored.

    Errors in ignored rows (`action_code` is null) are not reported: other actions, events outside the span.
    """
    counted = "(action_code IS NOT NULL OR action IS NULL)" if has_actions else "action_code IS NOT NULL"
    return f"error IS NOT NULL AND {counted}"


def passes_thresholds(min_clicks: float, min_users: int, users: str) -> str:
    """Return the condition that a clicked pair becomes an edge; `users` is the column that counts users."""
    return f"actions >= {min_clicks!r} AND clicks > 0" + (
        f" AND {users} >= {min_users}" if min_users > 1 else ""
    )
