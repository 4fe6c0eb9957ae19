"""Settings of the service, and limits of its requests."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass

MAX_QUERY_LENGTH = 1000  # characters
MAX_ID_LENGTH = 2048  # characters of a document id, which may be a URL
MAX_FIELD_LENGTH = 20_000  # characters of a candidate's text field
MAX_RESULTS = 1000
MAX_QUERIES = 100  # of a batch
MAX_CANDIDATES = 1000
MAX_LISTED_DOCS = 10_000  # allowed or blocked
MAX_CLICKS = 1000  # for each part of an explanation
MAX_BODY = 4 << 20  # bytes

_VARIABLE = "COCLICK_SERVE"


@dataclass(frozen=True)
class Settings:
    """The options of `coclick serve`. Paths are strings, so that they can be passed to workers as JSON."""

    models: tuple[tuple[str, str], ...]  # names and directories
    api_key: str | None = None
    timeout: float = 10.0  # seconds per request
    report: str | None = None  # HTML report for the studio
    watch: float = 1.0  # seconds between checks of the model directories

    def export_env(self) -> None:
        """Store the settings in an environment variable for worker processes."""
        os.environ[_VARIABLE] = json.dumps(asdict(self))

    @classmethod
    def from_env(cls) -> Settings:
        """Read the settings that the parent process stored."""
        given = json.loads(os.environ[_VARIABLE])
        given["models"] = tuple((name, path) for name, path in given["models"])
        return cls(**given)
