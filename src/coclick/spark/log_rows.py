"""The rows of a log on Spark: typed fields, action codes and rejected rows.

A row is valid, rejected, or ignored because its action is neither an impression nor a click. Rejected rows
are kept with the reason, as in the local engine's `rejects.parquet`, but without file and line.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import reduce
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from coclick.logs import aggregation_sql
from coclick.logs.product_views import ViewShape, shape_sql
from coclick.logs.schema import SEARCH, Action, action_names, with_dwell
from coclick.logs.time_options import check_outside
from coclick.logs.times import COUNT_ORDERS, TimeSpan, decide_order
from coclick.logs.typed_fields import BLANK_QUERY, BLANK_SCRUBBED
from coclick.logs.validation import classify_actions, most_common_actions
from coclick.spark.storage import TableWriter, WorkDir
from coclick.spark.typed_fields import FieldParser


class LogRows:
    """A parsed log and its row counts."""

    def __init__(self, log: DataFrame, parser: FieldParser, work: WorkDir) -> None:
        self.format, self.times, self._privacy = parser.format, parser.times, parser.privacy
        read = log.select(*(log[f"`{name.replace('`', '``')}`"] for name in parser.columns))
        self._rows = work.checkpoint("rows", read.mapInArrow(parser, parser.schema))
        if order := self._date_order():
            self.times = replace(parser.times, order=order)
            parser = replace(parser, times=self.times)
            self._rows = work.checkpoint("rows_in_order", read.mapInArrow(parser, parser.schema))
        self._rows = self._rows.drop("date_text")
        self._fields = parser.fields
        self._has_actions = "action" in parser.fields
        self._counts = self._count()
        self._n_ignored = 0
        self.has_searches = False
        self.stats: dict[str, Any] = {}

    def _date_order(self) -> str | None:
        """Decide whether dates begin with the day or the month, from all dates of the log."""
        if "date_text" not in self._rows.columns:
            return None
        self._rows.createOrReplaceTempView("undecided")
        counts = self._rows.sparkSession.sql(COUNT_ORDERS.format(source="SELECT date_text FROM undecided"))
        return decide_order(*counts.collect()[0])

    def _count(self, where: str = "true") -> list[tuple[str | None, str | None, int]]:
        """The number of rows by action and reason of rejection."""
        action = F.col("action") if self._has_actions else F.lit(None).cast("string").alias("action")
        return [tuple(row) for row in self._rows.filter(where).groupBy(action, "error").count().collect()]

    def assign_action_codes(self, actions: Sequence[Action]) -> None:
        """Add the column `action_code` with the codes of known actions; count and ignore the others."""
        if not self._has_actions:
            self._rows = self._rows.withColumn("action_code", F.expr(with_dwell("1", actions)))
            return
        counts = _sums((name, count) for name, _, count in self._counts)
        known = action_names(self.format.actions)
        codes, others, assumed = classify_actions(counts, actions, known, self._count_views)
        self.stats |= {"assumed": assumed} if assumed else {}
        self.has_searches = SEARCH in codes.values()
        self.stats["other_actions"] = most_common_actions(others)
        cases = F.lit(None).cast("int")
        for name, code in codes.items():
            cases = F.when(F.col("action") == name, code).otherwise(cases)
        self._rows = self._rows.withColumn("action_code", cases)
        self._rows = self._rows.withColumn("action_code", F.expr(with_dwell("action_code", actions)))
        self._counts = [(name, error, n) for name, error, n in self._counts if name is None or name in codes]
        self._n_ignored = sum(others.values())

    def leave_out_span(self, span: TimeSpan) -> int:
        """Ignore events outside the span; return their number. Call it after `assign_action_codes`."""
        if span.is_open:
            return 0
        # The local engine finds blank queries later.
        blank = f"error IN ('{BLANK_QUERY}', '{BLANK_SCRUBBED}')"
        valid = f"(error IS NULL OR {blank}) AND action_code IS NOT NULL"
        counts = self._rows.filter(valid).selectExpr(*span.counts)
        outside = check_outside(*counts.collect()[0])
        code = F.expr(f"CASE WHEN {valid} AND {span.outside} THEN NULL ELSE action_code END")
        self._rows = self._rows.withColumn("action_code", code)
        counted = "action_code IS NOT NULL" + (" OR action IS NULL" if self._has_actions else "")
        self._counts = self._count(counted)
        self._n_ignored += outside
        return outside

    def _count_views(self, names: Sequence[str]) -> ViewShape:
        """The shape of the actions with these names."""
        self._rows.createOrReplaceTempView("typed_row")
        sql = shape_sql("typed_row", names, self._fields)
        return ViewShape(*self._rows.sparkSession.sql(sql).collect()[0])

    def valid(self) -> DataFrame:
        """Return the valid rows. Of events, these are the ones that count, and searches."""
        events = self.format.rows == "events"
        return self._rows.filter("error IS NULL" + (" AND action_code IS NOT NULL" if events else ""))

    @property
    def n_counted(self) -> int:
        """The number of valid rows."""
        return sum(count for _, error, count in self._counts if error is None)

    def rejected(self) -> DataFrame | None:
        """Return the rejected rows (error, raw, query, doc), or None; add their counts to the statistics."""
        rejected = _sums((error, count) for _, error, count in self._counts)
        total = self._n_ignored + sum(count for *_, count in self._counts)
        self.stats |= {
            "rows": total,
            "right": total - sum(rejected.values()),
            "rejected": by_reason(rejected),
        }
        if not rejected:
            return None
        coded = "action_code" in self._rows.columns
        rejects = aggregation_sql.is_rejected(self._has_actions) if coded else "error IS NOT NULL"
        return self._rows.filter(rejects).select("error", "raw", "query", "doc")

    def show_first_reject(self, reason: str) -> str | None:
        """Return a row that was rejected for a reason, as JSON; rows of a DataFrame have no other place."""
        named = F.trim(F.replace("error", F.lit("|"), F.lit(" "))) == reason
        found = self._rows.filter(named).agg(F.min("raw")).collect()[0][0]
        return None if found is None else f"a row is {found:.200}"

    def spellings(self) -> DataFrame:
        """Return the spellings that normalisation merged (text, spelling, count), also from rejected rows.

        At least `min_users` users must have typed a spelling.
        """
        merged = self._rows.filter("spelt IS NOT NULL AND query <> ''")
        spelt = merged.groupBy(F.col("query").alias("text"), F.col("spelt").alias("spelling"))
        if self._privacy.min_users == 1:
            return spelt.count()
        if self.format.rows == "events":
            of_users = F.expr("count(DISTINCT if(error IS NULL AND action_code IS NOT NULL, usr, NULL))")
        else:
            of_users = F.expr("max(if(error IS NULL, users, 0))")
        found = spelt.agg(F.count("*").alias("count"), of_users.alias("n_users"))
        return found.filter(F.col("n_users") >= self._privacy.min_users).drop("n_users")

    def scrubbed(self) -> dict[int, int]:
        """Return the number of rows from which personal data was removed, by the set of its kinds."""
        return dict(self._rows.filter("scrubbed > 0").groupBy("scrubbed").count().collect())


def by_reason(counts: Mapping[str, int]) -> dict[str, int]:
    """Return readable reasons with their counts, the most frequent first."""
    return {error.replace("|", " ").strip(): count for error, count in _sums(counts.items()).items()}


def _sums(counts: Iterable[tuple[str | None, int]]) -> dict[str, int]:
    """The sums of counts by name, largest first; None is left out."""
    sums: dict[str, int] = {}
    for name, count in counts:
        if name is not None:
            sums[name] = sums.get(name, 0) + count
    return dict(sorted(sums.items(), key=lambda item: (-item[1], item[0])))


def show_known(rejects: DataFrame, queries: DataFrame, docs: DataFrame) -> DataFrame:
    """Set `raw` of rejected rows to their queries and documents, as far as the graph has them."""
    known_query = queries.select(F.col("text").alias("query"), F.col("text").alias("known_query"))
    known_doc = docs.select(F.col("name").alias("doc"), F.col("name").alias("known_doc"))
    found = rejects.join(known_query, "query", "left").join(known_doc, "doc", "left")
    shown = F.struct(F.col("known_query").alias("query"), F.col("known_doc").alias("doc"))
    any_known = F.coalesce("known_query", "known_doc").isNotNull()
    return found.select("error", F.when(any_known, F.to_json(shown)).otherwise("").alias("raw"))


def write_rejects(out: TableWriter, rejects: Sequence[DataFrame | None]) -> None:
    """Write rejected rows (error, raw) to the table `rejects`, if there are any."""
    found = [frame for frame in rejects if frame is not None]
    if found:
        field, reason = (F.split("error", r"\|")[i] for i in (0, 1))
        columns = {"file": F.lit(None).cast("string"), "line": F.lit(None).cast("long")}
        columns |= {"field": field, "reason": reason, "raw": F.col("raw")}
        every = reduce(DataFrame.union, [frame.select("error", "raw") for frame in found])
        out.write_table("rejects", every.select(*(value.alias(name) for name, value in columns.items())))
