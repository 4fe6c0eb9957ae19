"""Limits of connections that uvicorn lacks: size and time of a request's head, their number, slow readers.

uvicorn limits neither the size of a request's head nor the time until it is complete. `LimitedProtocol`
counts bytes and headers while they arrive. `Connections` looks at all connections once a second and ends
those that have taken too long. Bodies are limited by the middleware.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import resource
from enum import Enum
from http import HTTPStatus
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from coclick.service.metrics import Metrics
from coclick.service.settings import MAX_BODY, ConnectionLimits

log = logging.getLogger("coclick.service")

_PIECE = 16 << 10  # bytes that are parsed before the limits are checked again
_MAX_ENCODED_BODY = 2 * MAX_BODY  # bytes of a body with the lengths of its chunks
_MAX_DISCARDED = 2 * MAX_BODY  # bytes that are read from a client that does not stop sending
_SWEEP_SECONDS = 1.0
_SPARE_FILES = 256  # for models, logs and the listening socket
_REFUSED_AT_ONCE = 1.1  # times the limit of connections: beyond, a connection is cut off without an answer


class _Reading(Enum):
    """What is expected from the client next."""

    NOTHING = 0  # between two requests; uvicorn ends connections that stay idle
    HEAD = 1
    BODY = 2
    END = 3  # its last response is written; whatever it still sends is discarded


class Connections:
    """All open connections of a process."""

    def __init__(self, limits: ConnectionLimits, metrics: Metrics) -> None:
        self.limits, self.metrics = limits, metrics
        self.max_open = min(limits.connections, int((_open_files() - _SPARE_FILES) / _REFUSED_AT_ONCE))
        self._open: set[LimitedProtocol] = set()

    def add(self, connection: LimitedProtocol) -> None:
        """Count a connection."""
        self._open.add(connection)
        self.metrics.connections_open(1)

    def remove(self, connection: LimitedProtocol) -> None:
        """Forget a connection that is closed."""
        if connection in self._open:
            self._open.remove(connection)
            self.metrics.connections_open(-1)

    def __len__(self) -> int:
        return len(self._open)

    async def run(self) -> None:
        """End connections that have taken too long, until the task is cancelled."""
        loop = asyncio.get_running_loop()
        while True:
            await asyncio.sleep(_SWEEP_SECONDS)
            now = loop.time()
            for connection in list(self._open):
                try:
                    connection.check(now)
                except Exception:
                    log.exception("a connection could not be checked")
                    with contextlib.suppress(Exception):
                        connection.transport.abort()


class LimitedProtocol(HttpToolsProtocol):
    """uvicorn's protocol with limits; the `Connections` come from the application's lifespan."""

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        self._all: Connections = self.app_state["connections"]
        self._limits = self._all.limits
        self._reading = _Reading.HEAD
        self._since = self.loop.time()  # when the client began to send the head, or its end was decided
        self._received = 0  # bytes of the head or the body
        self._unsent_since: float | None = None
        self._refusal: tuple[int, str, str | None] | None = None
        self._from_pipeline: Any = None  # the last request that had to wait; `cycle` is the last that arrived

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Accept the connection if there are not too many."""
        super().connection_made(transport)
        self._all.add(self)
        if len(self._all) > self._all.max_open * _REFUSED_AT_ONCE:
            self._abort("connections")
        elif len(self._all) > self._all.max_open:
            self._refuse(
                503, "too many open connections", "retry later, and close connections", "connections"
            )

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        self._disconnect()
        self._all.remove(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Parse what arrives in small pieces, and stop at a limit."""
        for start in range(0, len(data), _PIECE):
            if self._reading is _Reading.END:
                self._received += len(data) - start
                if self._received > _MAX_DISCARDED:
                    self.transport.abort()
                return
            if self.transport.is_closing():
                return
            piece = data[start : start + _PIECE]
            if self._reading is _Reading.NOTHING:
                self._expect(_Reading.HEAD)
            super().data_received(piece)
            self._count(len(piece))

    def on_message_begin(self) -> None:
        """Expect a head; several requests may arrive in one piece."""
        super().on_message_begin()
        if self._reading is not _Reading.HEAD:
            self._expect(_Reading.HEAD)

    def on_header(self, name: bytes, value: bytes) -> None:
        """Add a header if there are not too many; trailers, which follow the body, are ignored."""
        if self._reading is not _Reading.HEAD:
            return
        if len(self.headers) >= self._limits.headers:
            self._refusal = (
                431,
                f"the request has more than {self._limits.headers} headers",
                "send fewer headers",
            )
            raise ValueError(self._refusal[1])  # stops the parser, which then calls send_400_response
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """Start to answer; the body may follow."""
        self._expect(_Reading.BODY)
        self._unsent_since = None
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        """Note that the request is complete."""
        super().on_message_complete()
        self._expect(_Reading.NOTHING)

    def on_response_complete(self) -> None:
        """Go on with the next request; end the connection if the body of this one has not arrived yet."""
        if (
            self._reading is _Reading.BODY
            and self.cycle.response_complete
            and not self.transport.is_closing()
        ):
            self._end()
        elif self._reading is not _Reading.END:
            if self.pipeline:
                self._from_pipeline = self.pipeline[-1][0]  # which now begins
            super().on_response_complete()

    def send_400_response(self, msg: str) -> None:
        """Answer what is not HTTP, or beyond a limit."""
        code, message, hint = self._refusal or (400, "this is not a valid HTTP request", None)
        self._refuse(code, message, hint, "headers" if self._refusal else "invalid")

    def check(self, now: float) -> None:
        """End the connection if the client has taken too long."""
        if not self.transport.get_write_buffer_size():
            self._unsent_since = None
        elif self._unsent_since is None:
            self._unsent_since = now
        elif now - self._unsent_since > self._limits.response_seconds:
            self._abort("slow response")
        seconds = now - self._since
        if self._reading is _Reading.END and seconds > self._limits.end_seconds:
            self.transport.abort()
        elif self._reading is _Reading.HEAD and seconds > self._limits.head_seconds:
            if self._received:
                within = (
                    f"the head of the request did not arrive within {self._limits.head_seconds:g} seconds"
                )
                self._refuse(408, within, "send requests at once", "slow head")
            else:  # such as a browser that connects in advance
                self._end()

    def _expect(self, reading: _Reading) -> None:
        self._reading, self._since, self._received = reading, self.loop.time(), 0

    def _count(self, n_bytes: int) -> None:
        if self._reading is _Reading.END:
            return
        self._received += n_bytes
        if self._reading is _Reading.HEAD and self._received > self._limits.head_bytes:
            limit = f"the head of the request has more than {self._limits.head_bytes:,} bytes"
            self._refuse(
                431, limit, "send shorter headers; long lists belong into the body of a POST", "headers"
            )
        elif self._reading is _Reading.BODY and self._received > _MAX_ENCODED_BODY:
            self._abort("body")

    def _refuse(self, code: int, message: str, hint: str | None, reason: str) -> None:
        """Write a last response if none is under way, and end the connection."""
        if self._reading is _Reading.END or self.transport.is_closing():
            return
        if self.cycle is not None and not self.cycle.response_complete:
            if self.cycle.response_started or self.pipeline:
                self._abort(reason)
                return
            self.cycle.disconnected = True  # the application has nothing to answer any more
            self.cycle.message_event.set()
        self._all.metrics.connection_refused(reason)
        body = json.dumps({"error": {"message": message, "where": None, "hint": hint}}).encode()
        head = (
            f"HTTP/1.1 {code} {HTTPStatus(code).phrase}\r\ncontent-type: application/json\r\n"
            f"content-length: {len(body)}\r\nconnection: close\r\ncache-control: no-store\r\n"
            "x-content-type-options: nosniff\r\n\r\n"
        )
        self.transport.write(head.encode() + body)
        self._end()

    def _end(self) -> None:
        """Send nothing more, and read for a moment: closing at once could destroy the response on its way."""
        self._expect(_Reading.END)
        self.flow.resume_reading()
        if self.transport.can_write_eof():
            self.transport.write_eof()

    def _abort(self, reason: str) -> None:
        self._all.metrics.connection_refused(reason)
        self._expect(_Reading.END)
        self._disconnect()
        self.transport.abort()

    def _disconnect(self) -> None:
        """Let all requests know that there is nobody to answer: uvicorn tells only the last that arrived."""
        for cycle in (self.cycle, self._from_pipeline, *(waiting for waiting, _ in self.pipeline)):
            if cycle is not None and not cycle.response_complete:
                cycle.disconnected = True
                cycle.message_event.set()


def raise_open_files(wanted: int) -> None:
    """Raise the number of open files of this process and its workers, as far as the system allows."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    if soft != resource.RLIM_INFINITY and soft < most:
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


def _open_files() -> int:
    soft = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return 1 << 20 if soft == resource.RLIM_INFINITY else max(soft, 2 * _SPARE_FILES)
