"""Train models on a graph, judge them by the same queries, and put them in order."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from coclick.errors import UserError
from coclick.evaluation.breakdown import break_down, by_document, query_groups
from coclick.evaluation.judgments import Judgments
from coclick.evaluation.measures import MAIN, mean
from coclick.evaluation.protocol import Protocol, Trial, try_model, try_rankings
from coclick.evaluation.significance import intervals, paired_tests
from coclick.graph.click_graph import ClickGraph
from coclick.models.base import Model, create
from coclick.models.combination._base import Combination
from coclick.models.persistence import open_model
from coclick.progress import Progress, quiet

TESTED = (MAIN, "AP")  # measures that models are tested on in pairs


class Trainer:
    """Trains each model once, however many combinations it is part of."""

    def __init__(self, graph: ClickGraph, progress: Progress = quiet, *, opens: bool = True) -> None:
        self.graph, self._progress, self._opens = graph, progress, opens
        self._trained: dict[str, tuple[Model, float]] = {}

    def check(self, specs: Sequence[str]) -> None:
        """Raise for a misspelt model or one that the graph cannot feed, before any is trained."""
        for spec in specs:
            if not self._is_path(spec):
                create(spec).check_requirements(self.graph)

    def get(self, spec: str) -> tuple[Model, float]:
        """A trained model, and the seconds that its training took."""
        if self._is_path(spec):
            return open_model(spec, self.graph), 0.0
        model = create(spec)
        if str(model) not in self._trained:
            started = time.perf_counter()
            before = 0.0
            if isinstance(model, Combination):
                parts = [self.get(part) for part in model.part_specs]
                model.assemble(self.graph, [part for part, _ in parts])
                before = sum(seconds for _, seconds in parts)
                started = time.perf_counter()
            else:
                model.fit(self.graph, self._progress)
            self._trained[str(model)] = model, before + time.perf_counter() - started
        return self._trained[str(model)]

    def forget(self, spec: str) -> None:
        """Give a trained model's memory back."""
        self._trained.pop(spec, None)

    def _is_path(self, spec: str) -> bool:
        if not (Path(spec) / "manifest.json").is_file():
            return False
        if not self._opens:
            raise UserError(
                f"the model in {spec} has learned from the clicks that would judge it",
                hint="give judgments (--queries, --qrels), or name the model to train it again",
            )
        return True


@dataclass(frozen=True)
class Board:
    """Everything that was found out, for tables, JSON and reports."""

    graph: ClickGraph
    judgments: Judgments
    protocol: Protocol
    trials: list[Trial]

    def ordered(self) -> list[Trial]:
        """By the main measure, best first."""
        return sorted(self.trials, key=lambda trial: -float(trial.values().mean()))

    def to_dict(self) -> dict[str, Any]:
        """Plain values, in the shape that `coclick evaluate --json` writes."""
        groups = query_groups(self.graph, self.judgments)
        spans = intervals({trial.name: trial.values() for trial in self.trials})
        models = [
            {
                "name": trial.name,
                "measures": mean(trial.by_query, list(self.judgments.queries)),
                "interval": list(spans[trial.name]),
                "breakdown": {
                    **break_down(groups, trial.by_query),
                    "document": by_document(self.graph, self.judgments, trial.rankings, self.protocol.gain),
                },
                "seconds": round(trial.seconds, 3),
            }
            for trial in self.trials
        ]
        tests = [
            row
            for name in TESTED
            for row in paired_tests({trial.name: trial.values(name) for trial in self.ordered()}, name)
        ]
        protocol = self.protocol.describe(self.graph, self.judgments)
        return {"protocol": protocol, "models": models, "significance": tests}


def leaderboard(
    graph: ClickGraph,
    judgments: Judgments,
    models: Sequence[str],
    progress: Progress = quiet,
    *,
    protocol: Protocol | None = None,
    runs: Mapping[str, Mapping[str, Sequence[str]]] | None = None,
) -> Board:
    """Train and judge models, and judge rankings from elsewhere beside them."""
    protocol = protocol or Protocol()
    protocol.check(graph, judgments)
    trainer = Trainer(graph, progress, opens=protocol.source == "judgments")
    trainer.check(models)
    for name in runs or {}:
        if name in models:
            raise UserError(f"a run and a model are both called {name!r}", hint="give the run another name")
    trials = [try_rankings(name, run, judgments, protocol) for name, run in (runs or {}).items()]
    for spec in dict.fromkeys(models):
        model, seconds = trainer.get(spec)
        with progress(f"judging {spec}"):
            trials.append(try_model(model, judgments, protocol, seconds))
    if not trials:
        raise UserError("no model is given", hint='--models "bm25" --models "vpcg"')
    return Board(graph, judgments, protocol, trials)
