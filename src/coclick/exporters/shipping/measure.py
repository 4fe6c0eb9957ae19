"""Measure what a model loses when it is shipped: nDCG@10 by held-out clicks, in coclick and as shipped.

A model of the same specification is trained without the held-out clicks. Nothing of what is shipped is
learned from them: the weights of signals come from clicks that are held out of the rest.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from coclick.errors import UserError
from coclick.evaluation.holdout import HeldOut, hold_out
from coclick.evaluation.measures import MAIN_MEASURE
from coclick.evaluation.protocol import Protocol, evaluate_model, evaluate_rankings
from coclick.exporters.shipping.form import ShippedModel
from coclick.exporters.shipping.simulation import InMemory
from coclick.models.base import Model
from coclick.models.registry import create
from coclick.progress import Progress, quiet

_DEPTH = 10  # results that the measure reads


def measure_loss(model: Model, progress: Progress = quiet) -> dict[str, Any]:
    """Return the quality of a model in coclick and as shipped, on queries that are in neither."""
    try:
        held_out = hold_out(model.trained_on)
        trained = create(str(model)).fit(held_out.train, progress)
        shipped = ShippedModel.from_model(trained, progress)
    except UserError as error:
        return {"not_measured": error.reason}
    with progress("held-out queries"):
        return compare_rankings(shipped, held_out)


def compare_rankings(shipped: ShippedModel, held_out: HeldOut) -> dict[str, Any]:
    """Measure the rankings of a model and of its shipped form, trained without the held-out clicks."""
    judgments, protocol = held_out.judgments, Protocol(depth=_DEPTH)
    engine = InMemory(shipped)
    rankings = {
        query: [doc for doc, _ in engine.rank(text, _DEPTH)] for query, text in judgments.queries.items()
    }
    ours = evaluate_model(shipped.model, judgments, protocol, max_scored=0).values()
    theirs = evaluate_rankings("shipped", rankings, judgments, protocol).values()
    return loss_figures(ours, theirs, held_out)


def loss_figures(ours: np.ndarray, theirs: np.ndarray, held_out: HeldOut) -> dict[str, Any]:
    """Return the means over all held-out queries, over those with clicks in the rest, and over the others."""
    clicks = np.append(held_out.train.clicks.row_nnz(), 0)  # the last entry is for queries that are not there
    known = clicks[held_out.train.queries.lookup(list(held_out.judgments.queries.values()))] > 0
    return {
        "measure": MAIN_MEASURE,
        "judged_by": held_out.rule,
        **_figures(ours, theirs),
        "known": _figures(ours[known], theirs[known]),
        "unknown": _figures(ours[~known], theirs[~known]),
    }


def _figures(ours: np.ndarray, theirs: np.ndarray) -> dict[str, Any]:
    if not len(ours):
        return {"queries": 0}
    return {
        "queries": len(ours),
        "in_coclick": round(float(ours.mean()), 4),
        "as_shipped": round(float(theirs.mean()), 4),
    }
