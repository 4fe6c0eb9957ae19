"""Run a server on the loopback interface for benchmarks and the soak test."""

from __future__ import annotations

import http.client
import json
import os
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit


class Server(NamedTuple):
    """A running `coclick serve`."""

    pid: int
    port: int
    log: deque[str]  # its last lines

    def connect(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection("127.0.0.1", self.port)

    def memory(self) -> dict[str, int]:
        """Return memory in bytes; `Anonymous` excludes memory-mapped files."""
        lines = Path(f"/proc/{self.pid}/smaps_rollup").read_text().splitlines()[1:]
        return {line.split(":")[0]: int(line.split()[1]) * 1024 for line in lines}

    def open_files(self) -> int:
        """Return the number of file descriptors, sockets included."""
        return len(os.listdir(f"/proc/{self.pid}/fd"))  # noqa: PTH208

    def threads(self) -> int:
        """Return the number of threads."""
        status = Path(f"/proc/{self.pid}/status").read_text()
        return int(status.partition("Threads:")[2].split()[0])


@contextmanager
def serving(*arguments: str) -> Iterator[Server]:
    """Start a server, wait until it is ready, and stop it at the end."""
    command = [sys.executable, "-m", "coclick", "serve", *arguments, "--port", "0"]
    # Allow bytecode to be written, as pip does for an installed package.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stderr is not None
        try:
            for line in process.stderr:
                if "serves at" in line:
                    break
            port = urlsplit(line.split()[-1]).port or 0
            _wait_for(port)
            log: deque[str] = deque(maxlen=1000)
            # The log must be read: a full pipe would stop the server.
            reader = threading.Thread(target=log.extend, args=(process.stderr,), daemon=True)
            reader.start()
            yield Server(process.pid, port, log)
        finally:
            process.terminate()
            process.wait()


def request(
    connection: http.client.HTTPConnection, method: str, path: str, body: object = None
) -> tuple[int, bytes]:
    """Send a request and return the status and body of the response."""
    text = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
    connection.request(method, path, text, {"content-type": "application/json"} if text else {})
    response = connection.getresponse()
    return response.status, response.read()


def _wait_for(port: int) -> None:
    while True:
        try:
            connection = http.client.HTTPConnection("127.0.0.1", port)
            if request(connection, "GET", "/ready")[0] == 200:
                return
        except OSError:
            time.sleep(0.005)
