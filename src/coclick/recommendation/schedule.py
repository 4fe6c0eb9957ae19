"""`Schedule`: which model is evaluated next, on which split, until all are done or the budget is used up.

1. Cheap models, on the split that decides, until it is time for a first table, then on, as long as there is
   time for `ltr`.
2. `ltr`, which usually wins.
3. The leading models on the other split.
4. The other models by their cost; expensive ones only if a relative of theirs is not far behind the best.
5. Combinations of the two best models, if a single model leads.
6. The other models on the other split.

A model that was named is evaluated whatever it takes.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from coclick.errors import CoclickError, UserError
from coclick.evaluation.inputs import EvaluationData
from coclick.evaluation.leaderboard import Leaderboard, Trainer
from coclick.evaluation.measures import MAIN_MEASURE
from coclick.evaluation.protocol import ModelResult, Protocol, evaluate_model
from coclick.evaluation.significance import intervals, t_test
from coclick.models.registry import create
from coclick.recommendation.budget import Budget, OutOfTimeError, format_duration, next_longer
from coclick.recommendation.candidates import ROBUST, Candidates, combine_two_best, quoted
from coclick.recommendation.comparison import BudgetUse, Comparison
from coclick.recommendation.costs import Costs, parts_of
from coclick.recommendation.properties import Properties, properties_of

FIRST_TABLE = 20.0  # seconds
_NEXT_TABLE = 60.0  # seconds between tables
_LEADING = 0.03  # nDCG behind the best: models that are judged by the other split first
_EXPENSIVE = 0.1  # of the budget
_RESERVE = 1.5  # times the estimate for `ltr` that is kept for it
_OUT_OF_REACH = 0.1  # nDCG behind the best: relatives of a model that cannot win
_SIGNIFICANCE_LEVEL = 0.05
_ANNOUNCED = 5.0  # seconds from which the beginning of a model is announced
_SCORED = 200  # queries whose judged documents are scored, for the curves of the report
_REPORT = 0.04  # of the budget, kept for the tests and tables at the end


class Update(NamedTuple):
    """What has happened, and the results so far; `is_table` if it is time to show them."""

    text: str  # a line; empty if nothing is worth a line
    comparison: Comparison
    is_table: bool = False
    running: str = ""  # what begins now


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


class Schedule:
    """Evaluates models in an order that gives the most within the budget."""

    def __init__(
        self,
        splits: Sequence[Split],
        candidates: Candidates,
        named: Collection[str],
        budget: Budget,
        target: str | None,
        combine: Callable[[Sequence[ModelResult]], list[str]] = combine_two_best,
        on_update: Callable[[Update], None] = lambda update: None,
    ) -> None:
        self.splits, self.budget, self._target, self._tell = list(splits), budget, target, on_update
        self._specs, self._left_out = list(candidates.specs), dict(candidates.left_out)
        self._named, self._combine = {*named}, combine
        self._costs = Costs(self.splits[0].data.train)
        self._properties: dict[str, Properties] = {}
        self._specs_of: dict[str, str] = {}  # specification by name of the result
        self._over_budget: dict[str, float] = {}
        self._next_table = FIRST_TABLE
        self._combined = False

    def run(self) -> Comparison:
        """Evaluate until nothing is left that fits into the budget."""
        while (job := self._next()) is not None:
            self._evaluate(*job)
        self._explain_the_rest()
        return self.comparison(complete=True)

    def comparison(self, complete: bool = False) -> Comparison:
        """Return the results so far."""
        boards = {split.name: split.board() for split in self.splits}
        use = BudgetUse(self.budget.limit, self.budget.used, dict(self._over_budget), complete)
        return Comparison(boards, dict(self._left_out), dict(self._properties), self._target, use)

    # -- what comes next -------------------------------------------------------------------------------

    def _next(self) -> tuple[str, Split] | None:
        """The next model and split; None if nothing is left, or nothing that fits."""
        first = self.splits[0]
        waiting = sorted(self._waiting(first), key=lambda spec: self._estimate(spec, first))
        soon = min(FIRST_TABLE, self.budget.limit)
        if waiting and self.budget.used + self._estimate(waiting[0], first) <= soon:
            return waiting[0], first
        self._show_table()
        for spec, split in self._in_order(waiting):
            if self._fits(spec, split):
                return spec, split
        return None

    def _in_order(self, waiting: Sequence[str]) -> Iterator[tuple[str, Split]]:
        """Models and splits by what they promise."""
        first, others = self.splits[0], self.splits[1:]
        trees = [spec for spec in waiting if spec.startswith("ltr")]
        reserved = _RESERVE * sum(self._estimate(spec, first) for spec in trees)
        for spec in waiting:
            cost = self._estimate(spec, first)
            if cost < _EXPENSIVE * self.budget.limit and cost + reserved <= self.budget.left:
                yield spec, first
        yield from ((spec, first) for spec in trees)
        leading = self._leading()
        yield from ((spec, split) for split in others for spec in leading if spec not in split.tried)
        yield from ((spec, first) for spec in waiting if self._can_win(spec))
        if not self._combined:
            self._combined = True
            combinations = self._combinations()
            self._specs += combinations
            yield from ((spec, first) for spec in combinations)
        for split in others:
            rest = [
                spec for spec in self._waiting(split) if spec in first.tried and spec not in self._left_out
            ]
            cheap_first = sorted(rest, key=lambda spec: self._estimate(spec, split))
            yield from ((spec, split) for spec in cheap_first)

    def _waiting(self, split: Split) -> list[str]:
        return [spec for spec in self._specs if spec not in split.tried]

    def _leading(self) -> list[str]:
        """The models that are not far behind the best, best first."""
        ordered = self._ordered()
        return [
            self._specs_of[result.name]
            for result in ordered
            if ordered[0].values().mean() - result.values().mean() <= _LEADING
        ]

    def _combinations(self) -> list[str]:
        """Combinations of the two best models, if a single model leads."""
        if not (ordered := self._ordered()) or self.comparison().recommended.startswith(ROBUST):
            return []
        return [spec for spec in self._combine(ordered) if spec not in self._specs]

    def _fits(self, spec: str, split: Split) -> bool:
        end = self.budget.limit * (1 - _REPORT)
        is_asked_for = spec in self._named and split is self.splits[0]
        return is_asked_for or self.budget.used + self._estimate(spec, split) <= end

    def _can_win(self, spec: str) -> bool:
        """Whether a model is cheap, or a relative of it is not far behind the best."""
        cost = self._estimate(spec, self.splits[0])
        if spec in self._named or cost < _EXPENSIVE * self.budget.limit or not (ordered := self._ordered()):
            return True
        best, family = ordered[0], _family(spec)
        relatives = [one for one in ordered if _family(one.name) == family]
        if not relatives:
            return True
        gap = best.values() - relatives[0].values()
        if gap.mean() <= _OUT_OF_REACH or t_test(gap) >= _SIGNIFICANCE_LEVEL:
            return True
        behind = f"{relatives[0].name}, the best of its kind, is {gap.mean():.3f} behind {best.name}"
        self._left_out[spec] = f"{behind}; it would take about {format_duration(cost)}; {_include(spec)}"
        return False

    def _ordered(self) -> list[ModelResult]:
        """The results by the split that decides, best first, without runs of other systems."""
        found = self.splits[0].board().ordered()
        return [result for result in found if result.name in self._specs_of]

    def _estimate(self, spec: str, split: Split) -> float:
        return self._costs.estimate(spec, split.trainer.has)

    # -- doing it --------------------------------------------------------------------------------------

    def _evaluate(self, spec: str, split: Split) -> None:
        """Train and measure a model; one that fails is left out unless it was named."""
        split.tried.add(spec)
        self.budget.enforced = spec not in self._named
        estimate = self._estimate(spec, split)
        job = f"{spec} by {split.name}"
        text = f"{job}: about {format_duration(estimate)} …" if estimate >= _ANNOUNCED else ""
        self._tell(Update(text, self.comparison(), running=job))
        try:
            for part in parts_of(spec):
                split.trainer.get(part)
            started = time.perf_counter()
            model, seconds = split.trainer.get(spec)
            judgments, protocol, decides = split.data.judgments, split.protocol, split is self.splits[0]
            result = evaluate_model(model, judgments, protocol, seconds, max_scored=_SCORED if decides else 0)
        except OutOfTimeError:
            why = f"stopped: the budget of {self.budget} was used up; {_include(spec)}"
            self._left_out.setdefault(spec, why)
            return
        except UserError as error:
            if split is self.splits[0]:
                if spec in self._named:
                    raise
                self._left_out[spec] = error.reason
            return
        if decides:
            queries = list(judgments.queries.values())
            self._properties[result.name] = properties_of(model, protocol.task, queries)
            self._specs_of[result.name] = spec
        split.results.append(result)
        self._left_out.pop(spec, None)
        self._costs.record(spec, time.perf_counter() - started)
        self._release(split)
        self._tell(Update(self._line(result, split), self.comparison()))

    def _release(self, split: Split) -> None:
        """Release the trained models that no combination needs any more."""
        needed = {part for spec in self._waiting(split) for part in parts_of(spec)}
        singles = [result.name for result in self._ordered() if not parts_of(result.name)]
        split.trainer.keep(needed | {*singles[:2]} | self._named)

    def _line(self, result: ModelResult, split: Split) -> str:
        """One line about a result."""
        values = result.values()
        span = intervals({result.name: values})[result.name]
        quality = f"{MAIN_MEASURE} {values.mean():.3f} ({span.low:.3f}–{span.high:.3f})"
        search = f"{self._properties[result.name].milliseconds:.2g} ms a query"
        done = f"{len(split.tried)} of {len(self._specs)}, {format_duration(self.budget.used)}"
        trained = f"trained in {format_duration(result.seconds)}"
        return f"{result.name} by {split.name}: {quality}, {trained}, {search} ({done})"

    def _show_table(self) -> None:
        """Show the results so far when it is time, and there is something new to wait for."""
        if self._properties and self.budget.used + _ANNOUNCED >= self._next_table:
            self._next_table = self.budget.used + _NEXT_TABLE
            self._tell(Update("", self.comparison(), is_table=True))

    def _explain_the_rest(self) -> None:
        """Note why the remaining models were not evaluated."""
        first = self.splits[0]
        rest = [spec for spec in self._waiting(first) if spec not in self._left_out]
        total = self.budget.used + sum(self._estimate(spec, first) for spec in rest) * len(self.splits)
        for spec in rest:
            self._over_budget[spec] = self._estimate(spec, first)
            cost = f"it would take about {format_duration(self._over_budget[spec])}"
            why = f"the budget of {self.budget} did not suffice"
            self._left_out[spec] = f"{why}: {cost}; {_include(spec, next_longer(total))}"


def _family(spec: str) -> str:
    """The family of a model: the folder that its class is in."""
    try:
        return type(create(spec)).__module__.rpartition(".")[0]
    except CoclickError:
        return ""


def _include(spec: str, budget: str = "10m") -> str:
    return f"include it with --budget {budget} or --only {quoted(spec)}"
