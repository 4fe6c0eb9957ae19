"""The result of an expectation on a log."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from reproduce.experiments import Experiment, Measured
from reproduce.orders import Order, Verdict, judge
from reproduce.papers import Expectation, Paper


@dataclass(frozen=True)
class Finding:
    """An expectation with its measurements; it has no verdicts if nothing could be compared."""

    paper: Paper
    expectation: Expectation
    not_measured: dict[str, str]  # system → reason
    measured: Measured
    verdicts: dict[str, list[Verdict]]  # by measure

    def holds(self, measure: str) -> bool:
        """Return whether all compared relations are as expected."""
        return all(verdict.holds for verdict in self.verdicts[measure])

    @property
    def queries(self) -> int:
        """The number of queries in the means."""
        return len(next(iter(next(iter(self.measured.values())).values())))


def evaluate_expectation(
    paper: Paper, expectation: Expectation, experiments: Mapping[str, Experiment]
) -> Finding:
    """Measure the available systems and compare their order with the expected one."""
    experiment = experiments[expectation.experiment]
    order = Order.parse(expectation.order)
    not_measured = {
        name: why for name in order.names if (why := experiment.missing_requirement(paper.systems[name]))
    }
    rest = order.restricted_to([name for name in order.names if name not in not_measured])
    if not rest.relations:
        return Finding(paper, expectation, not_measured, {}, {})
    systems = {name: paper.systems[name] for name in rest.names}
    measured = experiment.measure(systems, expectation.measures)
    verdicts = {measure: judge(rest, values) for measure, values in measured.items()}
    return Finding(paper, expectation, not_measured, measured, verdicts)
