"""Clients that send too much, too slowly, or too many connections; each on a real socket."""

import asyncio
import json
import resource
import socket
import threading
import time
from contextlib import contextmanager

import httpx
import pytest
import uvicorn

import planted
from coclick.service import connections
from coclick.service.app import create_app
from coclick.service.connections import LimitedProtocol, raise_open_files
from coclick.service.loaded_models import LoadedModels
from coclick.service.settings import ConnectionLimits, Settings

QUERY = next(iter(planted.TOPICS))
HEAD = b"GET /search?q=x HTTP/1.1\r\nHost: localhost\r\n"
POST = b"POST /search HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
LIMITS = ConnectionLimits(
    connections=20, head_seconds=0.3, body_seconds=0.3, response_seconds=0.3, end_seconds=0.3
)


@pytest.fixture(autouse=True)
def _sweep_often(monkeypatch):
    monkeypatch.setattr(connections, "_SWEEP_SECONDS", 0.05)


@contextmanager
def listening(models, limits=LIMITS, loop="uvloop", **more):
    """Serve in a thread: (port, number of open connections)."""
    settings = Settings((("vpcg", str(models / "vpcg")),), limits=limits, **more)
    app = create_app(LoadedModels(settings.models), settings)
    config = uvicorn.Config(app, http=LimitedProtocol, ws="none", loop=loop, log_level="error")
    server = uvicorn.Server(config)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=server.run, args=([listener],))
        thread.start()
        try:
            until(lambda: server.started)
            yield listener.getsockname()[1], lambda: len(server.server_state.connections)
        finally:
            server.should_exit = True
            thread.join(30)


def until(condition, seconds=10.0):
    limit = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < limit, "it did not happen"
        time.sleep(0.01)


def connect(port):
    return socket.create_connection(("127.0.0.1", port), timeout=10)


def read_all(client):
    """Everything until the server ends the connection."""
    parts = []
    while part := client.recv(65536):
        parts.append(part)
    return b"".join(parts)


def answer_of(received):
    head, _, body = received.partition(b"\r\n\r\n")
    return int(head.split()[1]), json.loads(body)["error"]["message"] if b'"error"' in body else body


def is_served(port):
    return httpx.get(f"http://127.0.0.1:{port}/search", params={"q": QUERY}).status_code == 200


@pytest.mark.parametrize("loop", ["uvloop", "asyncio"])
def test_heads_that_are_too_large_are_refused_before_they_cost_time(models, loop):
    with listening(models, loop=loop) as (port, count):
        for sent, said in (
            (HEAD + b"X-Large: " + b"x" * (1 << 20), "more than 65,536 bytes"),
            (b"GET /" + b"x" * (1 << 20), "more than 65,536 bytes"),
            (HEAD + b"".join(b"X-%d: 1\r\n" % i for i in range(101)) + b"\r\n", "more than 100 headers"),
            (HEAD + b"X: 1\r\n" * 50_000, "more than 100 headers"),
        ):
            with connect(port) as client:
                client.sendall(sent)
                code, message = answer_of(read_all(client))
                assert code == 431 and said in message
        many = {f"x-{i}": "y" * 400 for i in range(90)}
        assert httpx.get(f"http://127.0.0.1:{port}/ready", headers=many).status_code == 200
        until(lambda: count() == 0)
        metrics = httpx.get(f"http://127.0.0.1:{port}/metrics").text
        assert 'coclick_connections_refused_total{reason="headers"} 4.0' in metrics


def test_endless_headers_are_cut_off(models):
    with listening(models) as (port, _), connect(port) as client:
        sent = 0
        with pytest.raises(OSError):
            while sent < 200 << 20:
                sent += client.send(b"X: " + b"y" * (1 << 20))
        assert sent < 40 << 20, "what is sent after the refusal is read for a moment only"


@pytest.mark.parametrize("loop", ["uvloop", "asyncio"])
def test_half_sent_heads_do_not_stay(models, loop):
    with listening(models, loop=loop) as (port, count):
        silent, slow, dripping = connect(port), connect(port), connect(port)
        slow.sendall(HEAD)
        for _ in range(40):
            try:
                dripping.sendall(b"G" if not _ else b"E")
            except OSError:
                break
            time.sleep(0.03)
        assert answer_of(read_all(slow))[0] == 408 and read_all(silent) == b""
        until(lambda: count() == 0)
        for client in (silent, slow, dripping):
            client.close()
        assert is_served(port)


def test_a_second_request_has_its_own_time(models):
    with listening(models) as (port, count), connect(port) as client:
        client.sendall(HEAD + b"\r\n")
        assert client.recv(65536).startswith(b"HTTP/1.1 200")
        time.sleep(0.5)  # longer than a head may take: between two requests is another limit
        client.sendall(HEAD + b"\r\n")
        assert client.recv(65536).startswith(b"HTTP/1.1 200")
        client.sendall(b"GET /half")
        assert answer_of(read_all(client))[0] == 408
        until(lambda: count() == 0)


def test_bodies_that_do_not_arrive(models):
    with listening(models) as (port, count):
        with connect(port) as client:
            client.sendall(POST + b"Content-Length: 100\r\n\r\n{")
            code, message = answer_of(read_all(client))
            assert code == 408 and message == "the body did not arrive within 0.3 seconds"
        with connect(port) as client:  # refused before the body: the connection must not stay open for it
            client.sendall(b"POST /nothing HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n{")
            assert answer_of(read_all(client))[0] == 421
        until(lambda: count() == 0)


