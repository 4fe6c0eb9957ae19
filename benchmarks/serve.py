"""The HTTP service with `vpcg`, compared with the library call and with our limits; requests by wrk.

Queries are drawn at random from the graph. wrk (a Debian package) and the server share the machine's cores.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

import numpy as np

from benchmarks._row import make_row
from benchmarks._saved_graphs import saved_model
from benchmarks._server import Server, request, serving
from coclick import answers, open_model
from coclick.errors import UserError
from coclick.jit.threads import set_threads
from coclick.models.base import Model

QUERIES = 2000
SECONDS = 10
CONNECTIONS = 16
MIN_SEARCHES = 1000  # per second
MAX_P99 = 20.0  # ms, at half that rate
CANDIDATES, MAX_RANK_MS = 100, 2.0
MAX_MEMORY = 300 << 20  # bytes, without the memory-mapped model
MAX_START_SECONDS, N_STARTS = 1.0, 7


def rows(shape: str, threads: int) -> list[dict]:
    if not shutil.which("wrk"):
        raise UserError("this benchmark needs wrk", hint="apt-get install wrk")
    path = saved_model(shape)
    set_threads(1)
    model = open_model(path)
    random = np.random.default_rng(0)
    queries = [
        model.graph_.queries[int(row)] for row in random.integers(0, len(model.graph_.queries), QUERIES)
    ]
    library = _median(lambda query: answers.search(model, [query]), queries)
    with serving(str(path)) as server:
        same = _same(model, server, queries[:200])
        one = _load(server, queries, connections=1).median
        ranking = _rank(model, server, queries)
        found = [
            _limit(
                shape,
                "searches per second, 16 connections",
                _load(server, queries).per_second,
                MIN_SEARCHES,
                "1/s",
                at_least=True,
            ),
            _limit(
                shape, "p99 at 500 per second", _load(server, queries, MIN_SEARCHES / 2).p99, MAX_P99, "ms"
            ),
            _limit(shape, "100 candidates re-ranked (median)", ranking, MAX_RANK_MS, "ms"),
            _limit(
                shape,
                "memory afterwards, without the mapped model",
                server.memory()["Anonymous"] / 2**20,
                MAX_MEMORY / 2**20,
                "MB",
            ),
        ]
    seconds, again = _start(str(path), queries[0])
    started = _limit(
        shape,
        f"from start after kill -9 to first response (median of {N_STARTS})",
        seconds,
        MAX_START_SECONDS,
        "s",
    )
    found.append(started | {"check": again})
    http = _row(shape, "search over HTTP, one client (median)", "library call", one, library, "ms")
    http["check"] = same
    return [http, *found]


class Load:
    """The measurements of wrk."""

    def __init__(self, text: str) -> None:
        self.per_second = float(re.findall(r"Requests/sec:\s+([\d.]+)", text)[0])
        self.median, self.p99 = (self._milliseconds(text, share) for share in (50, 99))
        if re.search(r"Non-2xx|Socket errors", text):
            raise AssertionError(text)

    @staticmethod
    def _milliseconds(text: str, share: int) -> float:
        value, unit = re.findall(rf"{share}%\s+([\d.]+)(us|ms|s)", text)[0]
        return float(value) * {"us": 0.001, "ms": 1, "s": 1000}[unit]


def _load(
    server: Server, queries: list[str], rate: float | None = None, connections: int = CONNECTIONS
) -> Load:
    """Send searches as fast as possible, or about `rate` per second."""
    with tempfile.TemporaryDirectory() as place:
        script = Path(place) / "queries.lua"
        paths = ",\n".join(f'"{_search(query)}"' for query in queries)
        pause = f"function delay() return {connections * 1000 / rate:.0f} end" if rate else ""
        script.write_text(
            f"local paths = {{{paths}}}\nlocal at = 0\n{pause}\n"
            'request = function() at = at % #paths + 1 return wrk.format("GET", paths[at]) end\n'
        )
        url = f"http://127.0.0.1:{server.port}/"
        command = ["wrk", "-t1", f"-c{connections}", f"-d{SECONDS}", "--latency", "-s", str(script), url]
        return Load(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def _rank(model: Model, server: Server, queries: list[str]) -> float:
    random = np.random.default_rng(1)
    docs = [model.graph_.docs[int(row)] for row in random.integers(0, len(model.graph_.docs), CANDIDATES)]
    connection = server.connect()
    body = {"candidates": docs}
    return _median(
        lambda query: request(connection, "POST", "/rank", {"query": query, **body}), queries[:500]
    )


def _start(path: str, query: str) -> tuple[float, str]:
    """Seconds from start to the first response, with files cached, and whether all responses agree."""
    seconds, responses = [], set()
    for _ in range(N_STARTS):
        began = time.perf_counter()
        with serving(path) as server:
            responses.add(request(server.connect(), "GET", _search(query)))
            seconds.append(time.perf_counter() - began)
            os.kill(server.pid, signal.SIGKILL)
    return statistics.median(seconds), "same response" if len(
        responses
    ) == 1 else f"{len(responses)} different responses"


def _same(model: Model, server: Server, queries: list[str]) -> str:
    import json

    connection = server.connect()
    for query in queries:
        status, found = request(connection, "GET", _search(query))
        if status != 200 or json.loads(found) != answers.search(model, [query])[0]:
            return f"DIFFERENT response for {query!r}"
    return f"same responses to {len(queries)} queries"


def _search(query: str) -> str:
    return f"/search?q={quote(query)}&k=10"


def _median(action: Callable[[str], object], queries: list[str]) -> float:
    """Milliseconds."""
    for query in queries[:100]:
        action(query)
    times = []
    for query in queries:
        started = time.perf_counter()
        action(query)
        times.append(time.perf_counter() - started)
    return statistics.median(times) * 1000


def _limit(shape: str, what: str, ours: float, limit: float, unit: str, *, at_least: bool = False) -> dict:
    row = _row(shape, what, "limit", ours, limit, unit)
    if at_least:
        row["ratio"] = ours / limit
    return row


def _row(shape: str, what: str, peer: str, ours: float, theirs: float, unit: str) -> dict:
    cores = len(os.sched_getaffinity(0))
    return make_row("serve", shape, what, cores, peer, ours, theirs, unit)
