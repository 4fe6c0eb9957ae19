"""Spark sessions with the settings that coclick requires, and default sizes of parts."""

from __future__ import annotations

import os
import sys

from pyspark.sql import SparkSession

from coclick.errors import UserError
from coclick.spark.requirements import check_java, check_master, check_version

_SETTINGS = {
    "spark.sql.autoBroadcastJoinThreshold": "-1",  # broadcasts pass through the driver
    "spark.sql.adaptive.autoBroadcastJoinThreshold": "-1",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.ansi.enabled": "true",  # overflow is an error
    "spark.sql.execution.arrow.maxRecordsPerBatch": "50000",
    "spark.sql.parquet.compression.codec": "zstd",
}
_QUIET = {"spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false", "spark.log.level": "ERROR"}
MIN_PARTS = 8
_EDGES_PER_PART = 4_000_000
_MIN_SPLIT_DEGREE = 10_000  # edges


def start_session(master: str) -> SparkSession:
    """Start a session for the command line."""
    check_java()
    check_master(master)
    if master.startswith("local"):
        use_this_python()
    builder = SparkSession.builder.master(master).appName("coclick")
    for name, value in _QUIET.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def use_this_python() -> None:
    """Run local workers with this Python, which has coclick, and not with the first one on the path."""
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)


def coclick_session(spark: SparkSession) -> SparkSession:
    """Return a new session with coclick's settings in the application of the user's session."""
    check_version(spark.version)
    if not hasattr(spark, "_jsc"):
        raise UserError(
            "coclick needs a classic Spark session, not Spark Connect",
            hint="run on the cluster itself: SparkSession.builder.master(...)",
        )
    session = spark.newSession()
    for name, value in _SETTINGS.items():
        session.conf.set(name, value)
    return session


def default_n_parts(spark: SparkSession, edges: int) -> int:
    """Return one part per core, at least one per four million edges, and at least eight."""
    return max(MIN_PARTS, spark.sparkContext.defaultParallelism, -(-edges // _EDGES_PER_PART))


def default_max_degree(edges: int, n_parts: int) -> int:
    """Return a quarter of a part's share of the edges: the degree above which a node is split.

    A row then adds at most a quarter to the work of its part. Rows below a minimum are not worth splitting.
    """
    return max(_MIN_SPLIT_DEGREE, edges // (4 * n_parts))
