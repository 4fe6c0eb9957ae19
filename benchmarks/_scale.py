"""Time and memory of `build` and `train vpcg` against the number of edges, on both engines: the tables of
docs/background/scale.md.

    python -m benchmarks._scale --engine local --edges 100000 1000000
    python -m benchmarks._scale --engine spark --edges 100000 1000000
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from multiprocessing import get_context
from pathlib import Path

from benchmarks._click_log import write_click_log
from benchmarks._processes import memory_bytes, processor_seconds
from benchmarks._spark import local_session

EDGES_PER_NODE = 5  # of either side, as in the shape M
HEADER = " {0} s | {0} s of cores | {0} GB |"
EVERY = 0.5  # seconds: how often memory is looked at


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks._scale", description=__doc__)
    parser.add_argument("--engine", choices=["local", "spark"], required=True)
    parser.add_argument("--edges", type=int, nargs="+", default=[100_000, 1_000_000])
    parser.add_argument("--job", nargs=2, metavar=("ACTION", "PLACE"), help="one action, in this process")
    chosen = parser.parse_args()
    if chosen.job:
        _on_spark(chosen.job[0], Path(chosen.job[1]))
        return
    print(f"| edges | engine |{HEADER.format('build')}{HEADER.format('train')}", flush=True)
    for edges in chosen.edges:
        with tempfile.TemporaryDirectory() as name:
            place = Path(name)
            _draw(edges, place)
            run = [_measured(_command(chosen.engine, action, place), place) for action in ("build", "train")]
        print(f"| {edges:,} | {chosen.engine} | {' | '.join(run)} |", flush=True)


def _draw(edges: int, place: Path) -> None:
    """Write the log, in a process of its own: what drawing takes must be free again for training."""
    nodes = edges // EDGES_PER_NODE
    drawing = get_context("spawn").Process(target=write_click_log, args=(nodes, nodes, edges, place))
    drawing.start()
    drawing.join()
    if drawing.exitcode:
        sys.exit(f"drawing {edges:,} edges failed")


def _command(engine: str, action: str, place: Path) -> list[str]:
    if engine == "spark":
        return [sys.executable, "-m", "benchmarks._scale", "--engine", "spark", "--job", action, str(place)]
    clicks, docs, graph = place / "clicks.parquet", place / "docs.parquet", place / "graph"
    arguments = {
        "build": [str(clicks), "--docs", str(docs), "-o", str(graph), "--memory", "8GB"],
        "train": ["vpcg", str(graph), "-o", str(place / "model")],
    }
    return [sys.executable, "-m", "coclick", action, *arguments[action]]


def _on_spark(action: str, place: Path) -> None:
    import coclick.spark

    graph = str(place / "graph")
    with local_session(len(os.sched_getaffinity(0))) as (spark, _):
        if action == "build":
            log, docs = (spark.read.parquet(str(place / name)) for name in ("clicks.parquet", "docs.parquet"))
            coclick.spark.build(spark, log, docs, graph)
        else:
            coclick.spark.train(spark, "vpcg", graph, str(place / "model"))


def _measured(command: list[str], place: Path) -> str:
    """The seconds that a command takes, those of all cores, and the most memory of all its processes."""
    started, most, used = time.perf_counter(), 0, 0.0
    with (place / "output").open("w+") as output:
        process = subprocess.Popen(command, stdout=output, stderr=output)
        while process.poll() is None:
            most = max(most, memory_bytes(process.pid))
            used = max(used, processor_seconds(process.pid))
            time.sleep(EVERY)
        if process.returncode:
            output.seek(0)
            sys.exit(f"{' '.join(command)} failed:\n{output.read()[-3000:]}")
    return f"{time.perf_counter() - started:.0f} | {used:.0f} | {most / 1e9:.1f}"


if __name__ == "__main__":
    main()
