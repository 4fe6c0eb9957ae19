"""`Update`: what a comparison tells while it runs, in words."""

from __future__ import annotations

from typing import NamedTuple

from coclick.evaluation.measures import MAIN_MEASURE
from coclick.evaluation.protocol import ModelResult
from coclick.evaluation.significance import intervals
from coclick.recommendation.budget import format_duration
from coclick.recommendation.candidates import quoted
from coclick.recommendation.comparison import Comparison


class Update(NamedTuple):
    """What has happened, and the results so far; `is_table` if it is time to show them."""

    text: str  # a line; empty if nothing is worth a line
    comparison: Comparison
    is_table: bool = False
    running: str = ""  # what begins now


def result_line(result: ModelResult, job: str, milliseconds: float) -> str:
    """Return a line about a result."""
    values = result.values()
    span = intervals({result.name: values})[result.name]
    quality = f"{MAIN_MEASURE} {values.mean():.3f} ({span.low:.3f}–{span.high:.3f})"
    return f"{job}: {quality}, trained in {format_duration(result.seconds)}, {milliseconds:.2g} ms a query"


def how_to_include(spec: str, budget: str) -> str:
    """Return how to have a model evaluated that was left out."""
    longer = "" if budget == "none" else f"--budget {budget} or "
    return f"include it with {longer}--only {quoted(spec)}"
