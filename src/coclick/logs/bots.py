"""Find users that are probably programs: crawlers, monitors, click farms.

`RULES` is the one place of all rules and thresholds; docs/logs.md shows the same table. The SQL runs on
DuckDB and Spark, over the tables of `logs.aggregation_sql`. Most users have far too few rows for any rule.
So `half_hour` is aggregated by user first, and only the rows of users with enough of them (`suspect`) are
looked at one by one. Rules are for single people: an id that hundreds share may look like a program.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from coclick.errors import UserError
from coclick.logs.aggregation_sql import DAY, GAP
from coclick.logs.duckdb_session import DuckDBSession
from coclick.logs.reader import LogReader
from coclick.logs.schema import SEARCH

Policy = Literal["flag", "drop", "keep"]
POLICIES: tuple[Policy, ...] = ("flag", "drop", "keep")
MAX_LISTED = 50
_SECOND, _MINUTE = 1_000_000, 60_000_000
_MIN_RESULTS = 5  # on a page, for the share of clicked results


@dataclass(frozen=True)
class Rule:
    """A rule: a user is flagged if `value` reaches the threshold. `least` is the evidence that it needs."""

    name: str
    value: str
    threshold: float
    least: int
    of: str  # what `least` counts
    reason: str
    below: bool = False  # flagged at values up to the threshold, instead of from it on

    def row(self) -> str:
        """Return the rule as a row of the table in docs/logs.md."""
        limit = f"{'≤' if self.below else '≥'} {self.threshold:,g}"
        return f"| `{self.name}` | {self.value} | {limit} | {self.least:,} {self.of} | {self.reason} |"


RULES = (
    Rule(
        *("clicks_per_minute", "clicks and searches in the busiest minute", 60, 60, "clicks and searches"),
        "reading a title takes about a second; nobody clicks every second for a whole minute",
    ),
    Rule(
        *("clicks_per_day", "clicks and searches on the busiest day", 2000, 2000, "clicks and searches"),
        "one every 22 seconds for 12 hours without a pause",
    ),
    Rule(
        *("queries_per_day", "distinct queries on the busiest day", 1000, 1000, "queries"),
        "a new query every 43 seconds for 12 hours without a pause",
    ),
    Rule(
        *("uniform_gaps", "standard deviation over mean of the times between events", 0.3, 50, "gaps"),
        "people pause for seconds or minutes, about 1 or more; timers are near 0, random delays below 0.3",
        below=True,
    ),
    Rule(
        *(
            "clicks_everything",
            "share of shown results that were clicked",
            0.8,
            10,
            "pages of 5 results or more",
        ),
        "people choose: they click one or two results of a page",
    ),
    Rule(
        *("no_dwell", "share of clicks that the next click follows within a second", 0.9, 30, "clicks"),
        "people look at what they open, if only for a moment; some open ten tabs at once, but not always",
    ),
)
_RULE = {rule.name: rule for rule in RULES}
_IN_SECONDS = ("clicks_per_minute", "uniform_gaps", "no_dwell")  # rules that times in whole minutes mislead


def check_policy(policy: Any, events: bool, fields: set[str]) -> None:
    """Raise unless the policy exists and, if bots are to be dropped, the log has users and times."""
    if policy not in POLICIES:
        raise UserError(f"bots must be flag, drop or keep, not {policy!r}", where="--bots")
    if policy == "drop" and (missing := missing_fields(events, fields)):
        raise UserError(f"bots cannot be looked for: the log has no {missing}", hint="leave --bots drop out")


def missing_fields(events: bool, fields: set[str]) -> str:
    """Return what the log lacks to look for bots, or the empty string."""
    needed = {"user": "users", "timestamp": "times"} if events else {"": "events, only counts"}
    return " and no ".join(what for name, what in needed.items() if name not in fields)


def suspects(searches: bool) -> str:
    """Return `suspect`: the users with enough rows for a rule."""
    acts = "clicks + searches" if searches else "clicks"
    enough = _RULE["clicks_everything"].least * _MIN_RESULTS * _RULE["clicks_everything"].threshold
    # One query, repeated by a timer every 10 to 30 minutes, is active in every half hour.
    # Nine in ten clicks within a second of the next one make runs of ten, each in one half hour or two.
    return f"""
        SELECT u FROM (SELECT u, clicks, visits, {acts} AS acts FROM half_hour) AS half_hours
        GROUP BY u
        HAVING max(acts) >= {_RULE["clicks_per_minute"].least}
            OR sum(acts) >= {_RULE["clicks_per_day"].least}
            OR sum(visits) + sum(acts) > {_RULE["uniform_gaps"].least}
            OR count(*) > {_RULE["uniform_gaps"].least // 3}
            OR sum(clicks) >= {enough:g}
            OR (sum(clicks) >= {_RULE["no_dwell"].least} AND sum(clicks) >= 5 * count(*))"""


def suspect_rows(searches: bool) -> str:
    """Return `suspect_row` (u, q, d, a, t): the events and searches of these users."""
    those = "u IN (SELECT u FROM suspect)"
    rows = f"SELECT u, q, d, a, t FROM event WHERE {those}"
    if searches:
        rows += f" UNION ALL SELECT u, q, NULL AS d, {SEARCH} AS a, t FROM search WHERE {those}"
    return rows


def has_seconds() -> str:
    """Return whether the times are more exact than minutes."""
    return f"SELECT coalesce(max(t % {_MINUTE}), 0) > 0 FROM suspect_row"


def flagged(seconds: bool, impressions: bool, div: str) -> str:
    """Return (u, rule, value) for every user and rule that flags it; `rule` is its place in RULES."""
    day = f"CAST(t {div} {DAY} AS INTEGER)"
    half = "(SELECT * FROM visit WHERE u IN (SELECT u FROM suspect)) AS visits"
    days = f"b {div} {DAY // GAP}"
    found = {
        "clicks_per_minute": f"""
            SELECT u, max(n) AS value, max(n) AS n FROM (
                SELECT u, t {div} {_MINUTE} AS minute, count(*) AS n FROM suspect_row WHERE a <> 0
                GROUP BY u, t {div} {_MINUTE}) AS minutes GROUP BY u""",
        "clicks_per_day": f"""
            SELECT u, max(n) AS value, max(n) AS n FROM (
                SELECT u, {day} AS day, count(*) AS n FROM suspect_row WHERE a <> 0 GROUP BY u, {day}) AS days
            GROUP BY u""",
        "queries_per_day": f"""
            SELECT u, max(n) AS value, max(n) AS n FROM (
                SELECT u, {days} AS day, count(DISTINCT q) AS n FROM {half} GROUP BY u, {days}) AS days
            GROUP BY u""",
        "uniform_gaps": f"""
            SELECT u, stddev_pop(gap) / avg(gap) AS value, count(*) AS n FROM (
                SELECT u, t - lag(t) OVER (PARTITION BY u ORDER BY t) AS gap
                FROM (SELECT DISTINCT u, t FROM suspect_row) AS times) AS gaps
            WHERE gap <= {GAP} GROUP BY u""",
        "clicks_everything": f"""
            SELECT u, sum(clicked) / sum(shown) AS value, count(*) AS n FROM (
                SELECT u, q, day, count(*) AS shown, count_if(clicked) AS clicked FROM (
                    SELECT u, q, {day} AS day, d, max(a) > 0 AS clicked FROM suspect_row WHERE a >= 0
                    GROUP BY u, q, {day}, d) AS results
                GROUP BY u, q, day HAVING count(*) >= {_MIN_RESULTS}) AS pages
            GROUP BY u""",
        "no_dwell": f"""
            SELECT u, count_if(gap <= {_SECOND}) / count(*) AS value, count(*) AS n FROM (
                SELECT u, lead(t) OVER (PARTITION BY u ORDER BY t) - t AS gap
                FROM suspect_row WHERE a > 0) AS clicks
            GROUP BY u""",
    }
    parts = [
        f"""SELECT u, {place} AS rule, CAST(value AS DOUBLE) AS value FROM ({found[rule.name]}) AS measured
            WHERE n >= {rule.least} AND value {"<=" if rule.below else ">="} {rule.threshold}"""
        for place, rule in enumerate(RULES)
        if (seconds or rule.name not in _IN_SECONDS) and (impressions or rule.name != "clicks_everything")
    ]
    return " UNION ALL ".join(parts)


def bots(names: str, searches: bool) -> str:
    """Return `bot` (u, name, rule, value, events): each flagged user with the first rule that flags it.

    `names` is a relation (u, name) with the names of users.
    """
    rows = "sum(events)" + (" + sum(searches)" if searches else "")
    return f"""
        SELECT chosen.u AS u, name, chosen.rule AS rule, value, n AS events
        FROM (SELECT u, min(rule) AS rule FROM flagged GROUP BY u) AS chosen
            JOIN flagged ON flagged.u = chosen.u AND flagged.rule = chosen.rule
            JOIN (SELECT u, CAST({rows} AS BIGINT) AS n FROM visit GROUP BY u) AS counts
                ON counts.u = chosen.u
            JOIN ({names}) AS names ON names.u = chosen.u"""


def clicked_by_bots() -> str:
    """Return how many actions are by bots, and how many clicked pairs nobody else clicked."""
    theirs = "a > 0 AND u IN (SELECT u FROM bot)"
    others = "a > 0 AND (u IS NULL OR u NOT IN (SELECT u FROM bot))"
    return f"""
        SELECT (SELECT count(*) FROM event WHERE {theirs}), (SELECT count(*) FROM (
            SELECT q, d FROM event WHERE {theirs} EXCEPT SELECT q, d FROM event WHERE {others}) AS alone)"""


def tables_by_user(searches: bool) -> list[str]:
    """Return the tables from which the rows of bots are dropped."""
    return ["event", "visit", "half_hour", *(["search"] if searches else [])]


def look_for_bots(db: DuckDBSession, log: LogReader, policy: Policy) -> dict[str, Any]:
    """Flag users in DuckDB, and remove their rows from `tables_by_user` if `policy` is drop.

    Needs the tables `visit` and `half_hour`. Returns the statistics.
    """
    if policy == "keep":
        return {"policy": policy}
    if missing := missing_fields(True, log.fields):
        return {"policy": policy, "not_looked_for": f"the log has no {missing}"}
    searches = log.has_searches
    impressions = bool(db.fetch_value("SELECT count(*) FROM event WHERE a = 0"))
    db.execute(f"CREATE TABLE suspect AS {suspects(searches)}")
    db.execute(f"CREATE TABLE suspect_row AS {suspect_rows(searches)}")
    found = flagged(db.fetch_value(has_seconds()), impressions, "//")
    names = "SELECT id AS u, name FROM log_user"
    db.execute(f"CREATE TABLE flagged AS {found}; CREATE TABLE bot AS {bots(names, searches)}")
    order = "SELECT name, rule, value, events FROM bot ORDER BY events DESC, name"
    rows = db.fetchall(order)
    clicks, edges = db.fetchall(clicked_by_bots())[0] if rows else (0, 0)
    if policy == "drop" and rows:
        for table in tables_by_user(searches):
            db.execute(f"DELETE FROM {table} WHERE u IN (SELECT u FROM bot)")
    db.execute("DROP TABLE suspect; DROP TABLE suspect_row; DROP TABLE flagged")
    return bot_stats(policy, rows, clicks, edges)


def bot_stats(policy: Policy, found: Sequence[Sequence[Any]], clicks: int, edges: int) -> dict[str, Any]:
    """Return the statistics of rows (user, rule, value, events), the busiest first."""
    listed = [
        {
            "user": shown_user(user),
            "rule": RULES[rule].name,
            "value": round(value, 4),
            "threshold": RULES[rule].threshold,
            "events": events,
        }
        for user, rule, value, events in found[:MAX_LISTED]
    ]
    totals = {"n_users": len(found), "n_events": sum(row[-1] for row in found)}
    return {"policy": policy, **totals, "n_clicks": clicks, "n_edges": edges, "users": listed}


def shown_user(user: str) -> str:
    """Return a user's name as it is written to statistics: the only place that writes one."""
    return user
