"""`make soak`: a server under load for a long time, with models swapped and nonsense asked in between.

Fails at the first wrong answer or failed request, and if the server's own memory grows.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import threading
import time
from pathlib import Path
from urllib.parse import quote

from benchmarks._server import Server, ask, serving
from coclick import answers, build, open_model, simulate, train
from coclick.service.settings import MAX_BODY

CLIENTS = 4
PAUSE = 0.03  # seconds between the requests of a client
SWAP = 5.0  # seconds between swaps
GROWTH = 30 << 20  # bytes after the first tenth of the time
NONSENSE = [
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
        right = [[answers.search(model, [query])[0] for model in models] for query in queries]
        with serving(str(home / "model")) as server:
            soak = Soak(server, queries, right)
            soak.run(minutes * 60, lambda i: models[i % 2].save(home / "model", force=True))
            opened = open_model(home / "model")
            assert ask(server.connect(), "GET", "/models")[0] == 200 and opened.search(queries[0]).hits()


class Soak:
    """Clients that ask, and what they found."""

    def __init__(self, server: Server, queries: list[str], right: list[list[dict]]) -> None:
        self._server, self._queries, self._right = server, queries, right
        self._ended = threading.Event()
        self._wrong: list[str] = []
        self._asked = 0

    def run(self, seconds: float, swap) -> None:
        clients = [threading.Thread(target=self._client, args=(i,)) for i in range(CLIENTS)]
        for client in clients:
            client.start()
        started, swaps, first = time.monotonic(), 0, 0
        while (now := time.monotonic() - started) < seconds and not self._wrong:
            time.sleep(min(SWAP, seconds - now))
            swaps += 1
            swap(swaps)
            own = self._server.memory()["Anonymous"]
            if now >= seconds / 10 and not first:
                first = own
            print(
                f"{now:6.0f} s  {self._asked:9,} requests  {swaps:4} swaps  {own / 2**20:6.1f} MB", flush=True
            )
        self._ended.set()
        for client in clients:
            client.join()
        if self._wrong:
            sys.exit(f"wrong: {self._wrong[0]}")
        if own - first > GROWTH:
            sys.exit(f"memory grew from {first:,} to {own:,} bytes")
        print(f"no wrong answer, no failed request; memory {first / 2**20:.1f} → {own / 2**20:.1f} MB")

    def _client(self, number: int) -> None:
        connection = self._server.connect()
        while not self._ended.is_set() and not self._wrong:
            self._asked += 1
            if self._asked % 10 == number:
                method, path, body, expected = NONSENSE[self._asked // 10 % len(NONSENSE)]
                status, found = ask(connection, method, path, body)
                right = status == expected and b'"error"' in found
                if status == 413:
                    connection = self._server.connect()  # the server need not read what is too large
            else:
                i = self._asked % len(self._queries)
                status, found = ask(connection, "GET", f"/search?q={quote(self._queries[i])}")
                right = status == 200 and json.loads(found) in self._right[i]
            if not right:
                self._wrong.append(f"{status} {found[:500]!r}")
            time.sleep(PAUSE)


if __name__ == "__main__":
    main()
