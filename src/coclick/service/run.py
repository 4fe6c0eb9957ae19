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
from dataclasses import replace
from typing import Any

import uvicorn

from coclick.errors import UserError
from coclick.service.app import for_process
from coclick.service.connections import LimitedProtocol, raise_open_files
from coclick.service.hosts import hosts_for
from coclick.service.loaded_models import LoadedModels
from coclick.service.loaded_suggestions import ServedSuggestions
from coclick.service.log_format import PrintableFormatter
from coclick.service.settings import Settings

_GRACE = 5  # seconds beyond the timeout of a request, to finish running requests at shutdown
_ARRIVING = 0.25  # seconds for requests that were sent before the shutdown to arrive


class _Server(uvicorn.Server):
    """A server that at shutdown also answers requests that were sent but not yet read."""

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Accept no new connections; close open ones after their next response, then the idle ones."""
        for server in self.servers:
            server.close()
        for listening in sockets or []:
            listening.close()
        self.server_state.default_headers.append((b"connection", b"close"))
        await asyncio.sleep(_ARRIVING)
        await super().shutdown()


def run_server(settings: Settings, host: str, port: int, workers: int = 1) -> None:
    """Serve until SIGTERM or Ctrl-C, which let running requests finish."""
    lines = logging.StreamHandler(sys.stderr)
    lines.setFormatter(PrintableFormatter("%(message)s"))
    logging.basicConfig(handlers=[lines])
    listening = listen(host, port)
    hosts = hosts_for(listening.getsockname()[0], settings.allowed_hosts, settings.api_key is not None)
    settings = replace(settings, allowed_hosts=hosts)
    settings.export_env()
    raise_open_files(2 * settings.limits.connections)
    options: dict[str, Any] = {
        "access_log": False,
        "log_level": "error",  # warnings are about clients, which could fill the disk with them
        "server_header": False,
        "http": LimitedProtocol,
        "ws": "none",
        "timeout_graceful_shutdown": int(settings.timeout) + _GRACE,
    }
    if workers == 1:
        config = uvicorn.Config(for_process(), **options)
        _freeze_loaded_objects()
        _print_address(listening)
        with contextlib.suppress(KeyboardInterrupt):  # the shutdown is complete by then
            _Server(config).run(sockets=[listening])
        return
    LoadedModels(settings.models)  # report a bad model once, before workers start
    ServedSuggestions(settings.suggestions)
    _freeze_loaded_objects()
    with tempfile.TemporaryDirectory(prefix="coclick-metrics-") as directory:
        os.environ["PROMETHEUS_MULTIPROC_DIR"] = directory
        _print_address(listening)
        app = "coclick.service.app:for_worker"
        uvicorn.run(app, factory=True, workers=workers, fd=listening.fileno(), **options)


def listen(host: str, port: int) -> socket.socket:
    """Open a socket at an address that must be free."""
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        return socket.create_server((host, port), family=family, backlog=2048)
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        hint = "choose another port with --port, or 0 for a free one"
        raise UserError(f"cannot listen: {reason}", where=f"{host}:{port}", hint=hint) from None


def _freeze_loaded_objects() -> None:
    """Enable garbage collection, except for modules, routes and models, which stay."""
    gc.freeze()
    gc.enable()


def _print_address(listening: socket.socket) -> None:
    host, port = listening.getsockname()[:2]
    host = f"[{host}]" if ":" in host else host
    print(f"coclick serves at http://{host}:{port}/", file=sys.stderr, flush=True)
