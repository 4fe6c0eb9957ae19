"""`make soak`: put a server under load for a long time, with model swaps and invalid requests in between.

Fails at the first wrong response or failed request, or if the memory of the server grows.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

from benchmarks._server import Server, request, serving
from coclick import answers, build, open_model, simulate, train
from coclick.service.settings import MAX_BODY

CLIENTS = 4
PAUSE_SECONDS = 0.03  # between the requests of a client
SWAP_SECONDS = 5.0
MAX_GROWTH = 30 << 20  # bytes, after the first tenth of the time
INVALID_REQUESTS = [
    ("GET", "/search?k=0", None, 422),
    ("GET", "/search?q=" + "x" * 1001, None, 422),
    ("GET", "/explain?q=x&doc=none", None, 404),
    ("POST", "/rank", b"{", 422),
    ("POST", "/search", b'{"queries": ["' + b"x" * MAX_BODY + b'"]}', 413),
    ("GET", "/%00%ff", None, 404),
]


def main() -> None:
    parser = argparse.ArgumentParser(prog="make soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=30)
    minutes = parser.parse_args().minutes
    with tempfile.TemporaryDirectory() as place:
        home = Path(place)
        simulate.sample(home / "log")
        graph = build([str(home / "log/events.parquet")], home / "log/docs.tsv", home / "graph")
        models = [train(spec, graph) for spec in ("vpcg", "vpcg(start=doc)")]
        models[0].save(home / "model")
        queries = graph.queries.to_list(0, 500)
        expected = [[answers.search(model, [query])[0] for model in models] for query in queries]
        with serving(str(home / "model")) as server:
            soak = Soak(server, queries, expected)
            soak.run(minutes * 60, lambda i: models[i % 2].save(home / "model", force=True))
            opened = open_model(home / "model")
            assert request(server.connect(), "GET", "/models")[0] == 200 and opened.search(queries[0]).hits()


class Soak:
    """Clients that send requests, and the errors they found."""

    def __init__(self, server: Server, queries: list[str], expected: list[list[dict]]) -> None:
        self._server, self._queries, self._expected = server, queries, expected
        self._done = threading.Event()
        self._errors: list[str] = []
        self._n_requests = 0

    def run(self, seconds: float, swap: Callable[[int], object]) -> None:
        clients = [threading.Thread(target=self._client, args=(i,)) for i in range(CLIENTS)]
        for client in clients:
            client.start()
        started, swaps, first = time.monotonic(), 0, 0
        while (now := time.monotonic() - started) < seconds and not self._errors:
            time.sleep(min(SWAP_SECONDS, seconds - now))
            swaps += 1
            swap(swaps)
            own = self._server.memory()["Anonymous"]
            if now >= seconds / 10 and not first:
                first = own
            print(
                f"{now:6.0f} s  {self._n_requests:9,} requests  {swaps:4} swaps  {own / 2**20:6.1f} MB",
                flush=True,
            )
        self._done.set()
        for client in clients:
            client.join()
        if self._errors:
            sys.exit(f"wrong: {self._errors[0]}")
        if own - first > MAX_GROWTH:
            sys.exit(f"memory grew from {first:,} to {own:,} bytes")
        print(f"no wrong response, no failed request; memory {first / 2**20:.1f} → {own / 2**20:.1f} MB")

    def _client(self, number: int) -> None:
        connection = self._server.connect()
        while not self._done.is_set() and not self._errors:
            self._n_requests += 1
            if self._n_requests % 10 == number:
                method, path, body, expected_status = INVALID_REQUESTS[
                    self._n_requests // 10 % len(INVALID_REQUESTS)
                ]
                status, found = request(connection, method, path, body)
                correct = status == expected_status and b'"error"' in found
                if status == 413:
                    connection = self._server.connect()  # the server may close the connection
            else:
                i = self._n_requests % len(self._queries)
                status, found = request(connection, "GET", f"/search?q={quote(self._queries[i])}")
                correct = status == 200 and json.loads(found) in self._expected[i]
            if not correct:
                self._errors.append(f"{status} {found[:500]!r}")
            time.sleep(PAUSE_SECONDS)


if __name__ == "__main__":
    main()
