"""coclick learns search relevance from click logs.

    import coclick

    graph = coclick.build(["events.parquet"], "docs.tsv", "graph")
    model = coclick.train("pls", graph)
    model.search("ny hotels", k=5).hits()

The public names are below; each is imported when it is first used.
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
    from coclick.evaluation.evaluate import evaluate
    from coclick.evaluation.tune import tune
    from coclick.exporters import export
    from coclick.graph.click_graph import ClickGraph
    from coclick.logs import build, check
    from coclick.models.base import Model
    from coclick.models.persistence import open_model
    from coclick.models.registry import create, model_names, register
    from coclick.models.training import train
    from coclick.recommendation.compare import compare
    from coclick.results import Explanation, Run
    from coclick.rules import find_rules, write_rules
    from coclick.rules.rule import Rule
    from coclick.service import serve
    from coclick.suggestions.suggestions import Suggestions
    from coclick.text.analyzer import Analyzer

_MODULES = {
    "Analyzer": "text.analyzer",
    "ArtefactError": "errors",
    "ClickGraph": "graph.click_graph",
    "CoclickError": "errors",
    "Explanation": "results",
    "Model": "models.base",
    "Rule": "rules.rule",
    "Run": "results",
    "Suggestions": "suggestions.suggestions",
    "UserError": "errors",
    "build": "logs",
    "check": "logs",
    "compare": "recommendation.compare",
    "create": "models.registry",
    "evaluate": "evaluation.evaluate",
    "export": "exporters",
    "find_rules": "rules",
    "model_names": "models.registry",
    "open_model": "models.persistence",
    "register": "models.registry",
    "serve": "service",
    "train": "models.training",
    "tune": "evaluation.tune",
    "write_rules": "rules",
}

__all__ = [
    "Analyzer",
    "ArtefactError",
    "ClickGraph",
    "CoclickError",
    "Explanation",
    "Model",
    "Rule",
    "Run",
    "Suggestions",
    "UserError",
    "__version__",
    "build",
    "check",
    "compare",
    "create",
    "evaluate",
    "export",
    "find_rules",
    "model_names",
    "open_model",
    "register",
    "serve",
    "train",
    "tune",
    "write_rules",
]


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module 'coclick' has no attribute {name!r}")
    return getattr(importlib.import_module(f"coclick.{_MODULES[name]}"), name)


def __dir__() -> list[str]:
    return __all__
