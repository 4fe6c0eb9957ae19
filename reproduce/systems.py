"""The scores of a paper's systems on a log: models, tuned models, mixes and rankers, from stored scores.

Weights are tuned, and rankers trained, as in the paper: on one half of the judged queries, measured on the
other (`half`); on each half for the other (`two-fold`); or the best of the grid is reported (`best`).
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coclick.ltr.boosting import Boosting
from coclick.ltr.folds import Examples
from reproduce.jobs import Job, JobResult
from reproduce.judged import Judged, Scores, Values
from reproduce.logs import Log
from reproduce.paper import Grid, Mix, Paper, Ranker, System

TUNED_BY = "nDCG@5"  # unless the table has another first measure
N_TREES, N_LEAVES, LEARNING_RATE = 300, 10, 0.1  # leaves and rate of RankLib's MART
Mask = NDArray[np.bool_]


class NotMeasured(Exception):
    """A system cannot be measured on a log; the text says why."""


def job_of(made: System, log: Log) -> Job:
    """Return the job of a model with the settings of a log."""
    if isinstance(made, Grid):
        return Job(made.spec.format(**log.settings), made.parameter, made.scored)
    assert isinstance(made, str), "mixes and rankers have no job of their own"
    return Job(made.format(**log.settings))


def parts_of(systems: Mapping[str, System], names: Sequence[str]) -> list[str]:
    """Return the models that these systems are made of, by name, each once."""
    found: dict[str, None] = {}
    for name in names:
        made = systems[name]
        if isinstance(made, Mix):
            found.update(dict.fromkeys(parts_of(systems, (made.a, made.b))))
        elif isinstance(made, Ranker):
            found.update(dict.fromkeys(parts_of(systems, (*made.base, *made.added))))
        else:
            found[name] = None
    return list(found)


@dataclass
class Systems:
    """The systems of a paper on a log, scored when they are asked for."""

    paper: Paper
    log: Log
    chosen: dict[str, Any] = field(default_factory=dict)  # tuned values by system
    importance: dict[str, dict[str, float]] = field(default_factory=dict)  # of rankers
    _scores: dict[str, Scores] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.judged: Judged = self.log.judged()
        self.first_half: Mask = self.judged.halves()

    @property
    def measured(self) -> Mask:
        """The queries that count: those that tuning did not see, or all."""
        return ~self.first_half if self.paper.tuning == "half" else np.ones_like(self.first_half)

    def result(self, name: str) -> JobResult:
        """Return the stored result of a model."""
        found = JobResult.read(job_of(self.paper.systems[name], self.log), self.log)
        if found is None:
            raise NotMeasured(f"{name} has not been run")
        if "error" in found.info:
            raise NotMeasured(str(found.info["error"]))
        return found

    def scores(self, name: str) -> Scores:
        """Return the scores of all judged pairs."""
        if name not in self._scores:
            made = self.paper.systems[name]
            if isinstance(made, Ranker):
                self._scores[name] = self._rank(name, made)
            elif isinstance(made, Mix):
                self._scores[name] = self._mix(name, made)
            elif isinstance(made, Grid):
                table = self.result(name).arrays["scores"]
                rows = [made.scored.index(value) for value in made.values]
                self._scores[name] = self._tune(name, made.values, lambda i: table[rows[i]])
            else:
                self._scores[name] = self.result(name).arrays["scores"][0]
        return self._scores[name]

    def values(self, name: str, measure: str) -> Values:
        """Return a measure of each query."""
        return self.judged.measure(self.scores(name), measure)

    def _mix(self, name: str, made: Mix) -> Scores:
        a, b = self.scores(made.a), self.scores(made.b)
        if made.scaled:
            a, b = self.judged.divide_by_maximum(a), self.judged.divide_by_maximum(b)
        weights = np.array(made.weights, np.float32)
        return self._tune(name, made.weights, lambda i: weights[i] * a + (1 - weights[i]) * b)

    def _tune(self, name: str, values: Sequence[float], scores: Callable[[int], Scores]) -> Scores:
        """The scores with the value that ranks the tuning queries best."""
        measures = np.stack([self.judged.measure(scores(i), TUNED_BY) for i in range(len(values))])
        out = np.zeros(len(self.judged.grades), np.float32)
        self.chosen[name] = []
        for tuned_on, used_for in self._folds():
            best = int(measures[:, tuned_on].mean(axis=1).argmax())
            self.chosen[name].append(values[best])
            pairs = used_for[self.judged.query_of]
            out[pairs] = scores(best)[pairs]
        return out

    def _rank(self, name: str, made: Ranker) -> Scores:
        names = [*self._available(made.base), *made.added]
        features = np.stack([self.scores(part) for part in names], axis=1)
        out = np.zeros(len(self.judged.grades), np.float32)
        gains: Values = np.zeros(len(names))
        boosting = Boosting(made.objective, N_TREES, N_LEAVES, LEARNING_RATE, 0)
        for trained_on, used_for in self._folds():
            trees = boosting.grow(self._examples(features, trained_on))
            pairs = used_for[self.judged.query_of]
            out[pairs] = trees.outputs(features[pairs])
            gains += trees.importance()
        self.importance[name] = dict(zip(names, (100 * gains / gains.max()).tolist(), strict=True))
        return out

    def _available(self, names: Sequence[str]) -> list[str]:
        """The systems that can be measured on this log."""
        found = []
        for name in names:
            with contextlib.suppress(NotMeasured):
                self.scores(name)
                found.append(name)
        return found

    def _examples(self, features: NDArray[np.float32], queries: Mask) -> Examples:
        pairs = queries[self.judged.query_of]
        texts = [text for text, used in zip(self.judged.texts, queries.tolist(), strict=True) if used]
        return Examples(
            features[pairs],
            self.judged.grades[pairs].astype(np.int32),
            np.flatnonzero(pairs).astype(np.int32),
            texts,
            np.diff(self.judged.starts)[queries].astype(np.int32),
        )

    def _folds(self) -> list[tuple[Mask, Mask]]:
        """Pairs of queries to tune on and queries to use the result for."""
        first, every = self.first_half, np.ones_like(self.first_half)
        if self.paper.tuning == "best":
            return [(every, every)]
        if self.paper.tuning == "half":
            return [(first, every)]
        return [(first, ~first), (~first, first)]
