"""What a training found, in the terminal: rounds, singular values, weights of views, the bound, notes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from rich.markup import escape

from coclick.cli.tables import Bar, console, line, short, table

_STEPS = {
    "rounds": "rounds of propagation",
    "validation": "rounds tried on held-out clicks",
    "curve": "training, round by round",
}
_VALUES = ("singular_values", "eigenvalues")
SHOWN = (*_STEPS, *_VALUES, "views", "bound", "notes")  # each has a way of its own to be shown
_SPARKS = "▁▂▃▄▅▆▇█"
_WIDTH = 60  # of a chart
_SYMBOLS = {"theta_x": "θ_x", "theta_y": "θ_y", "lambda_x": "λ_x", "lambda_y": "λ_y", "delta": "δ"}


def everything(training: Mapping[str, Any]) -> None:
    """All that has a table or chart of its own."""
    for name in _STEPS:
        if found := training.get(name):
            steps(name, found)
    for name in _VALUES:
        if values := training.get(name):
            console.print()
            _values(name.replace("_", " "), values)
    if found := training.get("views"):
        _views(found)
    if found := training.get("bound"):
        _bound(found)
    notes(training)


def steps(name: str, found: Sequence[Mapping[str, Any]]) -> None:
    """A table with a row for each step; what only some of them know is empty in the others."""
    console.print()
    columns = list(dict.fromkeys(column for step in found for column in step))
    rows = [[step.get(column, "") for column in columns] for step in found]
    table(_STEPS[name], [column.replace("_", " ") for column in columns], rows)


def notes(training: Mapping[str, Any]) -> None:
    """What the user should know."""
    for note in training.get("notes", []):
        console.print(f"note: {escape(line(note, None))}", style="dim")


def _values(title: str, values: Sequence[float]) -> None:
    figures = f"{len(values):,} of them, from {values[0]:.4g} down to {values[-1]:.4g}, sum {sum(values):.4g}"
    console.print(f"[bold]{escape(line(title))}[/]  [dim]{figures}[/]\n{spark_line(values)}")


def spark_line(values: Sequence[float]) -> str:
    """A chart of one line: the height of a character is the mean of the values in its place."""
    groups = np.array_split(np.asarray(values, np.float64), min(len(values), _WIDTH))
    means = np.array([group.mean() for group in groups])
    heights = len(_SPARKS) * means / max(float(means.max()), 1e-300)
    return "".join(_SPARKS[max(0, min(round(height) - 1, len(_SPARKS) - 1))] for height in heights)


def _views(views: Mapping[str, Mapping[str, Any]]) -> None:
    """Weights and sizes, a row each, and the singular values of those that have some of their own."""
    console.print()
    names = {
        "alpha": "α",
        "sum": "sum of singular values",
        "queries": "query features",
        "docs": "doc features",
    }
    lists = [key for view in views.values() for key, value in view.items() if isinstance(value, list)]
    columns = list(dict.fromkeys(key for view in views.values() for key in view if key not in lists))
    rows = [
        [name, *(view.get(column, "") for column in columns), Bar(view.get("alpha", 0), 1)]
        for name, view in views.items()
    ]
    table("views", ["", *(names.get(column, column.replace("_", " ")) for column in columns), ""], rows)
    for name, view in views.items():
        if values := view.get("singular_values"):
            _values(f"singular values of {name}", values)


def _bound(bound: Mapping[str, Any]) -> None:
    """What the objective is on all data, and what that was computed from."""
    console.print(
        f"\n[bold]generalisation bound[/]  objective {bound['objective']:.4g} ± {bound['bound']:.4g} "
        f"with probability {bound['probability']:g}, by Theorem {bound['theorem']}"
    )
    if bound["vacuous"]:
        console.print(f"vacuous: no objective is above R·B = {short(bound['R'] * bound['B'])} anyway")
    told = ("theorem", "objective", "bound", "vacuous", "probability")
    parts = [f"{_SYMBOLS.get(key, key)} {short(value)}" for key, value in bound.items() if key not in told]
    console.print(f"[dim]{', '.join(parts)}[/]")
