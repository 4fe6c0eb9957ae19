"""`coclick compare` on a log of 40,000 clicks: seconds until the first table, and until the recommendation.

The limits are ours: about 20 seconds and the default budget of three minutes on two cores. Both are measured
on the clock, so other work on the machine counts; `check` has the CPU time.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

from benchmarks._row import make_row
from coclick import logs, simulate
from coclick.jit.threads import set_threads
from coclick.recommendation.compare import compare
from coclick.recommendation.updates import Update

FIRST_TABLE, ALL = 20.0, 180.0  # seconds
EVENTS, QUERIES, DOCS = 500_000, 6000, 8000  # about 41,000 clicks


def rows(shape: str, threads: int) -> list[dict]:
    set_threads(threads)
    tables: list[float] = []
    with tempfile.TemporaryDirectory() as place:
        log = Path(place) / "log"
        simulate.sample(log, queries=QUERIES, docs=DOCS, events=EVENTS)
        graph = logs.build([log / "events.parquet"], log / "docs.tsv", Path(place) / "graph")
        started, cpu = time.perf_counter(), time.process_time()

        def note(update: Update) -> None:
            if update.is_table:
                tables.append(time.perf_counter() - started)

        found = compare(graph, on_update=note)
        found.to_dict()
        taken, cpu = time.perf_counter() - started, time.process_time() - cpu
    clicks = f"{graph.clicks.data.sum():,.0f} clicks"
    models = f"{len(found.leaderboard.results)} models, {len(found.left_out)} left out"
    done = f"{models}, recommended: {found.recommended}, {cpu:.0f} s of CPU time"
    first = f"{len(tables)} tables before the last"
    return [
        make_row(
            "compare",
            clicks,
            "first table",
            threads,
            "limit",
            (tables or [taken])[0],
            FIRST_TABLE,
            "s",
            first,
        ),
        make_row("compare", clicks, "budget 3m", threads, "limit", taken, ALL, "s", done),
    ]
