"""Clients that try to hold up the server, slow and huge ones. Each must be ended."""

from __future__ import annotations

import contextlib
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager

from benchmarks._soak.trial import Trial, WrongError

PATIENCE = 180.0  # seconds for the server to end what it ends after 10 on an idle machine
HALF_HEADS, HALF_BODIES, DRIPPING, SLOW_READERS = 900, 50, 20, 5
ANSWERS = 400  # that a slow reader asks for, far more than buffers take
_HEAD = b"GET /search?q=x HTTP/1.1\r\nHost: localhost\r\nX-Slow: "
_POST = b"POST /search HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"


def half_heads(trial: Trial) -> None:
    """Send the beginnings of requests, and nothing more (slowloris): all must be ended with 408."""
    with _connections(trial, HALF_HEADS) as clients:
        for client in clients:
            client.sendall(_HEAD)
        _all_refused(trial, clients, b"408", "half-sent heads ended")


def half_bodies(trial: Trial) -> None:
    """Announce bodies that do not arrive."""
    with _connections(trial, HALF_BODIES) as clients:
        for client in clients:
            client.sendall(_POST + b"Content-Length: 1000\r\n\r\n{")
        _all_refused(trial, clients, b"408", "half-sent bodies ended")


def dripping(trial: Trial) -> None:
    """Send single bytes with pauses: the time limit of a head must not restart with each byte."""
    with _connections(trial, DRIPPING) as clients:
        began, left = time.monotonic(), set(clients)
        for client in clients:
            client.sendall(_HEAD)
        while left and not trial.is_over:
            for client in list(left):
                try:
                    client.sendall(b"x")
                except OSError:
                    left.discard(client)
                    trial.count("dripping heads ended")
            if left and time.monotonic() - began > PATIENCE:
                raise WrongError(f"{len(left)} dripping heads are still open after {PATIENCE:g} seconds")
            trial.wait(0.5)


def slow_readers(trial: Trial) -> None:
    """Ask for much and take nothing: the server must not keep the answers for ever."""
    with _connections(trial, SLOW_READERS, receive_buffer=4096) as clients:
        for client in clients:
            client.sendall(b"GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n" * ANSWERS)
        trial.wait(90)  # the server waits 60 seconds
        if trial.is_over:
            return
        for client in clients:
            received = b""  # what the system had buffered is still delivered
            with contextlib.suppress(ConnectionError):
                while part := client.recv(1 << 16):
                    received += part
            if (n := received.count(b"HTTP/1.1 200")) == ANSWERS:
                raise WrongError(f"a client that did not read for 90 seconds still got all {n} answers")
            trial.count("slow readers ended")


def huge_requests(trial: Trial) -> None:
    """Send 32 MB of headers, a header without end, and a body without end: they must be stopped at once."""
    chunk = b"100000\r\n" + b" " * (1 << 20) + b"\r\n"
    for start, more, codes in (
        (_HEAD, b"\r\nX: y" * 200_000, (b"431",)),
        (_HEAD, b"x" * (1 << 20), (b"431",)),
        (_POST + b"Transfer-Encoding: chunked\r\n\r\n", chunk, (b"413", b"")),
    ):
        with _connections(trial, 1) as [client]:
            began, sent = time.monotonic(), 0
            with contextlib.suppress(ConnectionError, TimeoutError):
                client.sendall(start)
                while sent < 32 << 20:
                    client.sendall(more)
                    sent += len(more)
            if sent >= 32 << 20 and time.monotonic() - began > PATIENCE:
                raise WrongError("32 MB were read to the end")
            if (code := _status(client)) not in (*codes, b""):  # none if it was cut off before it was read
                raise WrongError(f"a huge request got {code!r}")
            trial.count("huge requests stopped")


@contextmanager
def _connections(
    trial: Trial, count: int, receive_buffer: int | None = None
) -> Iterator[list[socket.socket]]:
    clients: list[socket.socket] = []
    try:
        for _ in range(count):
            client = socket.socket()
            clients.append(client)
            client.settimeout(PATIENCE)
            if receive_buffer:
                client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
            client.connect(("127.0.0.1", trial.server.port))
        yield clients
    finally:
        for client in clients:
            client.close()


def _all_refused(trial: Trial, clients: list[socket.socket], code: bytes, counted: str) -> None:
    for client in clients:
        if (found := _status(client)) not in (code, b""):
            raise WrongError(f"expected {code!r}, got {found!r}")
        trial.count(counted)
        if trial.is_over:
            return


def _status(client: socket.socket) -> bytes:
    """Return the status of the last answer, after the server has ended the connection."""
    received = b""
    try:
        while part := client.recv(1 << 16):
            received += part
    except TimeoutError:
        raise WrongError(f"the connection is still open after {PATIENCE:g} seconds") from None
    except ConnectionError:
        pass
    return received.split(b" ", 2)[1] if received else b""
