"""What a graph or a model is, in figures: what `coclick info` shows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coclick.graph.click_graph import ClickGraph
from coclick.models.base import Model, model_class, names
from coclick.models.persistence import open_model
from coclick.models.spec import parameters_of
from coclick.storage.artefact import Artefact

_FLAGS = (
    "unseen_queries",
    "unseen_docs",
    "can_similar",
    "can_expand",
    "can_explain",
    "can_add",
    "can_topics",
    "can_translate",
    "can_export",
)
_BINS = (1, 2, 3, 5, 10, 20, 50, 100, 1000, 10_000)  # lower bounds; the last bin is open


def describe(path: str | Path) -> dict[str, Any]:
    """The figures of the graph or model in a directory."""
    source = Artefact(path)
    head = {"kind": source.kind, "path": str(path), "bytes": source.size(), "digest": source.digest}
    if source.kind == "graph":
        return head | describe_graph(ClickGraph.read(source))
    return head | describe_model(open_model(path))


def describe_graph(graph: ClickGraph) -> dict[str, Any]:
    """Sizes, degree distributions, how much of each text there is, what the build counted."""
    clicks, by_doc = graph.clicks, graph.clicks_by_doc
    counted = dict(graph.figures)
    aside = counted.pop("views", {})
    tables = {"pairs": graph.pairs, "daily": graph.daily, "skips": graph.skips}
    return {
        "queries": len(graph.queries),
        "docs": len(graph.docs),
        "edges": clicks.nnz,
        "clicks": _number(clicks.data.sum(dtype=np.float64)),
        "queries_with_clicks": int((clicks.lengths() > 0).sum()),
        "docs_with_clicks": int((by_doc.lengths() > 0).sum()),
        "docs_per_query": distribution(clicks.lengths()),
        "queries_per_doc": distribution(by_doc.lengths()),
        "clicks_per_query": distribution(clicks.row_sums()),
        "clicks_per_edge": distribution(clicks.data),
        "texts": {name: int((np.diff(text.offsets) > 0).sum()) for name, text in graph.texts.items()},
        "views": {name: view.figures() | aside.get(name, {}) for name, view in graph.views.items()},
        "tables": [name for name, table in tables.items() if table is not None],
        "build": counted,
    }


def describe_model(model: Model) -> dict[str, Any]:
    """The specification, every parameter, what it was trained on, and the figures of its training."""
    manifest = model.artefact_.manifest if model.artefact_ else {}
    return {
        "model": str(model),
        "summary": model.summary,
        "parameters": manifest.get("parameters", {}),
        "can": [flag.removeprefix("can_") for flag in _FLAGS if getattr(model, flag)],
        "graph": manifest.get("graph", ""),
        "queries": len(model.graph_.queries),
        "docs": len(model.graph_.docs),
        "edges": model.graph_.clicks.nnz,
        "build": dict(model.graph_.figures),
        "training": model.figures_,
    }


def distribution(values: NDArray[Any]) -> dict[str, Any]:
    """Mean, percentiles and a histogram of the values above zero."""
    positive = np.asarray(values)[np.asarray(values) > 0]
    if not len(positive):
        return {"count": 0, "mean": 0, "median": 0, "p90": 0, "p99": 0, "max": 0, "histogram": []}
    places = np.searchsorted(_BINS, positive, side="right") - 1
    counts = np.bincount(np.maximum(places, 0), minlength=len(_BINS))
    labels = [_bin_label(low, high) for low, high in zip(_BINS, (*_BINS[1:], None), strict=True)]
    median, p90, p99 = np.percentile(positive, [50, 90, 99])
    return {
        "count": len(positive),
        "mean": round(float(positive.mean(dtype=np.float64)), 3),
        "median": _number(median),
        "p90": _number(p90),
        "p99": _number(p99),
        "max": _number(positive.max()),
        "histogram": [[label, int(count)] for label, count in zip(labels, counts, strict=True) if count],
    }


def _bin_label(low: int, high: int | None) -> str:
    if high is None:
        return f"{low:,}+"
    return f"{low:,}" if high == low + 1 else f"{low:,}–{high - 1:,}"


def _number(value: Any) -> int | float:
    """Whole numbers as integers: click counts are whole unless actions have fractional weights."""
    return int(value) if float(value).is_integer() else round(float(value), 3)


def describe_models() -> list[dict[str, Any]]:
    """Every model with its summary and its parameters' defaults."""
    return [
        {
            "name": name,
            "summary": model_class(name).summary,
            "parameters": {field.name: field.default for field in parameters_of(model_class(name))},
        }
        for name in names()
    ]
