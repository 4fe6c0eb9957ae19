"""Requests to a search engine, sent again when it is busy, and the main function of `run.py`."""

from __future__ import annotations

import json
import os
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NoReturn

MAX_TRIES = 6  # of a request that the engine refuses because it is busy
BUSY = (429, 502, 503, 504)
TIMEOUT = 600  # seconds

Settings = dict[str, Any]  # the content of `settings.json`


class EngineError(Exception):
    """An answer with a status that is an error."""

    def __init__(self, request: str, status: int, reason: str) -> None:
        """Keep the status, so that callers can handle some."""
        super().__init__(f"{request}: the engine answers {status}: {reason}")
        self.status, self.reason = status, reason


class Engine:
    """The address of a cluster; `pause` is the first of the growing pauses between tries, in seconds."""

    def __init__(self, url: str, pause: float = 1.0) -> None:
        """Remember the address; nothing is sent."""
        self.url, self.pause = url.rstrip("/"), pause

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        """Send a request and return the JSON of the answer; str is sent as lines of JSON, bytes as JSON."""
        for attempt in range(MAX_TRIES):
            try:
                with urllib.request.urlopen(self._request(method, path, body), timeout=TIMEOUT) as response:
                    return json.loads(response.read() or b"{}")
            except urllib.error.HTTPError as error:
                if error.code not in BUSY or attempt + 1 == MAX_TRIES:
                    reason = error_reason(error.read())
                    raise EngineError(f"{method} {path[:200]}", error.code, reason) from None
            except ValueError as error:
                stop(f"{self.url} does not answer with JSON ({error}): is this the address of the engine?")
            except OSError as error:
                refused = isinstance(getattr(error, "reason", error), ConnectionRefusedError)
                if refused or attempt + 1 == MAX_TRIES:
                    stop(f"cannot ask {self.url}: {error}")
            self.wait(attempt)
        raise AssertionError("unreachable")

    def wait(self, attempt: int) -> None:
        """Pause before another try."""
        time.sleep(self.pause * 2**attempt)

    def _request(self, method: str, path: str, body: Any) -> urllib.request.Request:
        lines = isinstance(body, str)
        data = body
        if body is not None and not isinstance(body, bytes):
            data = (body if lines else json.dumps(body)).encode()
        headers = {"Content-Type": "application/x-ndjson" if lines else "application/json"}
        if "AUTHORIZATION" in os.environ:
            headers["Authorization"] = os.environ["AUTHORIZATION"]
        return urllib.request.Request(self.url + path, data, headers, method=method)


def error_reason(body: bytes) -> str:
    """Return the sentence of an answer: `reason` in Elasticsearch, `msg` in Solr, `message` in Vespa."""
    try:
        answer = json.loads(body)
        error = answer.get("error", answer)
        if isinstance(error, str):
            return error
        return str(next(error[key] for key in ("reason", "msg", "message") if key in error))
    except (ValueError, StopIteration, AttributeError, TypeError):
        return body[:300].decode(errors="replace")


def stop(sentence: str) -> NoReturn:
    """End the program with status 1 and a sentence on standard error."""
    sys.exit(sentence)


def read_json(path: Path) -> Any:
    """Read a JSON file."""
    return json.loads(path.read_text(encoding="utf-8"))


def read_lines(path: Path) -> list[str]:
    """Read the lines of a file; `splitlines` would also split at characters inside of texts."""
    return path.read_text(encoding="utf-8").split("\n")[:-1]


Command = Callable[[Any, Path, Settings], None]  # the engine, the folder of the export, its settings


def run_command(commands: Mapping[str, Command], name: str, engine: Any, folder: Path) -> None:
    """Run a command with the settings of a folder; an error of the engine ends it with a sentence."""
    try:
        commands[name](engine, folder, read_json(folder / "settings.json"))
    except EngineError as error:
        stop(str(error))
    except KeyboardInterrupt:
        stop(f"interrupted: run {name} again to finish")


def main(commands: Mapping[str, Command], folder: Path, arguments: list[str]) -> None:
    """Run `run.py URL COMMAND`."""
    if len(arguments) != 2 or arguments[1] not in commands or not arguments[0].startswith("http"):
        names = "".join(f"\n    {name:10}{command.__doc__}" for name, command in commands.items())
        stop(
            f"usage: python3 run.py URL COMMAND, with the URL of the engine and one of{names}\n"
            "The variable AUTHORIZATION, if set, is sent as the header of that name."
        )
    run_command(commands, arguments[1], Engine(arguments[0]), folder)
