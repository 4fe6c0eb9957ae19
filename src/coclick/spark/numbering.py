"""Ids in the order of a sorted table, without the table passing through one machine."""

from __future__ import annotations

from itertools import accumulate

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from coclick.spark.storage import Work

_ROW_BITS = 33  # of monotonically_increasing_id, below the number of the partition


def numbered(frame: DataFrame, by: list[str], work: Work, name: str) -> tuple[DataFrame, int]:
    """The frame sorted by some columns, with an `id` from 0 up in that order, and how many rows it has.

    Sorting cuts the rows into ranges; the driver learns how many rows each range has, and nothing else.
    """
    ranges = frame.sort(*by).withColumn("place", F.monotonically_increasing_id())
    saved = work.saved(name, ranges)
    part = F.shiftrightunsigned("place", _ROW_BITS)
    counts: dict[int, int] = dict(saved.groupBy(part.alias("part")).count().collect())
    sizes = [counts.get(number, 0) for number in range(max(counts, default=0) + 1)]
    # An array, not a map: Spark looks through all of a map for each row.
    starts = F.array(*map(F.lit, [0, *accumulate(sizes[:-1])])).cast("array<long>")
    row = F.col("place").bitwiseAND(F.lit((1 << _ROW_BITS) - 1))
    first = F.get(starts, part.cast("int"))
    return saved.withColumn("id", row + first).drop("place"), sum(sizes)
