"""`train`: create a model and fit it."""

from __future__ import annotations

from pathlib import Path

from coclick.graph.click_graph import ClickGraph
from coclick.models.base import Model
from coclick.models.registry import create
from coclick.progress import Progress, quiet


def train(spec: str | Model, graph: ClickGraph | str | Path, progress: Progress = quiet) -> Model:
    """Create a model and fit it.

    Parameters: `spec`, a specification such as `"vpcg(start=doc)"` or an untrained model; `graph`, a graph or
    its directory; `progress`, which reports the steps. Returns the trained model.
    """
    model = spec if isinstance(spec, Model) else create(spec)
    return model.fit(ClickGraph.open(graph) if isinstance(graph, str | Path) else graph, progress)
