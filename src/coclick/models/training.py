"""`train`: create a model and fit it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from coclick.errors import UserError
from coclick.graph.click_graph import ClickGraph
from coclick.models.base import Model
from coclick.models.registry import create
from coclick.progress import Progress, quiet


def train(
    spec: str | Model, graph: ClickGraph | str | Path, progress: Progress = quiet, **parameters: Any
) -> Model:
    """Create a model and fit it.

    Parameters: `spec`, a specification such as `"vpcg(start=doc)"` or an untrained model; `graph`, a graph or
    its directory; `progress`, which reports the steps; `parameters` of the model, in addition to those in the
    specification: `train("vpcg", graph, start="doc")`. Returns the trained model.
    """
    if isinstance(spec, Model) and parameters:
        raise UserError("parameters go with a specification, not with a model", hint=f'"{spec.name}"')
    if not callable(progress):
        raise UserError(f"progress must be a function, not {progress!r}")
    model = spec if isinstance(spec, Model) else create(spec, **parameters)
    return model.fit(ClickGraph.open(graph) if isinstance(graph, str | Path) else graph, progress)
