"""One small log, and Spark with as little as it may need: a driver of 512 MB, 16 MB of results, 8 parts."""

import os
import shutil
import sys
from pathlib import Path

import pytest

from coclick import ClickGraph, logs, simulate
from spark.cluster import Cluster

PARTS = 8
FEW_PARTS = 3  # where time matters more
HEAVY = 10  # edges: so low that every test has heavy rows
_FAST = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xshare:auto"


def pytest_collection_modifyitems(items):
    """Without Java there is no Spark; in continuous integration that is a failure."""
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        for item in items:
            if {"spark", "cluster"} & set(item.fixturenames):
                item.add_marker(pytest.mark.skip(reason="Spark needs Java"))


@pytest.fixture(scope="session")
def log(tmp_path_factory) -> Path:
    """Simulated events with documents."""
    place = tmp_path_factory.mktemp("log")
    simulate.sample(place, queries=200, docs=300, events=4000, force=True)
    return place


@pytest.fixture(scope="session")
def local_graph(log, tmp_path_factory) -> ClickGraph:
    """What the local engine builds of it."""
    out = tmp_path_factory.mktemp("local") / "graph"
    return logs.build([log / "events.parquet"], log / "docs.tsv", out)


def start_session(master: str, event_log: Path, **settings: str):
    """A Spark session; the process has one at a time."""
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


def read_log(spark, log: Path):
    """The events and the documents as a user would read them."""
    docs = spark.read.option("sep", "\t").option("header", True).csv(str(log / "docs.tsv"))
    return spark.read.parquet(str(log / "events.parquet")), docs


@pytest.fixture(scope="session")
def event_log(tmp_path_factory) -> Path:
    """Where Spark notes what its tasks did."""
    return tmp_path_factory.mktemp("events")


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """A master and two workers; `start_session(cluster.address, …, **cluster.settings())`."""
    running = Cluster(tmp_path_factory.mktemp("cluster"))
    yield running
    running.stop()
