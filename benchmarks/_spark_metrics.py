"""Task metrics from Spark's event log."""

from __future__ import annotations

import json
import os
import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar

from pyspark.sql import SparkSession

from benchmarks._processes import processor_seconds

Result = TypeVar("Result")


class Task(NamedTuple):
    """A finished attempt of a task."""

    stage: int
    succeeded: bool
    seconds: float  # executor run time
    result_bytes: int  # sent to the driver
    shuffle_written: int  # bytes
    shuffle_read: int


def events(directory: Path, kind: str) -> Iterator[dict[str, Any]]:
    """Yield all events of a kind, such as "TaskEnd", from a directory of event logs."""
    for path in sorted(directory.rglob("events_*")):
        for line in path.read_text(encoding="utf-8").splitlines():
            event = json.loads(line)
            if event["Event"] == f"SparkListener{kind}":
                yield event


def tasks(directory: Path) -> list[Task]:
    """Return the finished tasks."""
    return [_task(event) for event in events(directory, "TaskEnd")]


def wait_for_log(spark: SparkSession) -> None:
    """Wait until all events are written."""
    spark._jsc.sc().listenerBus().waitUntilEmpty()


@dataclass(frozen=True)
class Run(Generic[Result]):
    """The result and the cost of an action."""

    result: Result
    seconds: float
    core_seconds: float  # including Spark and its workers
    tasks: list[Task]

    @property
    def shuffled(self) -> int:
        """Shuffle bytes written."""
        return sum(task.shuffle_written for task in self.tasks)

    def slowest_to_median(self, parts: int) -> float:
        """The run time of the slowest task over the median, among tasks that read shuffled data."""
        readers = [task.seconds for task in self.tasks if task.shuffle_read]
        if len(readers) != parts:
            raise ValueError(f"{len(readers)} tasks read shuffled data, expected {parts}")
        return max(readers) / statistics.median(readers)


class Meter:
    """Run actions and read their metrics from the event log."""

    def __init__(self, spark: SparkSession, log: Path) -> None:
        self.spark, self.log = spark, log

    def run(self, action: Callable[[], Result]) -> Run[Result]:
        """Run an action and return its result, time and tasks."""
        before = len(self._tasks())
        started, used = time.perf_counter(), processor_seconds(os.getpid())
        result = action()
        seconds, used = time.perf_counter() - started, processor_seconds(os.getpid()) - used
        return Run(result, seconds, used, self._tasks()[before:])

    def _tasks(self) -> list[Task]:
        wait_for_log(self.spark)
        return tasks(self.log)


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
