"""`Leaderboard`: models trained on one graph and measured on the same queries."""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from coclick.errors import UserError, counted
from coclick.evaluation.breakdown import measure_by_document, measure_groups, query_groups
from coclick.evaluation.judgments import Judgments
from coclick.evaluation.measures import MAIN_MEASURE, mean
from coclick.evaluation.protocol import ModelResult, Protocol, evaluate_model, evaluate_rankings
from coclick.evaluation.significance import intervals, paired_tests
from coclick.evaluation.tasks import SEARCH
from coclick.graph.click_graph import ClickGraph
from coclick.models.base import Model
from coclick.models.combination._base import Combination
from coclick.models.combination.held_out import HeldOutClicks
from coclick.models.persistence import open_model
from coclick.models.registry import create, model_names
from coclick.progress import Progress, quiet

TESTED = (MAIN_MEASURE, "AP")  # measures of the significance tests


class Trainer:
    """Trains each model once, even if several combinations contain it."""

    def __init__(self, graph: ClickGraph, progress: Progress = quiet, *, open_saved: bool = True) -> None:
        self.graph, self._progress, self._open_saved = graph, progress, open_saved
        self._trained: dict[str, tuple[Model, float]] = {}

    @cached_property
    def _held_out(self) -> HeldOutClicks:
        """Clicks that combinations learn their weights from, with parts trained on the rest."""
        return HeldOutClicks.split(self.graph)

    def check(self, specs: Sequence[str]) -> None:
        """Raise for an unknown model, or one whose requirements the graph does not meet, before training."""
        for spec in specs:
            if not self._is_path(spec):
                create(spec).check_requirements(self.graph)

    def use(self, model: Model) -> str:
        """Take a trained model as it is; return the specification to get it by."""
        if not self._open_saved:
            raise self._trained_on_held_out(f"the model {model}")
        model.check_graph(self.graph)
        self._trained[str(model)] = model, 0.0
        return str(model)

    def get(self, spec: str) -> tuple[Model, float]:
        """Return a trained model and its training time in seconds."""
        if self._is_path(spec):
            return open_model(spec, self.graph), 0.0
        model = create(spec)
        if str(model) not in self._trained:
            started = time.perf_counter()
            part_seconds = 0.0
            if isinstance(model, Combination):
                parts = [self.get(part) for part in model.part_specs]
                part_seconds = sum(seconds for _, seconds in parts)
                started = time.perf_counter()
                model.assemble(self.graph, [part for part, _ in parts], self._held_out)
            else:
                model.fit(self.graph, self._progress)
            self._trained[str(model)] = model, part_seconds + time.perf_counter() - started
        return self._trained[str(model)]

    def has(self, spec: str) -> bool:
        """Whether a model is trained already."""
        return spec in self._trained

    def forget(self, spec: str) -> None:
        """Release a trained model."""
        self._trained.pop(spec, None)

    def keep(self, specs: Collection[str]) -> None:
        """Release all trained models except these."""
        self._trained = {spec: found for spec, found in self._trained.items() if spec in specs}

    def _is_path(self, spec: str) -> bool:
        """Whether a saved model is meant. The name of a model is never a directory: `./bm25` is one."""
        if spec in model_names() or not (Path(spec) / "manifest.json").is_file():
            return False
        if not self._open_saved:
            raise self._trained_on_held_out(f"the model in {spec}")
        return True

    @staticmethod
    def _trained_on_held_out(model: str) -> UserError:
        return UserError(
            f"{model} was trained on the clicks that are held out",
            hint="give judgments: --qrels (in Python: qrels=…), or a model's name to train it again",
        )


@dataclass(frozen=True)
class Leaderboard:
    """The results of all models, with the judgments and the protocol that they were measured by."""

    graph: ClickGraph
    judgments: Judgments
    protocol: Protocol
    results: list[ModelResult]
    left_out: dict[str, str] = field(default_factory=dict)  # models that could not be trained, and why

    def __repr__(self) -> str:
        best = self.ordered()[0]
        sizes = f"{counted(len(self.results), 'model')}, {counted(len(self.judgments.queries), 'query')}"
        return f"Leaderboard({sizes}, best: {best.name}, {MAIN_MEASURE} {best.values().mean():.3f})"

    def ordered(self) -> list[ModelResult]:
        """Return the results by the main measure, best first."""
        return sorted(self.results, key=lambda result: -float(result.values().mean()))

    def to_dict(self) -> dict[str, Any]:
        """Return measures, breakdowns and significance tests, as `coclick evaluate --json` writes them."""
        groups = query_groups(self.graph, self.judgments)
        spans = intervals({result.name: result.values() for result in self.results})
        models = []
        for result in self.results:
            breakdown = dict(measure_groups(groups, result.by_query))
            if self.protocol.task is SEARCH:
                rankings, gain = result.rankings, self.protocol.gain
                breakdown["document"] = measure_by_document(self.graph, self.judgments, rankings, gain)
            model = {
                "name": result.name,
                "measures": mean(result.by_query, list(self.judgments.queries)),
                "interval": list(spans[result.name]),
                "breakdown": breakdown,
                "seconds": round(result.seconds, 3),
            }
            models.append(model)
        tests = []
        for name in TESTED:
            tests += paired_tests({result.name: result.values(name) for result in self.ordered()}, name)
        protocol = self.protocol.describe(self.graph, self.judgments)
        return {"protocol": protocol, "models": models, "significance": tests}

    def write_html(self, path: str | Path, failing: Mapping[str, Any] | None = None) -> None:
        """Write the report, one self-contained HTML page.

        `failing` is what `coclick.failing.find_failing` returns: the report has a section for it.
        """
        from coclick.evaluation.report import write_report

        write_report(self, path, failing=failing)


def leaderboard(
    graph: ClickGraph,
    judgments: Judgments,
    models: Sequence[str | Model],
    progress: Progress = quiet,
    *,
    protocol: Protocol | None = None,
    runs: Mapping[str, Mapping[str, Sequence[str]]] | None = None,
    optional: Collection[str] = (),
) -> Leaderboard:
    """Train and measure models, and measure the rankings of other systems.

    `coclick.evaluation.evaluate` is the public function; this one takes judgments and rankings in memory.
    Those of the models that are also in `optional` are left out if they cannot be trained.
    """
    protocol = protocol or Protocol()
    protocol.check(graph, judgments)
    trainer = Trainer(graph, progress, open_saved=protocol.source == "judgments")
    specs = [trainer.use(model) if isinstance(model, Model) else model for model in models]
    trainer.check(specs)
    for name in runs or {}:
        if name in specs:
            raise UserError(f"a run and a model are both called {name!r}", hint="give the run another name")
    results = [evaluate_rankings(name, run, judgments, protocol) for name, run in (runs or {}).items()]
    left_out = {}
    for spec in dict.fromkeys(specs):
        try:
            model, seconds = trainer.get(spec)
        except UserError as error:
            if spec not in optional:
                raise
            left_out[spec] = error.reason
            continue
        with progress(f"evaluating {spec}"):
            results.append(evaluate_model(model, judgments, protocol, seconds))
    if not results:
        raise UserError(
            "no model is given",
            hint='for example --models "bm25" --models "vpcg" (in Python: ["bm25", "vpcg"])',
        )
    return Leaderboard(graph, judgments, protocol, results, left_out)
