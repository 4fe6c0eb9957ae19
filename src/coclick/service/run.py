"""Start the service: one process, or several that share the mapped models."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import logging
import os
import socket
import sys
import tempfile
from pathlib import Path
from typing import Any

import uvicorn

from coclick.errors import UserError
from coclick.service.app import for_worker
from coclick.service.loaded_models import Catalogue
from coclick.service.settings import Settings

_GRACE = 5  # seconds beyond a request's time-out, in which a service that ends answers what it has begun
_ARRIVING = 0.25  # seconds in which a request that was sent before the end gets here


class _Server(uvicorn.Server):
    """One that also answers what it was sent, but has not yet read, when it is told to end."""

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Take no new connections; close those that there are after their next answer, then the idle ones."""
        for server in self.servers:
            server.close()
        for listening in sockets or []:
            listening.close()
        self.server_state.default_headers.append((b"connection", b"close"))
        await asyncio.sleep(_ARRIVING)
        await super().shutdown()


def serve(settings: Settings, host: str, port: int, workers: int = 1) -> None:
    """Answer requests until the process is told to end; SIGTERM and Ctrl-C let running requests finish."""
    logging.basicConfig(format="%(message)s", stream=sys.stderr)
    settings.tell_workers()
    listening = listen(host, port)
    options: dict[str, Any] = {
        "access_log": False,
        "log_level": "warning",
        "server_header": False,
        "ws": "none",
        "timeout_graceful_shutdown": int(settings.timeout) + _GRACE,
    }
    if workers == 1:
        config = uvicorn.Config(for_worker(), **options)
        _keep_what_is_loaded()
        _say_where(listening)
        with contextlib.suppress(KeyboardInterrupt):  # has done its work by then
            _Server(config).run(sockets=[listening])
        return
    Catalogue(settings.models)  # what is wrong with a model is said once, before there are workers
    _keep_what_is_loaded()
    with tempfile.TemporaryDirectory(prefix="coclick-metrics-") as together:
        os.environ["PROMETHEUS_MULTIPROC_DIR"] = together
        _say_where(listening)
        app = "coclick.service.app:for_worker"
        uvicorn.run(app, factory=True, workers=workers, fd=listening.fileno(), **options)


def listen(host: str, port: int) -> socket.socket:
    """A socket at the address, which must be free."""
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        return socket.create_server((host, port), family=family, backlog=2048)
    except (OSError, OverflowError) as error:
        what = getattr(error, "strerror", None) or str(error)
        hint = "choose another with --port, or 0 for any that is free"
        raise UserError(f"cannot listen there: {what}", where=f"{host}:{port}", hint=hint) from None


def read_key(path: Path) -> str:
    """The key in a file: its only line."""
    try:
        key = path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"the key cannot be read: {error}", where=str(path)) from None
    if not key or "\n" in key:
        raise UserError("the file of the key must have one line", where=str(path))
    return key


def _keep_what_is_loaded() -> None:
    """Look for garbage from now on, but not in modules, routes and models, which stay."""
    gc.freeze()
    gc.enable()


def _say_where(listening: socket.socket) -> None:
    host, port = listening.getsockname()[:2]
    host = f"[{host}]" if ":" in host else host
    print(f"coclick serves at http://{host}:{port}/", file=sys.stderr, flush=True)
