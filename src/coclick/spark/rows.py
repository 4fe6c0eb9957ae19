"""The rows of a log on Spark: typed fields, the actions that count, the rows that are rejected.

Every row is right, rejected, or aside: of an action that is neither shown nor clicked. Rejected rows are kept
with the reason, as the local engine keeps them in `rejects.parquet`; but a DataFrame has no lines to name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from coclick.logs import aggregation_sql
from coclick.logs.schema import Action
from coclick.logs.validation import classify_actions, most_common_actions
from coclick.spark.storage import Output, Work
from coclick.spark.typed import Typing


class Rows:
    """A log that was read, and what was counted meanwhile."""

    def __init__(self, log: DataFrame, format: str, places: Mapping[str, int], work: Work) -> None:
        self.format = format
        chosen = sorted(set(places.values()))
        names = [log.columns[i] for i in chosen]
        typing = Typing(format, names, {name: chosen.index(place) for name, place in places.items()})
        quoted = [log[f"`{name.replace('`', '``')}`"] for name in names]
        self._rows = work.saved("rows", log.select(*quoted).mapInArrow(typing, typing.schema))
        self._has_actions = "action" in places
        self._counts = self._count()
        self._aside = 0
        self.figures: dict[str, Any] = {}

    def _count(self) -> list[tuple[str | None, str | None, int]]:
        """How many rows there are of each action and reason."""
        action = F.col("action") if self._has_actions else F.lit(None).cast("string").alias("action")
        return [tuple(row) for row in self._rows.groupBy(action, "error").count().collect()]

    def classify_actions(self, actions: Sequence[Action]) -> None:
        """Give the actions that count their codes, `action_code`; the others are counted."""
        if not self._has_actions:
            self._rows = self._rows.withColumn("action_code", F.lit(1))
            return
        counts: dict[str, int] = {}
        for name, _, count in self._counts:
            if name is not None:
                counts[name] = counts.get(name, 0) + count
        counts = dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))
        codes, others = classify_actions(counts, actions)
        self.figures["other_actions"] = most_common_actions(others)
        cases = F.lit(None).cast("int")
        for name, code in codes.items():
            cases = F.when(F.col("action") == name, code).otherwise(cases)
        self._rows = self._rows.withColumn("action_code", cases)
        self._counts = [(name, error, n) for name, error, n in self._counts if name is None or name in codes]
        self._aside = sum(others.values())

    def right(self) -> DataFrame:
        """The rows that count."""
        events = self.format == "events"
        return self._rows.filter("error IS NULL" + (" AND action_code IS NOT NULL" if events else ""))

    def rejected(self) -> DataFrame | None:
        """The rows that are rejected (error, raw), if there are any; counts them."""
        rejected: dict[str, int] = {}
        for _, error, count in self._counts:
            if error is not None:
                rejected[error] = rejected.get(error, 0) + count
        total = self._aside + sum(count for *_, count in self._counts)
        self.figures |= {
            "rows": total,
            "right": total - sum(rejected.values()),
            "rejected": by_reason(rejected),
        }
        return (
            self._rows.filter(aggregation_sql.is_rejected(self._has_actions)).select("error", "raw")
            if rejected
            else None
        )

    def spellings(self) -> DataFrame:
        """What normalisation merged (text, spelling, count), also in rows with something else wrong."""
        merged = self._rows.filter("spelt IS NOT NULL AND query <> ''")
        return merged.groupBy(F.col("query").alias("text"), F.col("spelt").alias("spelling")).count()


def by_reason(counts: Mapping[str, int]) -> dict[str, int]:
    """Counts of rejected rows in words, the commonest first."""
    ordered = sorted(counts.items(), key=lambda reason: (-reason[1], reason[0]))
    return {error.replace("|", " ").strip(): count for error, count in ordered}


def write_rejects(out: Output, wrong: Sequence[DataFrame | None]) -> None:
    """The table `rejects` of wrong rows (error, raw), if there are any; a DataFrame has no file, no lines."""
    found = [frame for frame in wrong if frame is not None]
    if found:
        field, reason = (F.split("error", r"\|")[i] for i in (0, 1))
        columns = {"file": F.lit(None).cast("string"), "line": F.lit(None).cast("long")}
        columns |= {"field": field, "reason": reason, "raw": F.col("raw")}
        every = reduce(DataFrame.union, found)
        out.table("rejects", every.select(*(value.alias(name) for name, value in columns.items())))
