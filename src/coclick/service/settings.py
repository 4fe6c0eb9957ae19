"""Settings of the service."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass

MAX_BODY = 4 << 20  # bytes of a request; requests.py limits their parts

_VARIABLE = "COCLICK_SERVE"


@dataclass(frozen=True)
class Settings:
    """The options of `coclick serve`. Paths are strings, so that they can be passed to workers as JSON."""

    models: tuple[tuple[str, str], ...]  # names and directories
    api_key: str | None = None
    timeout: float = 10.0  # seconds per request
    report: str | None = None  # HTML report for the studio
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
        return cls(**given)
