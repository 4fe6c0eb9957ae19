"""Assign consecutive ids in sorted order without collecting the table on one machine."""

from __future__ import annotations

from itertools import accumulate

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from coclick.spark.storage import WorkDir

_ROW_BITS = 33  # low bits of monotonically_increasing_id: the row in its partition


def assign_ids(frame: DataFrame, by: list[str], work: WorkDir, name: str) -> tuple[DataFrame, int]:
    """Sort a frame by some columns, add an `id` from 0 in that order, and count its rows.

    Sorting splits the rows into ranges. The driver receives only the number of rows of each range.
    """
    ranges = frame.sort(*by).withColumn("position", F.monotonically_increasing_id())
    saved = work.checkpoint(name, ranges)
    part = F.shiftrightunsigned("position", _ROW_BITS)
    counts: dict[int, int] = dict(saved.groupBy(part.alias("part")).count().collect())
    sizes = [counts.get(number, 0) for number in range(max(counts, default=0) + 1)]
    # An array, not a map: Spark scans a map linearly for each row.
    starts = F.array(*map(F.lit, [0, *accumulate(sizes[:-1])])).cast("array<long>")
    row = F.col("position").bitwiseAND(F.lit((1 << _ROW_BITS) - 1))
    first = F.get(starts, part.cast("int"))
    return saved.withColumn("id", row + first).drop("position"), sum(sizes)
