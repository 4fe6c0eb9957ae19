"""The tables of an event log on Spark, by the rules that the local engine follows."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from coclick.logs import rules
from coclick.logs.names import Action
from coclick.spark.storage import Work

_DIV = "div"
_COLUMNS = {"user": "usr AS u", "timestamp": "ts AS t", "position": "position"}


def aggregate(
    spark: SparkSession, rows: DataFrame, fields: set[str], actions: Sequence[Action], work: Work
) -> tuple[DataFrame, DataFrame | None]:
    """The clicked pairs (q, d, clicks, actions[, users]), and all pairs with their counts, if any."""
    columns = [sql for name, sql in _COLUMNS.items() if name in fields]
    rows.selectExpr("query AS q", "doc AS d", "act AS a", *columns).createOrReplaceTempView("event")
    lowest = None
    if "position" in fields:
        lowest = spark.sql("SELECT min(position) FROM event").collect()[0][0]
    impressions = spark.sql("SELECT 1 FROM event WHERE a = 0 LIMIT 1").count() > 0
    users, days = "user" in fields, "timestamp" in fields
    sessions = users and days
    counts = rules.action_counts(actions)
    if sessions:
        _view(spark, work, "stretch", _SESSIONS)
        _view(spark, work, "page", rules.pages(lowest, counts, _DIV))
        spark.sql(rules.clicked_pages(actions)).createOrReplaceTempView("click")
    else:
        spark.sql(rules.plain_pages(lowest, days, _DIV)).createOrReplaceTempView("page")
        spark.sql(rules.plain_clicks(counts, days, users, _DIV)).createOrReplaceTempView("click")
    _view(spark, work, "clicked", rules.clicked_days(counts, users, sessions))
    candidates = spark.sql(rules.weighted_clicks(actions))
    if users:
        _view(spark, work, "clickers", rules.clickers())
        candidates = candidates.join(spark.table("clickers"), ["q", "d"])
    if not (impressions or users or days):
        return candidates, None
    return candidates, _pairs(spark, impressions, users, sessions)


# Each user's sessions have numbers of their own, so that nothing is sorted as a whole.
_SESSIONS = f"""
    SELECT u, b, struct(u, sum(starts) OVER (PARTITION BY u ORDER BY b ROWS UNBOUNDED PRECEDING)) AS s
    FROM ({rules.session_starts(_DIV)}) AS marked"""


def _view(spark: SparkSession, work: Work, name: str, sql: str) -> None:
    """A table that is computed once."""
    work.saved(name, spark.sql(sql)).createOrReplaceTempView(name)


def _pairs(spark: SparkSession, impressions: bool, users: bool, sessions: bool) -> DataFrame:
    """Every pair that was shown or clicked: impressions, users, sessions, navigational clicks."""
    key = ["q", "d", "day"]
    days = spark.table("clicked").select(
        *key,
        F.lit(1).alias("clicked"),
        (F.col("navigational") if sessions else F.lit(0)).alias("navigational"),
    )
    if impressions:
        days = days.join(spark.table("page").groupBy(*key).count(), key, "full")
        # Without sessions, a click on a day that shows no impression is one.
        shown = F.col("count") if sessions else F.greatest("count", "clicked")
    else:
        shown = F.lit(0)
    sums = {"impressions": F.sum(F.coalesce(shown, F.lit(0)))} if impressions else {}
    if sessions:
        sums["navigational"] = F.sum(F.coalesce("navigational", F.lit(0)))
    pairs = days.groupBy("q", "d").agg(
        F.count("*").alias("days"), *(total.cast("long").alias(name) for name, total in sums.items())
    )
    if impressions and sessions:  # a document counts once a page, and a page is of one session
        pairs = pairs.withColumn("sessions", F.col("impressions"))
    if users:
        pairs = pairs.join(spark.table("clickers"), ["q", "d"], "left")
        pairs = pairs.withColumn("users", F.coalesce("users", F.lit(0)))
    return pairs.drop("days")
