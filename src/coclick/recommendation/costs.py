"""`Costs`: estimates how long a model takes to train and evaluate.

A model declares its cost relative to BM25 (`relative_cost`). What one unit takes on this graph and machine is
first guessed from the graph's size, then measured: the median of the models that have run.
"""

from __future__ import annotations

from collections.abc import Callable
from statistics import median

from coclick.errors import CoclickError
from coclick.graph.click_graph import ClickGraph
from coclick.models.combination._base import Combination
from coclick.models.registry import create

_SECONDS = 0.3  # of one unit on a small graph
_SECONDS_PER_MILLION = 8.0  # clicked pairs and documents: what a unit takes in addition
_ENOUGH = 5  # measurements to replace the guess
_COMBINATION = 2.0  # relative cost of a combination besides its parts


class Costs:
    """What models have taken, and what others will take."""

    def __init__(self, graph: ClickGraph) -> None:
        self._guess = _SECONDS + _SECONDS_PER_MILLION * (graph.clicks.nnz + len(graph.docs)) / 1e6
        self._ratios: list[float] = []
        self._measured: dict[str, float] = {}

    def record(self, spec: str, seconds: float) -> None:
        """Remember what a model has taken; the parts of a combination not included."""
        self._ratios.append(seconds / _relative(spec))
        self._measured[spec] = seconds

    def estimate(self, spec: str, is_trained: Callable[[str], bool] = lambda spec: False) -> float:
        """Return the seconds that a model will take, with the parts that are not trained yet."""
        parts = [part for part in parts_of(spec) if not is_trained(part)]
        return self._own(spec) + sum(map(self._own, parts))

    def _own(self, spec: str) -> float:
        if spec in self._measured:
            return self._measured[spec]
        unit = median(self._ratios) if len(self._ratios) >= _ENOUGH else self._guess
        return unit * _relative(spec)


def parts_of(spec: str) -> list[str]:
    """Return the parts of a combination, which are trained by themselves; others have none."""
    try:
        model = create(spec)
    except CoclickError:  # the directory of a saved model
        return []
    return list(model.part_specs) if isinstance(model, Combination) else []


def _relative(spec: str) -> float:
    try:
        model = create(spec)
    except CoclickError:
        return 1.0
    if isinstance(model, Combination):  # it trains its parts once more, on a part of the clicks
        return _COMBINATION + sum(map(_relative, model.part_specs))
    return model.relative_cost
