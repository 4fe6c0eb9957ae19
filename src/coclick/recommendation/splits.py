"""`Split`: one way to judge models, with the models that are trained for it and their results so far."""

from __future__ import annotations

import time
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import NamedTuple

from coclick.evaluation.inputs import EvaluationData
from coclick.evaluation.leaderboard import Leaderboard, Trainer
from coclick.evaluation.protocol import ModelResult, Protocol, evaluate_model
from coclick.models.base import Model
from coclick.recommendation.costs import parts_of


class Evaluated(NamedTuple):
    """A trained model, its result, and the seconds that both took without the parts of a combination."""

    model: Model
    result: ModelResult
    seconds: float


@dataclass
class Split:
    """One way to judge models: its data, and the results so far."""

    name: str
    data: EvaluationData
    protocol: Protocol
    trainer: Trainer
    results: list[ModelResult] = field(default_factory=list)
    tried: set[str] = field(default_factory=set)  # specifications, also of models that failed

    def board(self) -> Leaderboard:
        """Return the leaderboard so far."""
        return Leaderboard(self.data.train, self.data.judgments, self.protocol, list(self.results))

    def evaluate(self, spec: str, max_scored: int) -> Evaluated:
        """Train and measure a model; `max_scored` as in `evaluate_model`."""
        self.tried.add(spec)
        for part in parts_of(spec):
            self.trainer.get(part)
        started = time.perf_counter()
        model, seconds = self.trainer.get(spec)
        judgments = self.data.judgments
        result = evaluate_model(model, judgments, self.protocol, seconds, max_scored=max_scored)
        self.results.append(result)
        return Evaluated(model, result, time.perf_counter() - started)

    def waiting(self, specs: Collection[str]) -> list[str]:
        """Return those of the models that were not tried yet."""
        return [spec for spec in specs if spec not in self.tried]
