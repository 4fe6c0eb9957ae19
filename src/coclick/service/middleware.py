"""What applies to every request: host, API key, limits of the body, timeout, security headers, metrics."""

from __future__ import annotations

import asyncio
import base64
import hmac
import logging
import time

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from coclick.service.errors import error_response
from coclick.service.hosts import AllowedHosts
from coclick.service.metrics import Metrics
from coclick.service.settings import MAX_BODY, Settings

log = logging.getLogger("coclick.service")

_TOO_LARGE, _SPLIT = f"the body has more than {MAX_BODY:,} bytes", "split it into several requests"
_BODY_SHARE = 0.9  # of the timeout of a request; a body that is late gets its own error before that
_PUBLIC = ("/health", "/ready")  # for monitoring; they reveal no content
_POLICY = "default-src 'self'; frame-ancestors 'none'; base-uri 'none'"
_PICTURES = "; img-src 'self' http: https:"  # of documents, from wherever their fields say
_HEADERS = [  # unless the response sets its own; as ASGI sends them
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
]


class ServiceMiddleware:
    """An ASGI application that wraps another one."""

    def __init__(self, app: ASGIApp, settings: Settings, metrics: Metrics) -> None:
        self._app = app
        self._key = settings.api_key.encode() if settings.api_key else None
        self._hosts = AllowedHosts(settings.allowed_hosts)
        self._timeout = settings.timeout
        self._body_timeout = min(_BODY_SHARE * settings.timeout, settings.limits.body_seconds)
        self._metrics = metrics
        policy = _POLICY + (_PICTURES if settings.images else "")
        self._headers = [*_HEADERS, (b"content-security-policy", policy.encode())]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        if scope["method"] == "HEAD":  # like GET; the server drops the body
            scope = {**scope, "method": "GET"}
        began = time.perf_counter()
        status = 0

        async def send_with_headers(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                present = {name for name, _ in message["headers"]}
                message["headers"].extend(header for header in self._headers if header[0] not in present)
            await send(message)

        self._metrics.request_started()
        try:
            await self._handle(scope, receive, send_with_headers)
        except Exception as error:
            if not isinstance(error, TimeoutError | HTTPException):
                log.exception("internal error at %r", scope["path"])  # %r: a path may hold line feeds
            if not status:  # otherwise the response has started and can only be cut off
                await self._failure(error, scope["path"])(scope, receive, send_with_headers)
        finally:
            route = getattr(scope.get("route"), "path", "other")
            self._metrics.request_finished(route, status, time.perf_counter() - began)

    async def _handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = Headers(scope=scope)
        if scope["path"] not in _PUBLIC and not self._is_allowed(headers):
            hint = "ask for http://localhost, or start the service with --allowed-host NAME"
            where = ", ".join(headers.getlist("host"))[:200] or None
            message = "the service does not answer for this host"
            await error_response(421, message, where, hint)(scope, receive, send)
            return
        if self._key and scope["path"] not in _PUBLIC and not _has_key(self._key, headers):
            response = error_response(401, "an API key is required", hint="send it as X-API-Key: …")
            response.headers["www-authenticate"] = 'Basic realm="coclick"'
            await response(scope, receive, send)
            return
        if int(headers.get("content-length") or 0) > MAX_BODY:
            await error_response(413, _TOO_LARGE, hint=_SPLIT)(scope, receive, send)
            return
        received, complete, waiting = 0, False, False
        late = HTTPException(408, f"the body did not arrive within {self._body_timeout:g} seconds")
        until = asyncio.get_running_loop().time() + self._body_timeout

        async def receive_limited() -> Message:
            nonlocal received, complete, waiting
            waiting = not complete
            try:
                async with asyncio.timeout_at(until if waiting else None):
                    message = await receive()
            except TimeoutError:
                raise late from None
            waiting = False
            received += len(message.get("body", b""))
            complete = not message.get("more_body", False)
            if received > MAX_BODY:
                raise HTTPException(413, _TOO_LARGE)
            return message

        try:
            async with asyncio.timeout(self._timeout):
                await self._app(scope, receive_limited, send)
        except TimeoutError:
            if waiting:  # the event loop was held up, and both times were over when it went on
                raise late from None
            raise

    def _is_allowed(self, headers: Headers) -> bool:
        hosts = headers.getlist("host")
        return self._hosts.allows(hosts[0] if len(hosts) == 1 else None)

    def _failure(self, error: Exception, path: str) -> ASGIApp:
        """Create the response for an error that is not the application's own answer."""
        if isinstance(error, HTTPException):
            return error_response(error.status_code, str(error.detail), path, "see /openapi.json")
        if isinstance(error, TimeoutError):
            hint = "send smaller requests, or start the service with a larger --timeout"
            return error_response(503, f"the request took longer than {self._timeout:g} seconds", hint=hint)
        return error_response(500, "internal error; see the log of the service")


def _has_key(key: bytes, headers: Headers) -> bool:
    """Whether a request has the key: as X-API-Key, as a bearer token, or as a basic-auth password."""
    given = headers.get("x-api-key", "")
    scheme, _, rest = headers.get("authorization", "").partition(" ")
    if not given and scheme.lower() == "bearer":
        given = rest
    elif not given and scheme.lower() == "basic":
        try:
            given = base64.b64decode(rest).decode().partition(":")[2]
        except ValueError:  # not Base64, or not UTF-8
            return False
    return hmac.compare_digest(given.encode(), key)
