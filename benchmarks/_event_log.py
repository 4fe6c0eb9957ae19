"""What Spark's own event log says of its tasks."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from pyspark.sql import SparkSession


class Task(NamedTuple):
    """One attempt of a task, when it ended."""

    stage: int
    succeeded: bool
    seconds: float  # of computing
    result_bytes: int  # sent to the driver
    shuffle_written: int  # bytes
    shuffle_read: int


def events(directory: Path, kind: str) -> Iterator[dict[str, Any]]:
    """All events of a kind, like "TaskEnd", of all applications that log to a directory."""
    for path in sorted(directory.rglob("events_*")):
        for line in path.read_text(encoding="utf-8").splitlines():
            event = json.loads(line)
            if event["Event"] == f"SparkListener{kind}":
                yield event


def tasks(directory: Path) -> list[Task]:
    """The tasks that have ended."""
    return [_task(event) for event in events(directory, "TaskEnd")]


def all_logged(spark: SparkSession) -> None:
    """Wait until the log has all that has happened."""
    spark._jsc.sc().listenerBus().waitUntilEmpty()


def _task(event: dict[str, Any]) -> Task:
    metrics = event.get("Task Metrics") or {}
    read = metrics.get("Shuffle Read Metrics", {})
    return Task(
        stage=event["Stage ID"],
        succeeded=event["Task End Reason"]["Reason"] == "Success",
        seconds=metrics.get("Executor Run Time", 0) / 1000,
        result_bytes=metrics.get("Result Size", 0),
        shuffle_written=metrics.get("Shuffle Write Metrics", {}).get("Shuffle Bytes Written", 0),
        shuffle_read=read.get("Remote Bytes Read", 0) + read.get("Local Bytes Read", 0),
    )
