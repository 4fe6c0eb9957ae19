"""`evaluate_similar`: measure how well models find similar queries, by nDCG@10.

A query whose similar queries are evaluated is a probe. `similar_labels` defines the gain of each query for
it; a query without a label has gain 0. As in the evaluation of rankings, a probe without results counts as 0.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coclick.errors import UserError, check_whole, counted
from coclick.evaluation.inputs import Graph, Models, list_models, open_graph
from coclick.evaluation.leaderboard import Trainer
from coclick.evaluation.similar_labels import (
    DEPTH,
    MAX_PROBES,
    SampleOfProbes,
    SimilarityLabels,
    labels_from_clicks,
    read_intents,
    read_pairs,
)
from coclick.evaluation.significance import Values, intervals, paired_tests
from coclick.models.base import Model
from coclick.progress import Progress, quiet

MEASURE = f"nDCG@{DEPTH}"
HEAD_CLICKS = 10  # queries with fewer clicks are tail queries
_BLOCK = 256  # probes per call of a model


@dataclass(frozen=True)
class SimilarResult:
    """The nDCG@10 of one model for each probe, in the order of the labels."""

    name: str
    values: Values
    answered: float  # share of the probes with at least one result
    seconds: float  # training time
    query_ms: float  # milliseconds per probe

    def __repr__(self) -> str:
        return f"SimilarResult({self.name}, {counted(len(self.values), 'probe')}, {self.values.mean():.3f})"


@dataclass(frozen=True)
class SimilarLeaderboard:
    """The results of all models on the same probes."""

    labels: SimilarityLabels
    results: list[SimilarResult]
    baseline: str | None = None
    left_out: dict[str, str] = field(default_factory=dict)  # models that could not be trained, and why

    def __repr__(self) -> str:
        best = self.ordered()[0]
        sizes = f"{counted(len(self.results), 'model')}, {counted(len(self.labels.probes), 'probe')}"
        return f"SimilarLeaderboard({sizes}, best: {best.name}, {MEASURE} {best.values.mean():.3f})"

    def ordered(self) -> list[SimilarResult]:
        """Return the results, best first."""
        return sorted(self.results, key=lambda result: -float(result.values.mean()))

    def groups(self) -> dict[str, NDArray[np.bool_]]:
        """Return which probes are head, tail and unseen queries, by their clicks in the training graph."""
        clicks = self.labels.graph.clicks.row_sums()
        of_probe = np.where(self.labels.rows >= 0, clicks[self.labels.rows], 0)
        masks = {
            "head": of_probe >= HEAD_CLICKS,
            "tail": (of_probe > 0) & (of_probe < HEAD_CLICKS),
            "unseen": of_probe <= 0,
        }
        return {name: mask for name, mask in masks.items() if mask.any()}

    def to_dict(self) -> dict[str, Any]:
        """Return measures and significance tests, as `coclick evaluate-similar --json` writes them."""
        groups = self.groups()
        spans = intervals({result.name: result.values for result in self.results})
        models = [
            {
                "name": result.name,
                "measures": {MEASURE: float(result.values.mean())},
                "interval": list(spans[result.name]),
                "groups": {name: float(result.values[mask].mean()) for name, mask in groups.items()},
                "answered": result.answered,
                "seconds": round(result.seconds, 3),
                "query_ms": round(result.query_ms, 3),
            }
            for result in self.ordered()
        ]
        values = {result.name: result.values for result in self.ordered()}
        pairs = None if self.baseline is None else [(a, self.baseline) for a in values if a != self.baseline]
        protocol = {
            "judged_by": self.labels.source,
            "main_measure": MEASURE,
            "probes": len(self.labels.probes),
            "groups": {name: int(mask.sum()) for name, mask in groups.items()},
            "left_out": self.labels.left_out,
            "candidates": len(self.labels.graph.queries),
        }
        return {
            "protocol": protocol,
            "baseline": self.baseline,
            "models": models,
            "significance": paired_tests(values, MEASURE, pairs),
        }


def evaluate_similar(
    graph: Graph,
    models: Models = (),
    *,
    labels: str | Path | None = None,
    intents: str | Path | None = None,
    holdout: str | None = None,
    baseline: str | None = None,
    max_probes: int = MAX_PROBES,
    seed: int = 0,
    progress: Progress = quiet,
) -> SimilarLeaderboard:
    """Train models on a graph and measure the similar queries that they find.

    Parameters:
        graph: the click graph to train on, or its directory.
        models: specifications, or directories of saved models.
        labels: a file of graded pairs `query<TAB>query<TAB>grade`: the grade of the second for the first.
        intents: a file `query<TAB>intent` instead: queries of one intent are similar.
        holdout: without labels and intents, the clicks to hold out: `time:0.2` or `queries:0.2`.
        baseline: the model that all others are compared with; all pairs of models by default.
        max_probes, seed: at most how many queries to evaluate on, and the random seed of the sample.
        progress: called for each step of the work.

    Returns a `SimilarLeaderboard`: `ordered()` has the models, best first; `to_dict()` measures and tests.
    """
    found = load_labels(graph, labels, intents, holdout, SampleOfProbes(max_probes, seed))
    specs = list_models(models)
    if baseline is not None:
        specs = [baseline, *(spec for spec in specs if spec != baseline)]
    return similar_leaderboard(found, specs, progress, baseline=baseline)


def load_labels(
    graph: Graph,
    labels: str | Path | None,
    intents: str | Path | None,
    holdout: str | None,
    sample: SampleOfProbes,
) -> SimilarityLabels:
    """Read graded pairs or intents or, if there are none, hold out clicks of the graph."""
    check_whole(sample.size, "max_probes", 1)
    if sum(given is not None for given in (labels, intents, holdout)) > 1:
        raise UserError("give only one of labels, intents and holdout")
    opened = open_graph(graph)
    if labels is not None:
        return read_pairs(labels, opened, sample)
    if intents is not None:
        return read_intents(intents, opened, sample)
    return labels_from_clicks(opened, holdout, sample)


def similar_leaderboard(
    labels: SimilarityLabels,
    models: Sequence[str | Model],
    progress: Progress = quiet,
    *,
    baseline: str | None = None,
    optional: Collection[str] = (),
) -> SimilarLeaderboard:
    """Train and measure models; those in `optional` are left out if they cannot be trained."""
    trainer = Trainer(labels.graph, progress, open_saved=not labels.source.startswith("held-out"))
    specs = [trainer.use(model) if isinstance(model, Model) else model for model in models]
    trainer.check(specs)
    results, left_out, names = [], {}, {}
    for spec in dict.fromkeys(specs):
        try:
            model, seconds = trainer.get(spec)
            results.append(measure_model(model, labels, seconds, progress))
            names[spec] = str(model)
        except UserError as error:
            if spec not in optional:
                raise
            left_out[spec] = error.reason
    if not results:
        raise UserError(
            "no model is given",
            hint='for example --models "cos_words" --models "vpcg" (in Python: ["cos_words", "vpcg"])',
        )
    return SimilarLeaderboard(labels, results, names.get(baseline or ""), left_out)


def measure_model(
    model: Model, labels: SimilarityLabels, seconds: float = 0.0, progress: Progress = quiet
) -> SimilarResult:
    """Find the similar queries of all probes, and measure them."""
    found = np.full((len(labels.probes), DEPTH), -1, np.int32)
    started = time.perf_counter()
    with progress(f"evaluating {model}", len(found)) as done:
        for first in range(0, len(found), _BLOCK):
            rows = model.similar_queries(labels.probes[first : first + _BLOCK], DEPTH).rows
            found[first : first + len(rows), : rows.shape[1]] = rows
            done(len(rows))
    query_ms = 1000 * (time.perf_counter() - started) / len(found)
    values = ndcg(labels.gains(found), labels.best_gains)
    return SimilarResult(str(model), values, float((found[:, 0] >= 0).mean()), seconds, query_ms)


def ndcg(gains: NDArray[np.float64], best: NDArray[np.float64]) -> Values:
    """Return Σ_r gain_r / log2(1 + r), divided by that of the best gains, for each row."""
    discounts = 1 / np.log2(np.arange(2, gains.shape[1] + 2))
    values: Values = (gains @ discounts) / (best @ discounts)
    return values
