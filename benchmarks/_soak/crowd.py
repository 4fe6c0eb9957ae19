"""Thousands of connections at the same time, over each of which a request is answered."""

from __future__ import annotations

import json
import re
import resource
import socket
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from urllib.parse import quote

from benchmarks._server import request
from benchmarks._soak.trial import Trial, WrongError
from coclick.service.connections import raise_open_files

SIZE = 10_000
_SPARE = 2500  # files for the other clients
_WAVE = 250  # requests that are sent before their answers are read
_SILENCE = 9.0  # seconds; the server ends connections that are silent for 10
_PATIENCE = 300.0


def crowd_size(wanted: int) -> int:
    """Return how many connections can be open at once; raises the limit of open files as far as allowed."""
    raise_open_files(2 * (wanted + _SPARE))
    allowed = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return wanted if allowed == resource.RLIM_INFINITY else max(100, min(wanted, int(allowed / 1.1) - _SPARE))


class Crowd:
    """Clients in a process of their own, so that they are as fast as the server."""

    def __init__(self, trial: Trial, size: int, query: str, expected: list[dict]) -> None:
        self._trial, self._size, self._query, self._expected = trial, size, query, expected
        self._pool = ProcessPoolExecutor(1, mp_context=get_context("spawn"))
        self.largest = 0

    def __call__(self) -> None:
        """Open all, then ask over each, and check all answers."""
        future = self._pool.submit(_ask, self._trial.server.port, self._size, quote(self._query))
        while not future.done():
            self._trial.wait(0.2)
            _, metrics = request(self._trial.server.connect(), "GET", "/metrics")
            open_now = re.search(rb"^coclick_connections ([0-9.]+)", metrics, re.MULTILINE)
            self.largest = max(self.largest, int(float(open_now[1])) if open_now else 0)
            if self._trial.is_over:
                break
        for answer, n in future.result().items():
            if answer == b"silent":
                self._trial.count("silent connections of a crowd ended", n)
                continue
            first, _, body = answer.partition(b"\r\n\r\n")
            if b" 200 " not in first[:20] or json.loads(body) not in self._expected:
                raise WrongError(f"{n:,} of {self._size:,} connections got {answer[:300]!r}")
            self._trial.count("answers to a crowd", n)


def _ask(port: int, size: int, query: str) -> Counter[bytes]:
    """Return the answers, and how often each came."""
    head = f"GET /search?q={query} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode()
    clients: list[tuple[socket.socket, float]] = []
    found: Counter[bytes] = Counter()
    try:
        for _ in range(size):
            began = time.monotonic()
            clients.append((socket.create_connection(("127.0.0.1", port), timeout=_PATIENCE), began))
        for start in range(0, size, _WAVE):
            wave = clients[start : start + _WAVE]
            asked = [(client, _send(client, head), began) for client, began in wave]
            for client, sent, began in asked:
                answer = _read(client) if sent else b""
                is_ended = not answer or b" 408 " in answer[:20]
                silent = is_ended and time.monotonic() - began > _SILENCE
                found[b"silent" if silent else _without_date(answer)] += 1
    finally:
        for client, _ in clients:
            client.close()
    return found


def _send(client: socket.socket, head: bytes) -> bool:
    try:
        client.sendall(head)
    except ConnectionError:
        return False
    return True


def _read(client: socket.socket) -> bytes:
    try:
        return b"".join(iter(partial(client.recv, 1 << 16), b""))
    except ConnectionError:
        return b""


def _without_date(answer: bytes) -> bytes:
    head, end, body = answer.partition(b"\r\n\r\n")
    return b"\r\n".join(line for line in head.split(b"\r\n") if not line.startswith(b"date:")) + end + body
