"""Start-up times with warm caches: help, an error, a search, and the first query of a model."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable

from benchmarks._row import make_row
from benchmarks._saved_graphs import saved_graph, saved_model

LIMIT = {"help": 0.5, "error": 0.5, "search": 1.2, "open and first query": 1.0}  # seconds


def rows(shape: str, threads: int) -> list[dict]:
    model = str(saved_model(shape))
    query = _some_query(shape)
    first = f"import coclick; print(coclick.open_model({model!r}).search({query!r}).hits()[0])"
    actions: dict[str, tuple[list[str], int]] = {
        "help": (["-m", "coclick", "--help"], 0),
        "error": (["-m", "coclick", "info", "no-such-graph"], 2),
        "search": (["-m", "coclick", "search", model, query], 0),
        "open and first query": (["-c", first], 0),
    }
    return [_row(name, shape, *action) for name, action in actions.items()]


def _row(name: str, shape: str, arguments: list[str], expected: int) -> dict:
    def run() -> int:
        return subprocess.run([sys.executable, *arguments], capture_output=True, check=False).returncode

    codes = {run()}  # the first run may compile
    seconds = _median(lambda: codes.add(run()))
    return make_row(
        name="startup",
        shape=shape,
        params=name,
        threads=1,
        peer="limit",
        ours=seconds,
        theirs=LIMIT[name],
        unit="s (median of 5)",
        check="exit code as expected" if codes == {expected} else f"exit codes {codes}, expected {expected}",
    )


def _median(action: Callable[[], object]) -> float:
    times = []
    for _ in range(5):
        started = time.perf_counter()
        action()
        times.append(time.perf_counter() - started)
    return statistics.median(times)


def _some_query(shape: str) -> str:
    from coclick import ClickGraph

    return ClickGraph.open(saved_graph(shape)).queries[0]


if __name__ == "__main__":
    for row in rows("S", len(os.sched_getaffinity(0))):
        print(row)
