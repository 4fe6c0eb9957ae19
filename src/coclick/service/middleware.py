"""What every request passes: the key, the limit of its body, a time-out, security headers, figures."""

from __future__ import annotations

import asyncio
import base64
import binascii
import hmac
import logging
import time

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from coclick.service.errors import problem
from coclick.service.metrics import Metrics
from coclick.service.settings import BODY, Settings

log = logging.getLogger("coclick.service")

_TOO_LARGE, _IN_PARTS = f"the body has more than {BODY:,} bytes", "send it in parts"
_OPEN = ("/health", "/ready")  # for those who watch the service, and tell nothing of its content
_HEADERS = [  # unless an answer has its own; in the form in which they are sent
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"content-security-policy", b"default-src 'self'; frame-ancestors 'none'; base-uri 'none'"),
    (b"cache-control", b"no-store"),
]


class Guard:
    """An ASGI application around another one."""

    def __init__(self, app: ASGIApp, settings: Settings, metrics: Metrics) -> None:
        self._app = app
        self._key = settings.api_key.encode() if settings.api_key else None
        self._timeout = settings.timeout
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        if scope["method"] == "HEAD":  # like GET; the server leaves the body out
            scope = {**scope, "method": "GET"}
        began = time.perf_counter()
        status = 0

        async def send_guarded(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                own = {name for name, _ in message["headers"]}
                message["headers"].extend(header for header in _HEADERS if header[0] not in own)
            await send(message)

        self._metrics.began()
        try:
            await self._answer(scope, receive, send_guarded)
        except Exception as error:
            if not isinstance(error, TimeoutError):
                log.exception("a defect of coclick, at %s", scope["path"])
            if not status:  # else the answer has begun, and all one can do is to break it off
                await _for_people(error, self._timeout)(scope, receive, send_guarded)
        finally:
            route = getattr(scope.get("route"), "path", "other")
            self._metrics.answered(route, status, time.perf_counter() - began)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = Headers(scope=scope)
        if self._key and scope["path"] not in _OPEN and not _knows(self._key, headers):
            answer = problem(401, "this service asks for a key", hint="send it as X-API-Key: …")
            answer.headers["www-authenticate"] = 'Basic realm="coclick"'
            await answer(scope, receive, send)
            return
        if int(headers.get("content-length") or 0) > BODY:
            await problem(413, _TOO_LARGE, hint=_IN_PARTS)(scope, receive, send)
            return
        taken = 0

        async def receive_limited() -> Message:
            nonlocal taken
            message = await receive()
            taken += len(message.get("body", b""))
            if taken > BODY:
                raise HTTPException(413, _TOO_LARGE)
            return message

        async with asyncio.timeout(self._timeout):
            await self._app(scope, receive_limited, send)


def _knows(key: bytes, headers: Headers) -> bool:
    """Whether a request brings the key: as X-API-Key, as a bearer's token, or as a browser's password."""
    given = headers.get("x-api-key", "")
    scheme, _, rest = headers.get("authorization", "").partition(" ")
    if not given and scheme.lower() == "bearer":
        given = rest
    elif not given and scheme.lower() == "basic":
        try:
            given = base64.b64decode(rest).decode().partition(":")[2]
        except (binascii.Error, UnicodeDecodeError):
            return False
    return hmac.compare_digest(given.encode(), key)


def _for_people(error: Exception, timeout: float) -> ASGIApp:
    if isinstance(error, TimeoutError):
        hint = "ask for less at once, or start the service with a larger --timeout"
        return problem(503, f"this took longer than {timeout:g} seconds", hint=hint)
    return problem(500, "a defect of coclick; the service's log has the details")
