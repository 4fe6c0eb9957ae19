"""coclick turns search click logs into relevance.

    import coclick

    graph = coclick.build(["events.parquet"], "docs.tsv", "graph")
    model = coclick.train("vpcg", graph)
    model.search("ny hotels", k=5).hits()

The public names are below; they are imported when they are first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from coclick._version import __version__

if TYPE_CHECKING:
    from coclick.errors import ArtefactError, CoclickError, UserError
    from coclick.graph.click_graph import ClickGraph
    from coclick.logs import build
    from coclick.models.base import Model, create, train
    from coclick.models.base import names as model_names
    from coclick.models.persistence import open_model
    from coclick.results import Run
    from coclick.text.analyzer import Analyzer

_HOMES = {
    "Analyzer": "text.analyzer",
    "ArtefactError": "errors",
    "ClickGraph": "graph.click_graph",
    "CoclickError": "errors",
    "Model": "models.base",
    "Run": "results",
    "UserError": "errors",
    "build": "logs",
    "create": "models.base",
    "model_names": "models.base",
    "open_model": "models.persistence",
    "train": "models.base",
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
