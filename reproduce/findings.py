"""What became of an expectation on a log."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from reproduce.experiments import Experiment, Measured
from reproduce.orders import Order, Verdict, judge
from reproduce.papers import Expectation, Paper


@dataclass(frozen=True)
class Finding:
    """An expectation with all that was measured of it; without verdicts if there was nothing to compare."""

    paper: Paper
    expectation: Expectation
    lacking: dict[str, str]  # system → why it was not measured
    measured: Measured
    verdicts: dict[str, list[Verdict]]  # by measure

    def holds(self, measure: str) -> bool:
        """Is everything that could be compared as expected?"""
        return all(verdict.holds for verdict in self.verdicts[measure])

    @property
    def queries(self) -> int:
        """How many of them the means are over."""
        return len(next(iter(next(iter(self.measured.values())).values())))


def find_out(paper: Paper, expectation: Expectation, experiments: Mapping[str, Experiment]) -> Finding:
    """Measure the systems that can be, and hold the order among them against the expected one."""
    experiment = experiments[expectation.experiment]
    order = Order.parse(expectation.order)
    lacking = {name: why for name in order.names if (why := experiment.lacks(paper.systems[name]))}
    rest = order.only([name for name in order.names if name not in lacking])
    if not rest.relations:
        return Finding(paper, expectation, lacking, {}, {})
    systems = {name: paper.systems[name] for name in rest.names}
    measured = experiment.measure(systems, expectation.measures)
    verdicts = {measure: judge(rest, values) for measure, values in measured.items()}
    return Finding(paper, expectation, lacking, measured, verdicts)
