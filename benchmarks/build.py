"""`coclick build` on Parquet events, compared with DuckDB SQL that makes the same tables.

Both read the same file with the same threads and memory, alternately in separate processes; the best run of
each counts. Shape L also tests that 50 million events stay within `--memory 4GB`.
"""

from __future__ import annotations

import contextlib
import io
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks._build_sql import compare, make_tables
from benchmarks._peak_memory import peak
from benchmarks._row import make_row
from benchmarks._synthetic_events import EVENTS, write_events
from coclick.cli.render import build_report
from coclick.graph.click_graph import ClickGraph
from coclick.logs import build

RUNS = {"S": 5, "M": 3, "L": 1}
MEMORY = "4GB"
SQL_MEMORY = "3GB"  # for DuckDB alone, so that the process stays within 4 GB


def rows(shape: str, threads: int) -> list[dict[str, Any]]:
    with tempfile.TemporaryDirectory(prefix="coclick-bench-") as place:
        log, graph, tables = (Path(place) / name for name in ("events.parquet", "graph", "tables"))
        write_events(log, shape, threads)
        tables.mkdir()
        runs = [
            (_run("ours", log, graph, threads), _run("theirs", log, tables, threads))
            for _ in range(RUNS[shape])
        ]
        same = compare(ClickGraph.open(graph), tables)
    ours, theirs = (
        {key: min(run[key] for run in side) for key in side[0]} for side in zip(*runs, strict=True)
    )
    peak = max(run["peak"] for run, _ in runs)
    return [
        make_row(
            name="build",
            shape=shape,
            params=f"{EVENTS[shape]:,} events, {MEMORY}, best of {RUNS[shape]}; peak memory {peak:.2f} GB,"
            f" theirs {theirs['peak']:.2f}; CPU time {ours['cpu']:.1f} s, theirs {theirs['cpu']:.1f};"
            f" printing the report adds {ours['report'] / ours['seconds']:.1%}",
            threads=threads,
            peer="DuckDB SQL",
            ours=ours["seconds"],
            theirs=theirs["seconds"],
            unit="s",
            check="equal value by value: " + ", ".join(f"{count:,} {name}" for name, count in same.items()),
        )
    ]


def _run(what: str, *arguments: object) -> dict[str, float]:
    """Run one side in a separate process, so that its peak memory can be measured."""
    command = [sys.executable, "-m", "benchmarks.build", what, *map(str, arguments)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(done.stdout.splitlines()[-1])


def _measure(what: str, log: Path, out: Path, threads: int) -> dict[str, float]:
    before = resource.getrusage(resource.RUSAGE_SELF)
    started = time.perf_counter()
    if what == "ours":
        build([log], None, out, memory=MEMORY, threads=threads, force=True)
    else:
        make_tables(log, out, threads, SQL_MEMORY)
    seconds = time.perf_counter() - started
    printed = _print_report(out) if what == "ours" else 0.0
    after = resource.getrusage(resource.RUSAGE_SELF)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {"seconds": seconds, "cpu": cpu, "peak": peak(), "report": printed}


def _print_report(graph: Path) -> float:
    """Return the seconds to print the report of a build."""
    stats = ClickGraph.open(graph).stats
    started = time.perf_counter()
    with contextlib.redirect_stdout(io.StringIO()):
        build_report(stats)
    return time.perf_counter() - started


if __name__ == "__main__":
    print(json.dumps(_measure(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]), int(sys.argv[4]))))
