"""`Properties`: what a model offers besides quality: the time of a search, where it can be used, and more."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from coclick.evaluation.tasks import Task
from coclick.exporters.targets import targets_of
from coclick.models.base import Model

_SEARCHES = 50  # at most
_SECONDS = 0.5  # for all of them
_K = 10


@dataclass(frozen=True)
class Properties:
    """What a model offers, and the milliseconds that one search usually takes, one query at a time."""

    milliseconds: float
    targets: tuple[str, ...]  # where it can be used
    takes_new_documents: bool
    explains: bool

    def to_dict(self) -> dict[str, Any]:
        """Return them as `coclick compare --json` writes them."""
        return {
            "milliseconds": round(self.milliseconds, 3),
            "targets": list(self.targets),
            "takes_new_documents": self.takes_new_documents,
            "explains": self.explains,
        }


def properties_of(model: Model, task: Task, queries: Sequence[str]) -> Properties:
    """Return the properties of a trained model, timed with some queries."""
    able = model.capabilities
    return Properties(
        milliseconds(model, task, queries), tuple(targets_of(model)), "add" in able, "explain" in able
    )


def milliseconds(model: Model, task: Task, queries: Sequence[str]) -> float:
    """Return the usual time of a search for one query.

    The lower quartile of some searches, in CPU time where that is shorter than the time on the clock: other
    programs on the machine should not count.
    """
    task.rank(model, [queries[0]], _K)  # what is loaded or compiled once
    taken: list[float] = []
    for query in queries[:_SEARCHES]:
        started = time.perf_counter(), time.process_time()
        task.rank(model, [query], _K)
        taken.append(min(time.perf_counter() - started[0], time.process_time() - started[1]))
        if sum(taken) > _SECONDS:
            break
    return 1000 * sorted(taken)[len(taken) // 4]
