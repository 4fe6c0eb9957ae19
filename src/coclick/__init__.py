"""coclick turns search click logs into relevance.

    import coclick

    graph = coclick.build(["events.parquet"], "docs.tsv", "graph")
    model = coclick.train("vpcg", graph)
    model.search("ny hotels", k=5).hits()

The public names are below; they are imported when they are first used.
"""

from __future__ import annotations

import importlib
import sys
from typing import TYPE_CHECKING, Any

from coclick._version import __version__

if sys.platform == "win32":
    raise ImportError("coclick supports Linux and macOS; on Windows, use WSL")

if TYPE_CHECKING:
    from coclick.errors import ArtefactError, CoclickError, UserError
    from coclick.graph import ClickGraph
    from coclick.logs import build
    from coclick.model import Model, create, train
    from coclick.model import names as model_names
    from coclick.run import Run
    from coclick.saved import open_model
    from coclick.text import Analyzer

_HOMES = {
    "Analyzer": "text",
    "ArtefactError": "errors",
    "ClickGraph": "graph",
    "CoclickError": "errors",
    "Model": "model",
    "Run": "run",
    "UserError": "errors",
    "build": "logs",
    "create": "model",
    "model_names": "model",
    "open_model": "saved",
    "train": "model",
}

__all__ = [
    "Analyzer",
    "ArtefactError",
    "ClickGraph",
    "CoclickError",
    "Model",
    "Run",
    "UserError",
    "__version__",
    "build",
    "create",
    "model_names",
    "open_model",
    "train",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'coclick' has no attribute {name!r}")
    home = importlib.import_module(f"coclick.{_HOMES[name]}")
    return getattr(home, "names" if name == "model_names" else name)
