"""`Comparison`: the results of `compare`, complete or so far."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from coclick.errors import UserError, counted
from coclick.evaluation.leaderboard import Leaderboard
from coclick.evaluation.measures import MAIN_MEASURE
from coclick.evaluation.protocol import ModelResult
from coclick.evaluation.significance import intervals
from coclick.recommendation.budget import next_longer
from coclick.recommendation.entries import Entry, p_values_against_best
from coclick.recommendation.properties import Properties
from coclick.recommendation.recommend import Recommendation, recommend


class BudgetUse(NamedTuple):
    """The time that a comparison may take and has taken, and what there was no time for."""

    limit: float  # seconds, or infinity
    used: float = 0.0
    left_out: Mapping[str, float] = {}  # seconds that these models would take
    complete: bool = True  # not interrupted

    def to_dict(self) -> dict[str, Any]:
        """Return it as `coclick compare --json` writes it."""
        return {
            "seconds": None if math.isinf(self.limit) else self.limit,
            "used": round(self.used, 1),
            "left_out": {spec: round(seconds, 1) for spec, seconds in self.left_out.items()},
            "enough": next_longer(self.used + sum(self.left_out.values()) * 2) if self.left_out else None,
            "complete": self.complete,
        }


@dataclass(frozen=True)
class Comparison:
    """The leaderboards of all splits, the models that were left out and why, and the recommended model.

    The splits with weights decide: judgments, or the last days if the log has days, or held-out queries; in
    thin logs also held-out queries with the clicks of some documents hidden.
    """

    boards: Mapping[str, Leaderboard]  # by split, such as "time"
    weights: Mapping[str, float]  # of the splits that decide
    left_out: Mapping[str, str]
    properties: Mapping[str, Properties]  # of models, by name
    target: str | None
    budget: BudgetUse

    @property
    def leaderboard(self) -> Leaderboard:
        """The leaderboard of the first split."""
        return next(iter(self.boards.values()))

    @property
    def recommendation(self) -> Recommendation | None:
        """The recommended model, why, and what its quality costs; None if no model can be used."""
        return recommend(self.entries(), list(self.boards), self.target)

    @property
    def recommended(self) -> str:
        """The specification of the recommended model, to pass to `coclick.train`."""
        return self._checked.model

    @property
    def reason(self) -> str:
        """Why this model is recommended."""
        return self._checked.reason

    @property
    def _checked(self) -> Recommendation:
        if (found := self.recommendation) is not None:
            return found
        models = counted(len(self.entries()), "evaluated model")
        raise UserError(
            f"none of the {models} can be used with {self.target}",
            hint="leave out --target, or name models for it with --models",
        )

    def entries(self) -> list[Entry]:
        """Return the models that could be recommended, best first; runs of other systems are none."""
        results: dict[str, dict[str, ModelResult]] = {name: {} for name in self.properties}
        for split, board in self.boards.items():
            for result in board.results:
                if result.name in results:
                    results[result.name][split] = result
        judged = {name: found for name, found in results.items() if found.keys() >= self.weights.keys()}
        entries = [Entry(found, self.weights, self.properties[name]) for name, found in judged.items()]
        return sorted(entries, key=lambda entry: -entry.quality)

    def __repr__(self) -> str:
        models = counted(len(self.leaderboard.results), "model")
        found = self.recommendation
        advice = f"recommended: {found.model}, " if found else ""
        return f"Comparison({models}, {advice}{len(self.left_out)} left out)"

    def to_dict(self) -> dict[str, Any]:
        """Return `Leaderboard.to_dict()` with what `coclick compare --json` adds."""
        found = self.leaderboard.to_dict()
        entries = self.entries()
        ranks = {entry.name: entry for entry in entries}
        p_best = dict(zip(ranks, p_values_against_best(entries), strict=True))
        spans = {split: _by_model(board) for split, board in self.boards.items()}
        for model in found["models"]:
            name = model["name"]
            model["splits"] = {split: models[name] for split, models in spans.items() if name in models}
            if name in self.properties:
                model |= self.properties[name].to_dict()
            if name in ranks:
                model |= {"quality": ranks[name].quality, "p_best": p_best[name]}
        splits = {
            split: board.protocol.describe(board.graph, board.judgments)
            for split, board in self.boards.items()
        }
        return found | {
            "splits": [
                {
                    "name": split,
                    "weight": self.weights.get(split, 0.0),
                    "judged_by": protocol["judged_by"],
                    "queries": protocol["queries"],
                    "models": len(board.results),
                }
                for (split, protocol), board in zip(splits.items(), self.boards.values(), strict=True)
            ],
            "left_out": dict(self.left_out),
            "recommendation": advice.to_dict() if (advice := self.recommendation) else None,
            "budget": self.budget.to_dict(),
        }

    def write_html(self, path: str | Path, failing: Mapping[str, Any] | None = None) -> None:
        """Write the report, one self-contained HTML page.

        `failing` is what `coclick.failing.find_failing` returns: the report has a section for it.
        """
        from coclick.evaluation.report import write_report

        write_report(self.leaderboard, path, self.to_dict(), failing)


def _by_model(board: Leaderboard) -> dict[str, dict[str, Any]]:
    """The main measure of each model with its interval."""
    values = {result.name: result.values() for result in board.results}
    spans = intervals(values) if values else {}
    return {
        name: {MAIN_MEASURE: float(found.mean()), "interval": list(spans[name])}
        for name, found in values.items()
    }
