"""Events that were delivered twice, on Spark: counted and removed as `coclick.logs.duplicates` does."""

from __future__ import annotations

from typing import Any

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from coclick.logs.duplicates import MAX_COUNTED, MIN_DISTINCT, SAMPLE, Duplicates
from coclick.logs.schema import SEARCH

# What makes two rows equal, in the order that chooses the one to keep. Searches have no document.
_KEYS = ("query", "usr", "ts", "session", "action_code")
_OF_EVENTS, _OF_SEARCHES = ("doc", "position"), ("results",)


def remove_duplicates(
    rows: DataFrame, fields: set[str], n_rows: int, duplicates: Duplicates
) -> tuple[DataFrame, dict[str, Any]]:
    """Return valid events and searches without repeated rows, and how many there were.

    `rows` has the column `action_code`, and `n_rows` rows.
    """
    found: dict[str, Any] = {"by_id": 0, "exact": 0, "dropped": 0}
    is_search = F.col("action_code") == SEARCH
    if "event_id" in fields:
        counts = rows.groupBy(is_search).agg(F.count("event_id"), F.count_distinct("event_id")).collect()
        with_id, ids = (sum(row[place] for row in counts) for place in (1, 2))
        if ids < MIN_DISTINCT * with_id:
            return rows, found | {"not_ids": [ids, with_id]}
        found["by_id"] = with_id - ids
        return (_once(rows, is_search) if found["by_id"] else rows), found
    if not {"user", "timestamp"} <= fields:
        return rows, found
    step = SAMPLE if n_rows > MAX_COUNTED and duplicates == "count" else 1
    who = F.coalesce("usr", "session") if "session" in fields else F.col("usr")
    some = rows.filter(who.isNotNull())
    some = some.filter(F.pmod(F.xxhash64(who), F.lit(step)) == 0) if step > 1 else some
    groups = some.groupBy(*_keys(rows, is_search)).count()
    found["exact"] = step * int(groups.agg(F.coalesce(F.sum(F.col("count") - 1), F.lit(0))).collect()[0][0])
    if step > 1:
        found["estimated"] = True
    if duplicates == "drop" and found["exact"]:
        found["dropped"] = found["exact"]
        copies = Window.partitionBy(*_keys(rows, is_search)).orderBy(F.lit(0))
        marked = rows.withColumn("copy", F.row_number().over(copies))
        rows = marked.filter((F.col("copy") == 1) | who.isNull()).drop("copy")
    return rows, found


def _once(rows: DataFrame, is_search: Any) -> DataFrame:
    """Of the rows with one id, the smallest, as on one machine."""
    order = [column.asc_nulls_last() for column in _keys(rows, is_search)]
    copies = Window.partitionBy(is_search, "event_id").orderBy(*order)
    marked = rows.withColumn("copy", F.row_number().over(copies))
    return marked.filter("event_id IS NULL OR copy = 1").drop("copy")


def _keys(rows: DataFrame, is_search: Any) -> list[Any]:
    """The columns of `event` and `search` in the local engine."""
    keys = [F.col(name) for name in _KEYS if name in rows.columns]
    keys += [F.when(~is_search, F.col(name)) for name in _OF_EVENTS if name in rows.columns]
    return keys + [F.when(is_search, F.col(name)) for name in _OF_SEARCHES if name in rows.columns]
