"""What Spark's own event log says of its tasks."""

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


@dataclass(frozen=True)
class Run(Generic[Result]):
    """What an action took."""

    result: Result
    seconds: float
    core_seconds: float  # of this process, Spark and its workers
    tasks: list[Task]

    @property
    def shuffled(self) -> int:
        """Bytes written for other tasks to read."""
        return sum(task.shuffle_written for task in self.tasks)

    def slowest_to_median(self, parts: int) -> float:
        """Of the tasks that read one part each of what was shuffled."""
        readers = [task.seconds for task in self.tasks if task.shuffle_read]
        if len(readers) != parts:
            raise ValueError(f"{len(readers)} tasks read from others, not {parts}")
        return max(readers) / statistics.median(readers)


class Meter:
    """Runs actions, and reads what Spark logged of them."""

    def __init__(self, spark: SparkSession, log: Path) -> None:
        self.spark, self.log = spark, log

    def run(self, action: Callable[[], Result]) -> Run[Result]:
        """The result of an action, with its time and its tasks."""
        before = len(self._tasks())
        started, used = time.perf_counter(), processor_seconds(os.getpid())
        result = action()
        seconds, used = time.perf_counter() - started, processor_seconds(os.getpid()) - used
        return Run(result, seconds, used, self._tasks()[before:])

    def _tasks(self) -> list[Task]:
        all_logged(self.spark)
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
