"""Measure time and memory of `build` and `train vpcg` by number of edges, for docs/scale.md.

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

from benchmarks._processes import memory_bytes, processor_seconds
from benchmarks._spark_propagation import local_session
from benchmarks._synthetic_clicks import write_click_log

EDGES_PER_NODE = 5  # on each side, as in shape M
HEADER = " {0} s | {0} CPU s | {0} GB |"
POLL_SECONDS = 0.5


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks._scale", description=__doc__)
    parser.add_argument("--engine", choices=["local", "spark"], required=True)
    parser.add_argument("--edges", type=int, nargs="+", default=[100_000, 1_000_000])
    parser.add_argument("--job", nargs=2, metavar=("ACTION", "PLACE"), help="run one action in this process")
    args = parser.parse_args()
    if args.job:
        _on_spark(args.job[0], Path(args.job[1]))
        return
    print(f"| edges | engine |{HEADER.format('build')}{HEADER.format('train')}", flush=True)
    for edges in args.edges:
        with tempfile.TemporaryDirectory() as name:
            place = Path(name)
            _generate(edges, place)
            run = [_measured(_command(args.engine, action, place), place) for action in ("build", "train")]
        print(f"| {edges:,} | {args.engine} | {' | '.join(run)} |", flush=True)


def _generate(edges: int, place: Path) -> None:
    """Write the log in a separate process, so that its memory is free for training."""
    nodes = edges // EDGES_PER_NODE
    generator = get_context("spawn").Process(target=write_click_log, args=(nodes, nodes, edges, place))
    generator.start()
    generator.join()
    if generator.exitcode:
        sys.exit(f"generating {edges:,} edges failed")


def _command(engine: str, action: str, place: Path) -> list[str]:
    if engine == "spark":
        return [sys.executable, "-m", "benchmarks._scale", "--engine", "spark", "--job", action, str(place)]
    clicks, docs, graph = place / "clicks.parquet", place / "docs.parquet", place / "graph"
    arguments = {
        "build": [str(clicks), "--docs", str(docs), "-o", str(graph), "--memory", "8GB"],
        "train": ["vpcg(units=words,own_weight=0)", str(graph), "-o", str(place / "model")],
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
            coclick.spark.train(spark, "vpcg(units=words,own_weight=0)", graph, str(place / "model"))


def _measured(command: list[str], place: Path) -> str:
    """The wall time, CPU time and peak memory of a command and its child processes."""
    started, peak, used = time.perf_counter(), 0, 0.0
    with (place / "output").open("w+") as output:
        process = subprocess.Popen(command, stdout=output, stderr=output)
        while process.poll() is None:
            peak = max(peak, memory_bytes(process.pid))
            used = max(used, processor_seconds(process.pid))
            time.sleep(POLL_SECONDS)
        if process.returncode:
            output.seek(0)
            sys.exit(f"{' '.join(command)} failed:\n{output.read()[-3000:]}")
    return f"{time.perf_counter() - started:.0f} | {used:.0f} | {peak / 1e9:.1f}"


if __name__ == "__main__":
    main()
