"""A small log and a small Spark session: a driver of 512 MB, 16 MB of results, 8 parts."""

import os
import shutil
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from benchmarks._spark_metrics import tasks, wait_for_log
from coclick import ClickGraph, logs, simulate
from spark.cluster import Cluster

PARTS = 8
FEW_PARTS = 3  # for faster tests
MAX_DEGREE = 10  # so low that every test has heavy rows
CHANGES = [
    {"query": " \u2122 "},
    {"query": None},
    {"doc": None},
    {"user": None},
    {"timestamp": None},
    {"position": -1},
    {"action": None},
    {"action": "hover"},  # neither an impression nor a click
    {"action": "hover", "doc": None},  # ignored, so its other errors do not count
]
# Bytes; a third of the log's edges takes more, and so do the vectors of a third of its queries.
MAX_RESULT_BYTES = 64 << 10
_FAST = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xshare:auto -XX:ReservedCodeCacheSize=160m"


def pytest_collection_modifyitems(items):
    """Skip Spark tests without Java; continuous integration fails on such skips."""
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        for item in items:
            if {"spark", "cluster"} & set(item.fixturenames):
                item.add_marker(pytest.mark.skip(reason="Spark needs Java"))


def pytest_generate_tests(metafunc):
    """Run tests with a `spec` for each of the module's SPECS."""
    if "spec" in metafunc.fixturenames:
        metafunc.parametrize("spec", metafunc.module.SPECS)


@pytest.fixture(scope="session")
def log(tmp_path_factory) -> Path:
    """Simulated events and documents, with a few invalid rows and one other spelling."""
    place = tmp_path_factory.mktemp("log")
    simulate.sample(place, queries=1_500, docs=2_000, events=30_000, force=True)
    events = pq.read_table(place / "events.parquet")
    some = events.slice(0, len(CHANGES)).to_pylist()
    changed = [row | change for row, change in zip(some, CHANGES, strict=True)]
    changed.append(some[0] | {"action": "click", "query": some[0]["query"].upper()})
    pq.write_table(
        pa.concat_tables([events, pa.Table.from_pylist(changed, events.schema)]), place / "events.parquet"
    )
    return place


@pytest.fixture(scope="session")
def local_graph(log, tmp_path_factory) -> ClickGraph:
    """The graph that the local engine builds from the log."""
    out = tmp_path_factory.mktemp("local") / "graph"
    return logs.build([log / "events.parquet"], log / "docs.tsv", out)


def start_session(master: str, event_log: Path, **settings: str):
    """Start a Spark session; a process has one at a time."""
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    root = Path(__file__).resolve().parents[2]
    os.environ["PYTHONPATH"] = os.pathsep.join([str(root / "src"), os.environ.get("PYTHONPATH", "")])
    builder = SparkSession.builder.master(master).appName("tests")
    fixed = {
        "spark.driver.memory": "512m",
        "spark.driver.maxResultSize": "16m",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.extraJavaOptions": _FAST,
        "spark.executor.extraJavaOptions": _FAST,
        "spark.sql.shuffle.partitions": "3",
        "spark.sql.codegen.wholeStage": "false",  # compiling takes longer than running on small tables
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.log.level": "ERROR",
        "spark.eventLog.enabled": "true",
        "spark.eventLog.dir": str(event_log),
        "spark.eventLog.compress": "false",
    }
    for name, value in (fixed | settings).items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def read_log(spark, log: Path) -> tuple[Any, Any]:
    """Read the events and the documents as a user would."""
    docs = spark.read.option("sep", "\t").option("header", True).csv(str(log / "docs.tsv"))
    return spark.read.parquet(str(log / "events.parquet")), docs


@pytest.fixture(scope="module")
def event_log(tmp_path_factory) -> Path:
    """The directory of Spark's event log."""
    return tmp_path_factory.mktemp("events")


@pytest.fixture(scope="module")
def graph(spark, log, tmp_path_factory):
    """The graph that Spark builds from the log, in the module's session."""
    import coclick.spark

    return coclick.spark.build(spark, *read_log(spark, log), str(tmp_path_factory.mktemp("spark") / "graph"))


@pytest.fixture(scope="module")
def trained(request, spark, graph, tmp_path_factory):
    """The directory of a model of the module's SPECS, trained on first use."""
    import coclick.spark

    @cache
    def train(spec: str) -> Path:
        place = tmp_path_factory.mktemp("model") / "model"
        coclick.spark.train(
            spark, spec, graph, str(place), n_parts=request.module.SPECS[spec], max_degree=MAX_DEGREE
        )
        return place

    return train


def assert_driver_results_small(spark, event_log: Path) -> None:
    """Assert that no task sent the driver as much as the edges or vectors of one part."""
    wait_for_log(spark)
    ended = tasks(event_log)
    assert sum(task.shuffle_written for task in ended) > 10 * MAX_RESULT_BYTES
    assert max(task.result_bytes for task in ended) < MAX_RESULT_BYTES


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """A master and two workers; `start_session(cluster.address, …, **cluster.settings())`."""
    running = Cluster(tmp_path_factory.mktemp("cluster"))
    yield running
    running.stop()
