"""`Schedule`: which model is evaluated next, on which split, until all are done or the budget is used up.

1. Cheap models, by the splits that decide, until it is time for a first table, then on, as long as there is
   time for `ltr`, unless that would take most of the budget.
2. `ltr`, which usually wins.
3. The leading models by the other split.
4. The other models by their cost; expensive ones only if a relative of theirs is not far behind the best.
5. Combinations of the best models of different families.
6. The other models by the other split.

A model that was named is evaluated whatever it takes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

from coclick.errors import UserError
from coclick.exporters.targets import may_suit
from coclick.recommendation.budget import Budget, OutOfTimeError, format_duration, next_longer
from coclick.recommendation.candidates import Candidates, combine_best, family_of
from coclick.recommendation.comparison import BudgetUse, Comparison
from coclick.recommendation.costs import Costs, parts_of
from coclick.recommendation.entries import SIGNIFICANCE_LEVEL, as_good_as_best, p_value
from coclick.recommendation.properties import Properties, properties_of
from coclick.recommendation.splits import Split
from coclick.recommendation.updates import Update, how_to_include, result_line

FIRST_TABLE = 20.0  # seconds
_NEXT_TABLE = 60.0  # seconds between tables
_LEADING = 0.03  # nDCG behind the best: models that are judged by the other split first
_EXPENSIVE = 0.1  # of the budget
_RESERVE = 1.5  # times the estimate for `ltr` that is kept for it
_MAX_RESERVED = 0.6  # of the budget; if `ltr` needs more, the cheap models come first
_OUT_OF_REACH = 0.1  # nDCG behind the best: relatives of a model that cannot win
_ANNOUNCED = 5.0  # seconds from which the beginning of a model is announced
_PATIENCE = 4.0  # times the estimate after which training is stopped
_PATIENT = 60.0  # seconds that any training may take: the first one also compiles
_SCORED = 200  # queries whose judged documents are scored, for the curves of the report
_REPORT = 0.04  # of the budget, kept for the tests and tables at the end


class Schedule:
    """Evaluates models in an order that gives the most within the budget."""

    def __init__(
        self,
        splits: Sequence[Split],
        weights: Mapping[str, float],
        candidates: Candidates,
        named: Collection[str],
        budget: Budget,
        target: str | None,
        combine: Callable[[Sequence[str]], list[str]] = combine_best,
        on_update: Callable[[Update], None] = lambda update: None,
    ) -> None:
        self.splits, self.budget, self._target, self._tell = list(splits), budget, target, on_update
        self._weights = {name: weight for name, weight in weights.items() if weight > 0}
        self._deciding = [split for split in self.splits if split.name in self._weights]
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
        properties, left_out = dict(self._properties), dict(self._left_out)
        return Comparison(boards, self._weights, left_out, properties, self._target, use)

    # -- what comes next -------------------------------------------------------------------------------

    def _next(self) -> tuple[str, Split] | None:
        """The next model and split; None if nothing is left, or nothing that fits."""
        first = self.splits[0]
        for split in self._deciding[1:]:
            for spec in split.waiting(first.tried):
                if spec not in self._left_out:
                    return spec, split
        waiting = sorted(first.waiting(self._specs), key=self._order)
        soon = min(FIRST_TABLE, self.budget.limit)
        if waiting and self.budget.used + self._cost(waiting[0]) <= soon:
            return waiting[0], first
        for spec, split in self._in_order(waiting):
            if self._fits(spec, split):
                return spec, split
        return None

    def _in_order(self, waiting: Sequence[str]) -> Iterator[tuple[str, Split]]:
        """Models and splits by what they promise."""
        first, others = self.splits[0], [split for split in self.splits if split not in self._deciding]
        trees = [spec for spec in waiting if spec.startswith("ltr") and may_suit(spec, self._target)]
        reserved = _RESERVE * sum(map(self._cost, trees))
        if reserved > _MAX_RESERVED * self.budget.limit:
            reserved = 0.0
        for spec in waiting:
            cost = self._cost(spec)
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
            rest = [spec for spec in split.waiting(first.tried) if spec not in self._left_out]
            yield from ((spec, split) for spec in sorted(rest, key=self._order))

    def _order(self, spec: str) -> tuple[bool, float]:
        """What can be used at the target before the rest, then by cost."""
        return not may_suit(spec, self._target), self._cost(spec)

    def _leading(self) -> list[str]:
        """The models that are not far behind the best, best first."""
        ordered = self.comparison().entries()
        close = [one.name for one in ordered if ordered[0].quality - one.quality <= _LEADING]
        equal = [one.name for one in as_good_as_best(ordered)]
        return [self._specs_of[name] for name in dict.fromkeys([*close, *equal])]

    def _combinations(self) -> list[str]:
        """Combinations of the best models."""
        names = [entry.name for entry in self.comparison().entries()]
        return [spec for spec in self._combine(names) if spec not in self._specs]

    def _fits(self, spec: str, split: Split) -> bool:
        end = self.budget.limit * (1 - _REPORT)
        is_asked_for = spec in self._named and split is self.splits[0]
        cost = self._cost(spec) if split is self.splits[0] else self._estimate(spec, split)
        return is_asked_for or self.budget.used + cost <= end

    def _can_win(self, spec: str) -> bool:
        """Whether a model is cheap, or a relative of it is not far behind the best."""
        cost, ordered = self._cost(spec), self.comparison().entries()
        if spec in self._named or cost < _EXPENSIVE * self.budget.limit or not ordered:
            return True
        best, family = ordered[0], family_of(spec)
        relatives = [one for one in ordered if family_of(one.name) == family]
        if not relatives:
            return True
        gap = best.quality - relatives[0].quality
        if gap <= _OUT_OF_REACH or p_value(best, relatives[0]) >= SIGNIFICANCE_LEVEL:
            return True
        behind = f"{relatives[0].name}, the best of its kind, is {gap:.3f} behind {best.name}"
        self._leave_out(spec, f"{behind}; it would take about {format_duration(cost)}")
        return False

    def _cost(self, spec: str) -> float:
        """The seconds that a model takes by all splits that decide."""
        return sum(self._estimate(spec, split) for split in self._deciding)

    def _estimate(self, spec: str, split: Split) -> float:
        return self._costs.estimate(spec, split.trainer.has)

    # -- doing it --------------------------------------------------------------------------------------

    def _evaluate(self, spec: str, split: Split) -> None:
        """Train and measure a model; one that fails is left out unless it was named."""
        first, begun, job = split is self.splits[0], self.budget.used, f"{spec} by {split.name}"
        estimate = self._estimate(spec, split)
        self._show_table(estimate)
        if spec in self._named or math.isinf(self.budget.limit):
            self.budget.allow_any()
        else:
            self.budget.allow(max(_PATIENCE * estimate, _PATIENT))
        text = f"{job}: about {format_duration(estimate)} …" if estimate >= _ANNOUNCED else ""
        self._tell(Update(text, self.comparison(), running=job))
        try:
            model, result, seconds = split.evaluate(spec, _SCORED if first else 0)
        except OutOfTimeError:
            stopped = f"stopped after {format_duration(self.budget.used - begun)}"
            self._fail(spec, split, f"{stopped}: about {format_duration(estimate)} were expected")
            return
        except UserError as error:
            if first and spec in self._named:
                raise
            self._fail(spec, split, error.reason, hint=False)
            return
        if first:
            queries = list(split.data.judgments.queries.values())
            self._properties[result.name] = properties_of(model, split.protocol.task, queries)
            self._specs_of[result.name] = spec
            self._left_out.pop(spec, None)
        self._costs.record(spec, seconds)
        self._release(split)
        done = f"{len(split.tried)} of {len(self._specs)}, {format_duration(self.budget.used)}"
        line = result_line(result, job, self._properties[result.name].milliseconds)
        self._tell(Update(f"{line} ({done})", self.comparison()))

    def _fail(self, spec: str, split: Split, why: str, *, hint: bool = True) -> None:
        """Note that a model could not be evaluated."""
        if split is self.splits[0]:
            self._leave_out(spec, why, hint=hint)
        self._tell(Update(f"{spec} by {split.name}: {why}", self.comparison()))

    def _leave_out(self, spec: str, why: str, *, hint: bool = True, budget: str | None = None) -> None:
        longer = budget or next_longer(2 * self.budget.limit)
        self._left_out[spec] = f"{why}; {how_to_include(spec, longer)}" if hint else why

    def _release(self, split: Split) -> None:
        """Release the trained models that no combination needs any more."""
        needed = {part for spec in split.waiting(self._specs) for part in parts_of(spec)}
        singles = [entry.name for entry in self.comparison().entries() if not parts_of(entry.name)]
        split.trainer.keep(needed | {*singles[:2]} | self._named)

    def _show_table(self, estimate: float) -> None:
        """Show the results so far if it will be time for it before the next model is done."""
        if self._properties and self.budget.used + estimate >= self._next_table:
            self._next_table = self.budget.used + _NEXT_TABLE
            self._tell(Update("", self.comparison(), is_table=True))

    def _explain_the_rest(self) -> None:
        """Note why the remaining models were not evaluated."""
        first = self.splits[0]
        rest = {spec: self._cost(spec) for spec in first.waiting(self._specs) if spec not in self._left_out}
        enough = next_longer(self.budget.used + sum(rest.values()) * len(self.splits))
        for spec, seconds in rest.items():
            cost = f"it would take about {format_duration(seconds)}"
            self._leave_out(spec, f"the budget of {self.budget} did not suffice: {cost}", budget=enough)
        self._over_budget = rest