@pytest.mark.parametrize("loop", ["uvloop", "asyncio"])
def test_bodies_that_do_not_arrive_while_the_loop_is_held_up(models, loop, monkeypatch):
    """The time of the body and that of the request were over at once, and a client's fault got 503."""
    check = LimitedProtocol.check

    def check_for_long(connection, now):
        if connection._reading is connections._Reading.BODY:
            time.sleep(0.7)
        check(connection, now)

    monkeypatch.setattr(LimitedProtocol, "check", check_for_long)
    with listening(models, loop=loop, timeout=0.5) as (port, _), connect(port) as client:
        client.sendall(POST + b"Content-Length: 100\r\n\r\n{")
        code, message = answer_of(read_all(client))
        assert code == 408 and message == "the body did not arrive within 0.3 seconds"


def test_bodies_that_are_too_large(models):
    with listening(models) as (port, count):
        with connect(port) as client:
            client.sendall(POST + b"Content-Length: 5000000\r\n\r\n" + b" " * 5_000_000)
            assert answer_of(read_all(client))[0] == 413
        with connect(port) as client, pytest.raises(OSError):  # never ends
            client.sendall(POST + b"Transfer-Encoding: chunked\r\n\r\n")
            for _ in range(200):
                client.sendall(b"100000;" + b"x" * 1000 + b"\r\n" + b" " * (1 << 20) + b"\r\n")
        with connect(port) as client, pytest.raises(OSError):  # an extension of a chunk that never ends
            client.sendall(POST + b"Transfer-Encoding: chunked\r\n\r\n1;")
            for _ in range(200):
                client.sendall(b"x" * (1 << 20))
        until(lambda: count() == 0)


def test_chunks_and_trailers_are_read(models):
    body = json.dumps({"queries": [QUERY]}).encode()
    chunks = b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in (body[:5], body[5:]))
    with listening(models) as (port, _), connect(port) as client:
        trailers = b"".join(b"X-%d: 1\r\n" % i for i in range(200))
        client.sendall(POST + b"Transfer-Encoding: chunked\r\n\r\n" + chunks + b"0\r\n" + trailers + b"\r\n")
        assert client.recv(65536).startswith(b"HTTP/1.1 200")


def test_pipelined_requests_are_all_answered(models):
    last = HEAD + b"Connection: close\r\n\r\n"
    with listening(models) as (port, _), connect(port) as client:
        client.sendall((HEAD + b"\r\n") * 3 + last)
        assert read_all(client).count(b"HTTP/1.1 200") == 4


def test_a_client_that_does_not_read_is_cut_off(models):
    with listening(models) as (port, count):
        client = socket.socket()
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.connect(("127.0.0.1", port))
        request = b"GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n"
        client.sendall(request * 400)  # far more than the buffers of the system take
        until(lambda: count() == 1)
        until(lambda: count() == 0)
        client.close()
        assert is_served(port)
        metrics = httpx.get(f"http://127.0.0.1:{port}/metrics").text
        assert 'coclick_connections_refused_total{reason="slow response"} 1.0' in metrics


@pytest.mark.parametrize("loop", ["uvloop", "asyncio"])
@pytest.mark.parametrize("seconds", [0.1, 1.0])  # the client leaves, or is cut off
def test_requests_of_a_client_that_left_are_no_internal_errors(models, loop, seconds, caplog):
    """Answers to pipelined requests were written to a closed connection, each with a traceback in the log."""
    with listening(models, loop=loop) as (port, count):
        clients = [socket.socket() for _ in range(3)]
        for client in clients:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            client.connect(("127.0.0.1", port))
            client.sendall(b"GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n" * 300)
        time.sleep(seconds)
        for client in clients:
            client.close()
        until(lambda: count() == 0)
        assert is_served(port)
    assert [record.getMessage() for record in caplog.records if record.levelname == "ERROR"] == []


def test_the_number_of_connections_is_limited(models):
    with listening(models, ConnectionLimits(connections=20)) as (port, count):
        clients = [connect(port) for _ in range(20)]
        until(lambda: count() == 20)
        with connect(port) as client:
            code, message = answer_of(read_all(client))
            assert code == 503 and message == "too many open connections"
        for client in clients:
            client.close()
        until(lambda: count() == 0)
        assert is_served(port)


def test_what_is_not_http(models):
    with listening(models) as (port, _):
        for sent in (b"\x16\x03\x01\x02\x00", b"GET / HTTP/9\r\n\r\n", b"nonsense\r\n\r\n"):
            with connect(port) as client:
                client.sendall(sent)
                assert answer_of(read_all(client)) == (400, "this is not a valid HTTP request")


def test_open_files_are_raised_to_what_is_allowed(monkeypatch):
    limits = [(1024, 4096)]
    monkeypatch.setattr(resource, "getrlimit", lambda _: limits[-1])
    monkeypatch.setattr(resource, "setrlimit", lambda _, given: limits.append(given))
    raise_open_files(100_000)
    assert limits[-1] == (4096, 4096)
    raise_open_files(1000)
    assert len(limits) == 2
    app_limits = connections.Connections(ConnectionLimits(), connections.Metrics())
    assert app_limits.max_open == int((4096 - 256) / 1.1)


def test_the_sweep_survives_a_connection_that_cannot_be_checked(monkeypatch):
    class Broken:
        class transport:
            aborted = False

            @classmethod
            def abort(cls):
                cls.aborted = True

        def check(self, _):
            raise OverflowError

    monkeypatch.setattr(connections, "_SWEEP_SECONDS", 0.01)
    open_ = connections.Connections(ConnectionLimits(), connections.Metrics())
    open_.add(Broken())  # type: ignore[arg-type]

    async def story():
        task = asyncio.create_task(open_.run())
        await asyncio.sleep(0.05)
        assert not task.done() and Broken.transport.aborted
        task.cancel()

    asyncio.run(story())
