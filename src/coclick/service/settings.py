"""Settings of the service."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass

MAX_BODY = 4 << 20  # bytes of a request; requests.py limits their parts

_VARIABLE = "COCLICK_SERVE"


@dataclass(frozen=True)
class EngineSettings:
    """The user's own search engine, which the studio asks live."""

    url: str  # with {{query}} if there is no template
    template: str | None = None  # body of a POST request, JSON with {{query}}
    ids: str = "hits.hits[]._id"  # where the ids are in the answer
    titles: str | None = None
    headers: tuple[tuple[str, str], ...] = ()
    timeout: float = 5.0  # seconds


@dataclass(frozen=True)
class ConnectionLimits:
    """Limits of the connections of one process; service/connections.py applies them."""

    connections: int = 16_384  # open at the same time; fewer if the system allows fewer files
    head_bytes: int = 64 << 10  # method, URL and headers
    headers: int = 100
    head_seconds: float = 10.0  # from the first byte, or the start of the connection
    body_seconds: float = 30.0  # at most; the timeout of the request counts too
    response_seconds: float = 60.0  # for a client to take its response
    end_seconds: float = 2.0  # for a client to take an error before its connection is cut off


@dataclass(frozen=True)
class Settings:
    """The options of `coclick serve`. Paths are strings, so that they can be passed to workers as JSON."""

    models: tuple[tuple[str, str], ...]  # names and directories
    api_key: str | None = None
    timeout: float = 10.0  # seconds per request
    report: str | None = None  # HTML report for the studio
    graph: str | None = None  # with the fields of documents, for the studio
    judgments: str | None = None  # file that the studio adds ratings to
    review: str | None = None  # file with rules, in which the studio records decisions
    images: bool = False  # whether the studio loads pictures from other hosts
    engine: EngineSettings | None = None
    watch: float = 1.0  # seconds between checks of the model directories
    suggestions: str | None = None  # directory of suggestions
    allowed_hosts: tuple[str, ...] = ()  # besides those of the loopback interface; "*" for any
    limits: ConnectionLimits = ConnectionLimits()

    def export_env(self) -> None:
        """Store the settings in an environment variable for worker processes."""
        os.environ[_VARIABLE] = json.dumps(asdict(self))

    @classmethod
    def from_env(cls) -> Settings:
        """Read the settings that the parent process stored."""
        given = json.loads(os.environ[_VARIABLE])
        given["models"] = tuple((name, path) for name, path in given["models"])
        given["allowed_hosts"] = tuple(given["allowed_hosts"])
        given["limits"] = ConnectionLimits(**given["limits"])
        if given["engine"]:
            headers = tuple((name, value) for name, value in given["engine"]["headers"])
            given["engine"] = EngineSettings(**given["engine"] | {"headers": headers})
        return cls(**given)
