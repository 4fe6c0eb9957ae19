"""Build a click graph on Spark: read a log from a DataFrame and write the graph as partitioned tables.

The rules are those of the local engine: `logs.typed_fields` parses and validates fields, `normalise_batch`
normalises texts, and `logs.aggregation_sql` defines sessions, weights and thresholds. Queries and documents
stay strings until everything is aggregated; ids are assigned last, in byte order.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from coclick.arrays.csr import check_count
from coclick.errors import UserError
from coclick.logs import aggregation_sql
from coclick.logs.bots import Policy, check_policy
from coclick.logs.column_use import main_fields
from coclick.logs.detect_format import GivenColumns, detect_format
from coclick.logs.duplicates import Duplicates, check_duplicates
from coclick.logs.format import Format
from coclick.logs.privacy import Privacy
from coclick.logs.schema import SEARCH, Action, action_names, weighted_actions
from coclick.logs.time_options import TimeOptions, time_stats
from coclick.logs.validation import (
    MAX_REJECTED,
    check_arguments,
    check_fields,
    check_rejected,
    no_edges_error,
)
from coclick.spark import documents, events
from coclick.spark.duplicates import remove_duplicates
from coclick.spark.graph import SparkGraph
from coclick.spark.language import guess as guess_language
from coclick.spark.log_rows import LogRows, by_reason, show_known, write_rejects
from coclick.spark.numbering import assign_ids
from coclick.spark.session import coclick_session
from coclick.spark.storage import TableWriter, open_output
from coclick.spark.typed_fields import FieldParser, as_log_file
from coclick.text.languages import named_language


def build(
    spark: SparkSession,
    log: DataFrame,
    docs: DataFrame | None,
    out: str,
    *,
    like: str | Path = "auto",
    columns: GivenColumns = None,
    min_clicks: float = 1,
    min_users: int = 1,
    actions: Mapping[str, float | str] | None = None,
    bots: Policy = "flag",
    duplicates: Duplicates = "count",
    max_rejected: float = MAX_REJECTED,
    time_format: str | None = None,
    timezone: str | None = None,
    since: str | date | None = None,
    until: str | date | None = None,
    half_life: str | timedelta | None = None,
    scrub: str | None = None,
    hash_users: bool = False,
    key_file: str | Path | None = None,
    language: str | None = None,
    force: bool = False,
) -> SparkGraph:
    """Build a click graph from a log and write it to the directory `out`.

    All workers must be able to reach `out`. The log holds aggregated `clicks` or `events`. The parameters are
    those of `coclick.build`.
    """
    started = time.monotonic()
    check_arguments(min_clicks, min_users, max_rejected)
    check_duplicates(duplicates)
    times = TimeOptions(time_format, timezone, since, until, half_life)
    privacy = Privacy.from_options(scrub, min_users, hash_users, key_file)
    named = None if language is None else named_language(language)
    session = coclick_session(spark)
    parser, uses = _parser(log, like, columns)
    fields = parser.fields
    parser = replace(parser, format=parser.format.with_roles(actions))
    weighted = weighted_actions(actions, action_names(parser.format.actions))
    check_fields(fields, min_users, actions)
    check_policy(bots, parser.format.rows == "events", fields)
    times.check_fields(fields)
    times = times.with_defaults(parser.format.time_format, parser.format.timezone)
    privacy.check_fields(fields)
    with open_output(session, out, "graph", force) as target:
        run = _Build(session, target, parser.format, fields, weighted, privacy, times)
        run.stats["columns"] = [{"file": "the log", "columns": uses}]
        run.read(log, replace(parser, privacy=privacy, times=times.format), duplicates, max_rejected)
        run.aggregate(min_clicks, bots)
        texts = run.write(docs, named)
        run.stats["seconds"] = round(time.monotonic() - started, 2)
        target.commit("graph", stats=run.stats, texts=texts, sizes=run.sizes)
        path = target.directory.path
    return SparkGraph.open(spark, path)


def _parser(
    log: DataFrame, like: str | Path, columns: GivenColumns
) -> tuple[FieldParser, list[dict[str, Any]]]:
    """How the rows of the log are read, and what its columns are used as.

    Formats with joins or lists are left to the local engine.
    """
    file = as_log_file(log, "the log")
    format, found, fields = detect_format([file], like, columns)
    if format.join or format.has_lists:
        why = "joins events with searches" if format.join else "has lists in its records"
        raise UserError(
            f"Spark cannot read the format {format.name!r}, which {why}", hint="build it with --engine local"
        )
    record = found[0][1]
    chosen = sorted(record.used)
    names = [file.columns[index] for index in chosen]
    used_as = main_fields(record.sources)
    uses = [{"name": name, "field": used_as.get(name, ""), "looks_like": kind} for name, kind in log.dtypes]
    if format.fields:
        return FieldParser(format, names, fields), uses
    columns_of = {name: column.sql for name, column in record.columns.items()}
    if "clicked" in columns_of:
        columns_of["action"] = columns_of["clicked"]
    places = {name: chosen.index(int(sql[1:])) for name, sql in columns_of.items()}
    return FieldParser(format, names, fields, places), uses


@dataclass
class _Build:
    """The steps of one build and their statistics."""

    spark: SparkSession
    out: TableWriter
    format: Format
    fields: set[str]
    actions: list[Action]
    privacy: Privacy
    times: TimeOptions
    stats: dict[str, Any] = field(default_factory=dict)
    sizes: dict[str, int] = field(default_factory=dict)
    history: dict[str, DataFrame] = field(default_factory=dict)  # daily, skips, searches, followups
    searches: DataFrame | None = None
    doc_rejects: DataFrame | None = None

    def read(self, log: DataFrame, parser: FieldParser, duplicates: Duplicates, max_rejected: float) -> None:
        """Parse the log into typed fields, set the rejected rows aside, and remove duplicates."""
        rows = LogRows(log, parser, self.out.work)
        self.stats |= {"format": self.format.name, "engine": "spark", "fields": sorted(self.fields)}
        if self.format.rows == "events":
            self.stats["actions"] = {action.name: action.weight for action in self.actions}
            rows.assign_action_codes(self.actions)
            outside = rows.leave_out_span(self.times.span)
            if "timestamp" in self.fields:
                self.stats |= time_stats(rows.times, self.times.span, outside)
        self.rejects = rows.rejected()
        self.stats |= rows.stats | self.privacy.stats_of(rows.scrubbed)
        self.show_first_reject = rows.show_first_reject
        check_rejected(self.stats, max_rejected, self.show_first_reject)
        self.rows, self.spellings = rows.valid(), rows.spellings()
        if self.format.rows == "events":
            valid, found = remove_duplicates(self.rows, self.fields, rows.n_counted, duplicates)
            self.stats["duplicates"] = found
            self.rows = valid.filter("action_code >= 0")
            if rows.has_searches:
                self.searches = valid.filter(f"action_code = {SEARCH}")

    def aggregate(self, min_clicks: float, bots: Policy) -> None:
        """Aggregate the rows into pairs and select the edges; both still hold strings."""
        min_users, users = self.privacy.min_users, "users"
        if self.format.rows == "clicks":
            self.rows.selectExpr("query AS q", "doc AS d", "*").createOrReplaceTempView("log_row")
            sums = aggregation_sql.pair_sums(self.fields)
            pairs = self.spark.sql(f"SELECT q, d, {sums} FROM log_row GROUP BY q, d")
            pairs = self.out.work.checkpoint("pairs", pairs)
            candidates = pairs.filter("clicks > 0").withColumn("actions", F.col("clicks"))
            users = "known_users"
            kept = pairs.filter(F.col(users) >= min_users) if min_users > 1 else pairs
            self.pairs = kept.drop("clicks", users) if self.fields & {"impressions", "users"} else None
        else:
            found = events.aggregate(
                *(self.spark, self.rows, self.searches, self.fields, self.actions, self.out.work),
                *(min_users, bots, self.times.half_life_days),
            )
            candidates, self.pairs, self.history = found.candidates, found.pairs, found.history
            self.stats |= found.stats
        passes = F.expr(aggregation_sql.passes_thresholds(min_clicks, min_users, users)).alias("passes")
        marked = self.out.work.checkpoint("candidates", candidates.select("q", "d", "clicks", passes))
        self.edges = marked.filter("passes").drop("passes")
        kept, below, clicks_below = marked.agg(
            F.count_if("passes"), F.count_if(~F.col("passes")), F.sum(F.expr("if(passes, 0, clicks)"))
        ).collect()[0]
        if not kept:
            raise no_edges_error(self.stats, below, self.show_first_reject)
        self.sizes["edges"] = kept
        self.thresholds = min_clicks > 1 or min_users > 1
        self.stats |= {"min_clicks": min_clicks, "min_users": min_users, "pairs_below_thresholds": below}
        self.stats["clicks_below_thresholds"] = round(clicks_below, 6)

    def write(self, docs: DataFrame | None, language: dict[str, Any] | None) -> list[str]:
        """Assign ids to the queries and documents in use and write all tables; return the text fields."""
        work, out = self.out.work, self.out
        used = self.edges.select("q", "d") if self.pairs is None else self.pairs
        if self.pairs is not None:
            if self.thresholds:
                used = used.join(self.edges.select("q").distinct(), "q", "left_semi")
            used = work.checkpoint("used", used)
        texts = used.select(F.col("q").alias("text"))
        if "searches" in self.history and not self.thresholds:  # searches without results too
            texts = texts.union(self.history["searches"].select("q"))
        texts = texts.distinct()
        names = used.select(F.col("d").alias("name")).distinct()
        described_docs, fields = None, list[str]()
        if docs is not None:
            found = documents.read(docs, work)
            described_docs, fields = found.table, found.fields
            self.stats |= documents.overlap(names, described_docs)
            self.stats["docs_rejected"] = by_reason(found.rejected)
            self.doc_rejects = found.rejects
            names = names.union(described_docs.select("name")).distinct()
        queries, self.sizes["queries"] = assign_ids(texts, ["text"], work, "queries")
        numbers, self.sizes["docs"] = assign_ids(names, ["name"], work, "docs")
        queries = out.write_table("queries", queries.select("id", "text"))
        self.stats["queries_below_thresholds"] = self._queries_seen() - self.sizes["queries"]
        if described_docs is not None:
            filled = {f"text_{name}": F.coalesce(f"text_{name}", F.lit("")) for name in fields}
            numbers = numbers.join(described_docs, "name", "left").withColumns(filled)
        numbers = out.write_table("docs", numbers.select("id", "name", *(f"text_{name}" for name in fields)))
        edges = self.edges.withColumn("clicks", F.col("clicks").cast("float"))
        out.write_table("edges", _with_ids(edges, queries, numbers))
        if self.pairs is not None:
            # The counts of a day are smaller.
            _check_counts("pairs", out.write_table("pairs", _with_ids(used, queries, numbers)))
        if "daily" in self.history:
            out.write_table("daily", _with_ids(self.history["daily"], queries, numbers))
        if "skips" in self.history:
            skips = _with_ids(self.history["skips"], queries, numbers, ("clicked", "skipped"))
            _check_counts("skips", out.write_table("skips", skips))
        if "searches" in self.history:
            searches = _with_ids(self.history["searches"], queries, numbers, ())
            _check_counts("searches", out.write_table("searches", searches))
        if "followups" in self.history:
            following = queries.select("id", F.col("text").alias("name"))
            followups = _with_ids(self.history["followups"], queries, following, ("next",))
            _check_counts("followups", out.write_table("followups", followups))
        spellings = self.spellings.join(queries, "text").select("id", "spelling", "count")
        self.stats["merged_spellings"] = out.write_table("variants", spellings).count()
        self.stats["language"] = language or guess_language(queries, numbers, fields, self.sizes)
        if fields:
            self.stats["docs_without_text"] = documents.without_text(numbers, fields)
        if self.rejects is not None and self.privacy.hides_rows:
            self.rejects = show_known(self.rejects, queries, numbers)
        write_rejects(out, [self.rejects, self.doc_rejects])
        return fields

    def _queries_seen(self) -> int:
        """The number of queries in valid rows, including those below the thresholds."""
        if self.pairs is not None and not self.thresholds:
            return self.sizes["queries"]
        if self.format.rows == "clicks":
            return self.rows.select("query").distinct().count()
        seen = self.spark.table("event").select("q")  # without the bots that were dropped
        if self.searches is not None and "searches" in self.history:
            seen = seen.union(self.spark.table("search").select("q"))
        return seen.distinct().count()


def _check_counts(name: str, table: DataFrame) -> None:
    """Raise if a count does not fit into 32 bits: the local engine could not open the graph."""
    largest = table.agg(*(F.max(column) for column in table.columns)).collect()[0]
    for column, value in zip(table.columns, largest, strict=True):
        check_count(value or 0, name, column)


def _with_ids(
    frame: DataFrame, queries: DataFrame, docs: DataFrame, columns: Sequence[str] = ("d",)
) -> DataFrame:
    """Replace strings by ids in `q` and the document columns; drop rows of queries outside the graph."""
    frame = frame.join(queries.select(F.col("text").alias("q"), F.col("id").alias("q_id")), "q")
    for column in columns:
        named = docs.select(F.col("name").alias(column), F.col("id").alias(f"{column}_id"))
        frame = frame.join(named, column)
    ids = ["q", *columns]
    kept = [name for name in frame.columns if name not in ids and name.removesuffix("_id") not in ids]
    return frame.select(*(F.col(f"{name}_id").alias(name) for name in ids), *kept).sortWithinPartitions(*ids)
