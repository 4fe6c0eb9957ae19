"""How a service is set up, and the limits of what it takes."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass

CHARACTERS = 1000  # of a query
ID_CHARACTERS = 2048  # of a document's id, which may be an address
FIELD_CHARACTERS = 20_000  # of a field of a candidate
RESULTS = 1000
QUERIES = 100  # of a batch
CANDIDATES = 1000
LISTED = 10_000  # documents that are allowed or blocked
CLICKS = 1000  # behind each part of an explanation
BODY = 4 << 20  # bytes

_VARIABLE = "COCLICK_SERVE"


@dataclass(frozen=True)
class Settings:
    """What `coclick serve` was told. Paths are strings, so that workers can be told the same."""

    models: tuple[tuple[str, str], ...]  # names and directories
    api_key: str | None = None
    timeout: float = 10.0  # seconds for a request
    report: str | None = None  # the page of an evaluation, for the studio
    watch: float = 1.0  # seconds between looks at the models' directories

    def tell_workers(self) -> None:
        """Leave the settings where processes that are started from here find them."""
        os.environ[_VARIABLE] = json.dumps(asdict(self))

    @classmethod
    def told(cls) -> Settings:
        """The settings that another process left for this one."""
        given = json.loads(os.environ[_VARIABLE])
        given["models"] = tuple((name, path) for name, path in given["models"])
        return cls(**given)
