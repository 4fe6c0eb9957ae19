"""`build` on Spark: a log in a DataFrame in, the same click graph out, as partitioned tables.

Every rule is the local one: fields and what is wrong with them by `logs.fields`, texts by `normalise_batch`,
sessions, weights and thresholds by `logs.rules`. Queries and documents stay texts until all is added up, and
get their numbers last, in the order of their bytes.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from coclick.arrays.csr import check_count
from coclick.logs import aggregation_sql
from coclick.logs.detect_format import detect_format
from coclick.logs.schema import Action, weighted_actions
from coclick.logs.validation import check_arguments, check_fields, no_edges_error
from coclick.spark import documents, events
from coclick.spark.engine import ours
from coclick.spark.graph import SparkGraph
from coclick.spark.numbering import numbered
from coclick.spark.rows import Rows, by_reason, write_rejects
from coclick.spark.storage import Output, output
from coclick.spark.typed import described

_FORMATS = ("clicks", "events")


def build(
    spark: SparkSession,
    log: DataFrame,
    docs: DataFrame | None,
    out: str,
    *,
    format: str = "auto",
    columns: Sequence[str] | None = None,
    min_clicks: float = 1,
    min_users: int = 1,
    actions: Mapping[str, float] | None = None,
    force: bool = False,
) -> SparkGraph:
    """Build a click graph from a log and write it to the directory `out`, which all workers must reach.

    The log is of aggregated `clicks` or of `events`; parameters mean what they mean to `coclick.build`.
    """
    started = time.monotonic()
    check_arguments(format, _FORMATS, min_clicks, min_users)
    weighted = weighted_actions(actions)
    session = ours(spark)
    format, found, fields = detect_format([described(log, "the log")], format, columns)
    check_fields(fields, min_users, actions)
    with output(session, out, "graph", force) as target:
        places = {name: place for name, place in found[0][1].items() if name in fields}
        run = _Build(session, target, format, fields, weighted)
        run.read(log, places)
        run.add_up(min_clicks, min_users)
        texts = run.write(docs)
        run.figures["seconds"] = round(time.monotonic() - started, 2)
        target.commit("graph", figures=run.figures, texts=texts, sizes=run.sizes)
        path = target.place.path
    return SparkGraph.open(spark, path)


@dataclass
class _Build:
    """The steps of one build, and what they counted."""

    spark: SparkSession
    out: Output
    format: str
    fields: set[str]
    actions: list[Action]
    figures: dict[str, Any] = field(default_factory=dict)
    sizes: dict[str, int] = field(default_factory=dict)
    history: dict[str, DataFrame] = field(default_factory=dict)  # daily, skips

    def read(self, log: DataFrame, places: dict[str, int]) -> None:
        """Rows to typed fields; what is wrong with the others."""
        rows = Rows(log, self.format, places, self.out.work)
        self.figures |= {"format": self.format, "engine": "spark"}
        if self.format == "events":
            self.figures["actions"] = {action.name: action.weight for action in self.actions}
            rows.classify_actions(self.actions)
        self.wrong = [rows.rejected()]
        self.figures |= rows.figures
        self.rows, self.spellings = rows.right(), rows.spellings()

    def add_up(self, min_clicks: float, min_users: int) -> None:
        """Pairs, and of those the edges: both by texts."""
        if self.format == "clicks":
            self.rows.selectExpr("query AS q", "doc AS d", "*").createOrReplaceTempView("log_row")
            sums = aggregation_sql.pair_sums(self.fields)
            pairs = self.spark.sql(f"SELECT q, d, {sums} FROM log_row GROUP BY q, d")
            pairs = self.out.work.saved("pairs", pairs)
            candidates = pairs.filter("clicks > 0").withColumn("actions", F.col("clicks"))
            self.pairs = pairs.drop("clicks") if self.fields & {"impressions", "users"} else None
        else:
            found = events.aggregate(self.spark, self.rows, self.fields, self.actions, self.out.work)
            candidates, self.pairs, self.history = found.candidates, found.pairs, found.history
            self.figures |= found.figures
        passes = F.expr(aggregation_sql.passes_thresholds(min_clicks, min_users)).alias("passes")
        marked = self.out.work.saved("candidates", candidates.select("q", "d", "clicks", passes))
        self.edges, self.seen = marked.filter("passes").drop("passes"), marked
        kept, below, clicks_below = marked.agg(
            F.count_if("passes"), F.count_if(~F.col("passes")), F.sum(F.expr("if(passes, 0, clicks)"))
        ).collect()[0]
        if not kept:
            raise no_edges_error(self.figures, below)
        self.sizes["edges"] = kept
        self.thresholds = min_clicks > 1 or min_users > 1
        self.figures |= {
            "min_clicks": min_clicks,
            "min_users": min_users,
            "pairs_below_thresholds": below,
            "clicks_below_thresholds": round(clicks_below, 6),
        }

    def write(self, docs: DataFrame | None) -> list[str]:
        """Number what is used, and write all tables; returns the documents' fields."""
        work, out = self.out.work, self.out
        used = self.edges.select("q", "d") if self.pairs is None else self.pairs
        if self.pairs is not None:
            if self.thresholds:
                used = used.join(self.edges.select("q").distinct(), "q", "left_semi")
            used = work.saved("used", used)
        texts = used.select(F.col("q").alias("text")).distinct()
        names = used.select(F.col("d").alias("name")).distinct()
        described_docs, fields = None, list[str]()
        if docs is not None:
            found = documents.read(docs, work)
            described_docs, fields = found.table, found.fields
            self.figures |= documents.overlap(names, described_docs)
            self.figures["docs_rejected"] = by_reason(found.rejected)
            self.wrong.append(found.wrong)
            names = names.union(described_docs.select("name")).distinct()
        queries, self.sizes["queries"] = numbered(texts, ["text"], work, "queries")
        numbers, self.sizes["docs"] = numbered(names, ["name"], work, "docs")
        queries = out.table("queries", queries.select("id", "text"))
        self.figures["queries_below_thresholds"] = self._queries_seen() - self.sizes["queries"]
        if described_docs is not None:
            filled = {f"text_{name}": F.coalesce(f"text_{name}", F.lit("")) for name in fields}
            numbers = numbers.join(described_docs, "name", "left").withColumns(filled)
        numbers = out.table("docs", numbers.select("id", "name", *(f"text_{name}" for name in fields)))
        edges = self.edges.withColumn("clicks", F.col("clicks").cast("float"))
        out.table("edges", _numbers(edges, queries, numbers))
        if self.pairs is not None:
            _check_counts("pairs", out.table("pairs", _numbers(used, queries, numbers)))  # no day has more
        if "daily" in self.history:
            out.table("daily", _numbers(self.history["daily"], queries, numbers))
        if "skips" in self.history:
            skips = _numbers(self.history["skips"], queries, numbers, ("clicked", "skipped"))
            _check_counts("skips", out.table("skips", skips))
        spellings = self.spellings.join(queries, "text").select("id", "spelling", "count")
        self.figures["merged_spellings"] = out.table("variants", spellings).count()
        if fields:
            self.figures["docs_without_text"] = documents.without_text(numbers, fields)
        write_rejects(out, self.wrong)
        return fields

    def _queries_seen(self) -> int:
        """How many queries the right rows have, whether they are in the graph or not."""
        if self.pairs is not None and not self.thresholds:
            return self.sizes["queries"]
        return (self.seen if self.pairs is None else self.pairs).select("q").distinct().count()


def _check_counts(name: str, table: DataFrame) -> None:
    """A graph that the local engine would refuse to build, it could not open either."""
    largest = table.agg(*(F.max(column) for column in table.columns)).collect()[0]
    for column, value in zip(table.columns, largest, strict=True):
        check_count(value or 0, name, column)


def _numbers(
    frame: DataFrame, queries: DataFrame, docs: DataFrame, columns: Sequence[str] = ("d",)
) -> DataFrame:
    """The rows of queries that are in the graph, with numbers for texts: `q`, and columns of documents."""
    frame = frame.join(queries.select(F.col("text").alias("q"), F.col("id").alias("q_id")), "q")
    for column in columns:
        named = docs.select(F.col("name").alias(column), F.col("id").alias(f"{column}_id"))
        frame = frame.join(named, column)
    ids = ["q", *columns]
    kept = [name for name in frame.columns if name not in ids and name.removesuffix("_id") not in ids]
    return frame.select(*(F.col(f"{name}_id").alias(name) for name in ids), *kept).sortWithinPartitions(*ids)
