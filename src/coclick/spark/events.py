"""Aggregate an event log on Spark, with the SQL of the local engine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from coclick.logs import aggregation_sql, recency
from coclick.logs import bots as bots_sql
from coclick.logs.bots import Policy
from coclick.logs.events import anonymous_stats, count_anonymous, has_sessions, span
from coclick.logs.schema import Action
from coclick.logs.searches import counts_searches, knows_failures, search_sums
from coclick.logs.validation import only_bots_error
from coclick.spark.storage import WorkDir

_DIV = "div"
_COLUMNS = {"user": "usr AS u", "timestamp": "ts AS t"}


@dataclass(frozen=True)
class EventTables:
    """The tables of an event log, with strings for ids; what the log does not contain is None or absent."""

    candidates: DataFrame  # clicked pairs: q, d, clicks, actions[, users]
    pairs: DataFrame | None  # pairs that were shown or clicked: q, d and counts
    history: dict[str, DataFrame]  # daily, skips, searches and followups
    stats: dict[str, Any]  # users, sessions and times, as the local engine counts them


def aggregate(
    spark: SparkSession,
    rows: DataFrame,
    searches: DataFrame | None,
    fields: set[str],
    actions: Sequence[Action],
    work: WorkDir,
    min_users: int,
    bots: Policy = "flag",
    half_life_days: float | None = None,
) -> EventTables:
    """Aggregate the events, and the searches that the log records.

    With `min_users`, all tables but the candidates and the searches are without what fewer did.
    """
    columns = ["query AS q", *(sql for name, sql in _COLUMNS.items() if name in fields)]
    users, days, by_id = (name in fields for name in ("user", "timestamp", "session"))
    if by_id:
        key = f"struct(coalesce(usr, '') AS u, {aggregation_sql.session_key(days, _DIV)} AS number)"
        columns.append(f"CASE WHEN usr IS NOT NULL OR session IS NOT NULL THEN {key} END AS s")
    position = ["position"] if "position" in fields else []
    rows.selectExpr(*columns, "doc AS d", "action_code AS a", *position).createOrReplaceTempView("event")
    if searches is not None:
        results = ["results"] if "results" in fields else []
        searches.selectExpr(*columns, *results).createOrReplaceTempView("search")
    sessions = has_sessions(users, by_id, days)
    if sessions:
        visits = aggregation_sql.visits(by_id, days, searches is not None, "results" in fields, _DIV)
        _view(spark, work, "visit", visits)
        spark.sql(aggregation_sql.half_hours(searches is not None)).createOrReplaceTempView("half_hour")
    stats: dict[str, Any] = {"bots": _look_for_bots(spark, work, bots, fields, searches is not None)}
    lowest_position = "min(position)" if "position" in fields else "NULL"
    times = "min(t), max(t)" if days else "NULL, NULL"
    anonymous = ", ".join(count_anonymous(fields))
    lowest, impressions, first, last, without_user, without_session = spark.sql(
        f"SELECT {lowest_position}, bool_or(a = 0), {times}, {anonymous} FROM event"
    ).collect()[0]
    single = without_session > 0
    if impressions is None and stats["bots"].get("n_users"):
        raise only_bots_error(stats["bots"])
    impressions = stats["has_impressions"] = bool(impressions)
    counts = aggregation_sql.action_counts(actions)
    if sessions:
        if not by_id:
            _view(spark, work, "session_slot", _SESSIONS)
        _view(spark, work, "session", aggregation_sql.sessions(by_id))
        pages = aggregation_sql.result_pages(lowest, counts, by_id, days, _DIV, single)
        _view(spark, work, "result_page", pages)
        _view(spark, work, "click", aggregation_sql.clicked_results(actions, by_id, days, _DIV, single))
    else:
        pages = aggregation_sql.impressions_without_sessions(lowest, days, _DIV)
        spark.sql(pages).createOrReplaceTempView("result_page")
        clicks = aggregation_sql.clicks_without_sessions(counts, days, users, _DIV)
        spark.sql(clicks).createOrReplaceTempView("click")
    _view(spark, work, "clicked", aggregation_sql.clicks_by_day(counts, users, sessions))
    limit = recency.future_limit()
    half_life = recency.half_life_of(half_life_days, last or 0, limit)
    candidates = spark.sql(aggregation_sql.weighted_clicks(actions, half_life))
    if users:
        _view(spark, work, "clickers", aggregation_sql.clickers())
        candidates = candidates.join(spark.table("clickers"), ["q", "d"])
        stats |= _user_stats(spark, counts, sessions)
        if searches is not None:
            more = spark.sql(f"SELECT {anonymous} FROM search").collect()[0]
            without_user, without_session = without_user + more[0], without_session + more[1]
        stats |= anonymous_stats(without_user, without_session)
    if days and first is not None:
        by_day = [tuple(row) for row in spark.sql(recency.events_by_day(False, _DIV)).collect()]
        future = spark.sql(recency.future_events(limit)).collect()[0][0]
        stats |= span(first, last) | recency.day_stats(by_day, future)
    if half_life is not None:
        stats["half_life"] = half_life.stats
    shown = spark.table("result_page")
    if min_users > 1:
        shown = _drop_rare(spark, min_users)
    if not (impressions or users or days):
        return EventTables(candidates, None, {}, stats)
    positions = impressions and lowest is not None
    daily_counts = _daily(spark, actions, shown if impressions else None, users, sessions, positions)
    daily = work.checkpoint("daily", daily_counts)
    history = {"daily": daily} if days else {}
    if sessions and positions:
        history["skips"] = spark.sql(aggregation_sql.skips(counts, min_users)).withColumnRenamed("n", "count")
    if sessions:
        known = knows_failures(searches is not None, impressions, "results" in fields)
        pages = aggregation_sql.pages(by_id, searches is not None, impressions)
        spark.sql(pages).createOrReplaceTempView("page")
        if counts_searches(sessions, searches is not None, impressions):
            _view(spark, work, "searched", aggregation_sql.searched(days, known, _DIV))
            history["searches"] = spark.table("searched")
            sums = search_sums(known)
            totals = spark.sql(f"SELECT {', '.join(sums.values())} FROM searched").collect()[0]
            stats |= dict(zip(sums, totals, strict=True))
        if days:
            followups = spark.sql(aggregation_sql.followups()).filter(F.col("users") >= min_users)
            history["followups"] = followups.withColumnRenamed("n", "count")
    return EventTables(candidates, _pairs(spark, daily, users), history, stats)


def _look_for_bots(
    spark: SparkSession, work: WorkDir, policy: Policy, fields: set[str], searches: bool
) -> dict[str, Any]:
    """Flag users, and remove their rows from the views if `policy` is drop; returns the statistics."""
    if policy == "keep":
        return {"policy": policy}
    if missing := bots_sql.missing_fields(True, fields):
        return {"policy": policy, "not_looked_for": f"the log has no {missing}"}
    _view(spark, work, "suspect", bots_sql.suspects(searches))
    _view(spark, work, "suspect_row", bots_sql.suspect_rows(searches))
    seconds = spark.sql(bots_sql.has_seconds()).collect()[0][0]
    impressions = bool(spark.sql("SELECT bool_or(a = 0) FROM event").collect()[0][0])
    _view(spark, work, "flagged", bots_sql.flagged(seconds, impressions, _DIV))
    _view(spark, work, "bot", bots_sql.bots("SELECT DISTINCT u, u AS name FROM flagged", searches))
    order = "SELECT name, rule, value, events FROM bot ORDER BY events DESC, name"
    rows = [tuple(row) for row in spark.sql(order).collect()]
    clicks, edges = spark.sql(bots_sql.clicked_by_bots()).collect()[0] if rows else (0, 0)
    if policy == "drop" and rows:
        for table in bots_sql.tables_by_user(searches):
            kept = spark.table(table).join(spark.table("bot").select("u"), "u", "left_anti")
            kept.createOrReplaceTempView(table)
    return bots_sql.bot_stats(policy, rows, clicks, edges)


# Sessions are numbered per user, which avoids a global sort.
_SESSIONS = f"""
    SELECT u, b, struct(
        u, sum(starts) OVER (PARTITION BY u ORDER BY b ROWS UNBOUNDED PRECEDING) AS number) AS s
    FROM ({aggregation_sql.session_starts()}) AS marked"""


def _drop_rare(spark: SparkSession, min_users: int) -> DataFrame:
    """Drop the clicks that few users made, as the local engine does; return the pairs that enough saw."""
    enough = spark.table("clickers").filter(F.col("users") >= min_users)
    enough.createOrReplaceTempView("clickers")
    clicked = spark.table("clicked").join(enough.select("q", "d"), ["q", "d"], "left_semi")
    clicked.createOrReplaceTempView("clicked")
    pairs = spark.sql(aggregation_sql.pairs_of_users(min_users))
    return spark.table("result_page").join(pairs, ["q", "d"], "left_semi")


def _user_stats(spark: SparkSession, counts: Sequence[str], sessions: bool) -> dict[str, Any]:
    """The number of users and sessions, and the share of clicks by the most active users."""
    share = spark.sql(aggregation_sql.busiest_users_share(counts)).collect()[0][0]
    found: dict[str, Any] = {"busiest_users_share": share}
    if not sessions:
        found["users"] = spark.table("event").agg(F.count_distinct("u")).collect()[0][0]
        return found
    found["users"], found["sessions"] = (
        spark.table("session").agg(F.count_distinct("u"), F.count("*")).collect()[0]
    )
    return found


def _view(spark: SparkSession, work: WorkDir, name: str, sql: str) -> None:
    """Compute a table once and register it as a view."""
    work.checkpoint(name, spark.sql(sql)).createOrReplaceTempView(name)


def _daily(
    spark: SparkSession,
    actions: Sequence[Action],
    pages: DataFrame | None,
    users: bool,
    sessions: bool,
    positions: bool,
) -> DataFrame:
    """For each pair and day: the counts and, with the pages that showed it, a histogram of positions."""
    key = ["q", "d", "day"]
    weighted = F.lit(0.0)
    for name, action in zip(aggregation_sql.action_counts(actions), actions, strict=True):
        weighted += F.lit(float(action.weight)) * F.col(name)
    counts = {"clicks": weighted.cast("float")}
    if users:
        counts["users"] = F.col("users")
    if sessions:
        counts["navigational"] = F.col("navigational")
    clicked = spark.table("clicked").select(*key, *(value.alias(name) for name, value in counts.items()))
    if pages is None:
        return clicked
    shown = pages.groupBy(*key).agg(F.count("*").alias("impressions"))
    if positions:
        shown = _with_positions(pages, key)
    days = clicked.withColumn("clicked", F.lit(1)).join(shown, key, "full")
    # A click without a session, on a day without impressions, counts as an impression.
    seen = F.greatest("impressions", "clicked")
    filled = {name: F.coalesce(name, F.lit(0)).cast(kind) for name, kind in clicked.dtypes if name in counts}
    filled["impressions"] = F.coalesce(seen, F.lit(0))
    if sessions:  # a document counts once per result page, and a page belongs to one session
        filled["sessions"] = filled["impressions"]
    if positions:
        filled["positions"] = F.coalesce("positions", F.array())
    return days.withColumns(filled).drop("clicked")


def _with_positions(page: DataFrame, key: list[str]) -> DataFrame:
    """Impressions by pair and day, in total and at each known position."""
    by_position = page.groupBy(*key, "position").count()
    shown = F.when(F.col("position") > 0, F.struct("position", F.col("count").cast("int").alias("shown")))
    return by_position.groupBy(*key).agg(
        F.sum("count").alias("impressions"), F.sort_array(F.collect_list(shown)).alias("positions")
    )


def _pairs(spark: SparkSession, daily: DataFrame, users: bool) -> DataFrame:
    """Sum the days of each pair; users are counted separately, because they return on other days."""
    summed = [name for name in ("impressions", "sessions", "navigational") if name in daily.columns]
    pairs = daily.groupBy("q", "d").agg(
        F.count("*").alias("days"), *(F.sum(name).cast("long").alias(name) for name in summed)
    )
    if users:
        pairs = pairs.join(spark.table("clickers"), ["q", "d"], "left")
        pairs = pairs.withColumn("users", F.coalesce("users", F.lit(0)))
    return pairs.drop("days")
