"""Print training statistics: iterations, singular values, view weights, generalisation bound, notes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from rich.markup import escape

from coclick.cli.terminal import Bar, console, one_line, print_table, short

_STEPS = {
    "rounds": "iterations of propagation",
    "validation": "iterations evaluated on held-out clicks",
    "curve": "training by iteration",
}
_VALUES = ("singular_values", "eigenvalues")
SHOWN = (*_STEPS, *_VALUES, "views", "bound", "notes")  # each has its own table or chart
_SPARKS = "▁▂▃▄▅▆▇█"
_WIDTH = 60  # of a chart
_SYMBOLS = {"theta_x": "θ_x", "theta_y": "θ_y", "lambda_x": "λ_x", "lambda_y": "λ_y", "delta": "δ"}


def all_statistics(training: Mapping[str, Any]) -> None:
    """Print every statistic that has its own table or chart."""
    for name in _STEPS:
        if found := training.get(name):
            steps(name, found)
    for name in _VALUES:
        if values := training.get(name):
            console().print()
            _values(name.replace("_", " "), values)
    if found := training.get("views"):
        _views(found)
    if found := training.get("bound"):
        _bound(found)
    notes(training)


def steps(name: str, found: Sequence[Mapping[str, Any]]) -> None:
    """Print a table with a row for each step; missing values are empty."""
    console().print()
    columns = list(dict.fromkeys(column for step in found for column in step))
    rows = [[step.get(column, "") for column in columns] for step in found]
    print_table(_STEPS[name], [column.replace("_", " ") for column in columns], rows)


def notes(training: Mapping[str, Any]) -> None:
    """Print the notes of a training."""
    for note in training.get("notes", []):
        console().print(f"note: {escape(one_line(note, None))}", style="dim")


def _values(title: str, values: Sequence[float]) -> None:
    stats = f"{len(values):,} values, from {values[0]:.4g} down to {values[-1]:.4g}, sum {sum(values):.4g}"
    console().print(f"[bold]{escape(one_line(title))}[/]  [dim]{stats}[/]\n{spark_line(values)}")


def spark_line(values: Sequence[float]) -> str:
    """Draw values as a line of bars; each character is the mean of its share of the values."""
    groups = np.array_split(np.asarray(values, np.float64), min(len(values), _WIDTH))
    means = np.array([group.mean() for group in groups])
    heights = len(_SPARKS) * means / max(float(means.max()), 1e-300)
    return "".join(_SPARKS[max(0, min(round(height) - 1, len(_SPARKS) - 1))] for height in heights)


def _views(views: Mapping[str, Mapping[str, Any]]) -> None:
    """Weights and sizes of views, and the singular values of views that have their own."""
    console().print()
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
    print_table("views", ["", *(names.get(column, column.replace("_", " ")) for column in columns), ""], rows)
    for name, view in views.items():
        if values := view.get("singular_values"):
            _values(f"singular values of {name}", values)


def _bound(bound: Mapping[str, Any]) -> None:
    """The generalisation bound, and the quantities it was computed from."""
    console().print(
        f"\n[bold]generalisation bound[/]  objective {bound['objective']:.4g} ± {bound['bound']:.4g} "
        f"with probability {bound['probability']:g}, by Theorem {bound['theorem']}"
    )
    if bound["vacuous"]:
        console().print(f"vacuous: no objective exceeds R·B = {short(bound['R'] * bound['B'])}")
    printed = ("theorem", "objective", "bound", "vacuous", "probability")
    parts = [f"{_SYMBOLS.get(key, key)} {short(value)}" for key, value in bound.items() if key not in printed]
    console().print(f"[dim]{', '.join(parts)}[/]")
