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

    def export_env(self) -> None:
        """Store the settings in an environment variable for worker processes."""
        os.environ[_VARIABLE] = json.dumps(asdict(self))

    @classmethod
    def from_env(cls) -> Settings:
        """Read the settings that the parent process stored."""
        given = json.loads(os.environ[_VARIABLE])
        given["models"] = tuple((name, path) for name, path in given["models"])
        if given["engine"]:
            headers = tuple((name, value) for name, value in given["engine"]["headers"])
            given["engine"] = EngineSettings(**given["engine"] | {"headers": headers})
        return cls(**given)
