"""Sessions in which our own settings hold, whatever those of the user's session are."""

from __future__ import annotations

import os
import sys

from pyspark.sql import SparkSession

from coclick.errors import UserError
from coclick.spark.requirements import check_java, check_master, check_version

_SETTINGS = {
    "spark.sql.autoBroadcastJoinThreshold": "-1",  # a broadcast passes through the driver
    "spark.sql.adaptive.autoBroadcastJoinThreshold": "-1",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.ansi.enabled": "true",  # a number that does not fit is an error, not another number
    "spark.sql.execution.arrow.maxRecordsPerBatch": "50000",
    "spark.sql.parquet.compression.codec": "zstd",
}
_QUIET = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "ERROR",
}
LEAST_PARTS = 8
_EDGES_A_PART = 4_000_000
_LEAST_HEAVY = 10_000  # edges


def started(master: str) -> SparkSession:
    """A session for the command line."""
    check_java()
    check_master(master)
    if master.startswith("local"):
        work_with_this_python()
    builder = SparkSession.builder.master(master).appName("coclick")
    for name, value in _QUIET.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def work_with_this_python() -> None:
    """Let workers on this machine be the Python that has coclick, and not the first one of the path."""
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)


def ours(spark: SparkSession) -> SparkSession:
    """A session beside the user's, in the same application."""
    check_version(spark.version)
    if not hasattr(spark, "_jsc"):
        raise UserError(
            "coclick needs a classic Spark session, and this one is of Spark Connect",
            hint="run on the cluster itself: SparkSession.builder.master(...)",
        )
    session = spark.newSession()
    for name, value in _SETTINGS.items():
        session.conf.set(name, value)
    return session


def default_parts(spark: SparkSession, edges: int) -> int:
    """A part for every core, and for every four million edges; never fewer than eight."""
    return max(LEAST_PARTS, spark.sparkContext.defaultParallelism, -(-edges // _EDGES_A_PART))


def default_heavy(edges: int, parts: int) -> int:
    """A quarter of a part's share of the edges: so no row adds more than a quarter to the work of its part,
    and a part has about four rows at most that come in pieces. Small rows are never worth the pieces."""
    return max(_LEAST_HEAVY, edges // (4 * parts))
