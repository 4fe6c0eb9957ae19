"""The papers' experiments: each returns values by query for the models that represent the papers' systems."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from coclick import model_names
from coclick.errors import UserError
from coclick.evaluation.breakdown import query_groups
from coclick.evaluation.leaderboard import Trainer
from coclick.evaluation.protocol import ModelResult, evaluate_model
from coclick.evaluation.similar_queries import SimilarityLabels, grade_similar
from coclick.evaluation.unit_vectors import compare_units
from coclick.graph.click_graph import ClickGraph
from coclick.ltr.features import OF_PARTS
from coclick.models import spec as specs
from coclick.models.registry import create
from reproduce.logs import Log, with_new_documents
from reproduce.orders import Values

Measured = dict[str, dict[str, Values]]  # measure → system → values by query

NOT_IMPLEMENTED = "not implemented: "
MIN_QUERIES = 20  # for a mean
CLICK_GROUPS = ("≤10", "≤100", "≤1000", ">1000")


class Experiment(Protocol):
    """A way to measure systems on a log."""

    def missing_requirement(self, system: str) -> str:
        """Return why a system cannot be measured, or an empty string."""

    def measure(self, systems: Mapping[str, str], measures: Sequence[str]) -> Measured:
        """Return the values of the systems by measure and by name in the paper."""


def experiments(log: Log, ranker: str) -> dict[str, Experiment]:
    """Return all experiments by name; `ranker` is the model whose feature importance is measured."""
    trials = TrialCache(log)
    groups = query_groups(log.graph, log.judgments)
    similar = {"similar queries": False, "similar queries, tail": True}
    return {
        "ranking": Ranking(trials, list(log.judgments.queries)),
        "seen queries": _ranking(trials, groups["query"].get("seen", [])),
        **{f"clicks {name}": _ranking(trials, groups["clicks"].get(name, [])) for name in CLICK_GROUPS},
        "new documents": _new_documents(log),
        "importance": Importance(trials, ranker),
        "vectors of unseen queries": UnseenVectors(log.graph),
        **{name: _similar(log, tail) for name, tail in similar.items()},
    }


def _ranking(trials: TrialCache, queries: Sequence[str]) -> Experiment:
    if len(queries) < MIN_QUERIES:
        return NotMeasurable(f"only {len(queries)} judged queries")
    return Ranking(trials, queries)


def _new_documents(log: Log) -> Experiment:
    if log.judgments.lacks_zeros():
        return NotMeasurable("only relevant documents are judged")
    new = with_new_documents(log)
    return Ranking(TrialCache(new), list(new.judgments.queries))


def _similar(log: Log, tail: bool) -> Experiment:
    if log.intents is None:
        return NotMeasurable("similar queries are unknown for this log")
    return SimilarQueries(log.graph, log.intents, tail)


@dataclass(frozen=True)
class NotMeasurable:
    """An experiment that is impossible on this log."""

    why: str

    def missing_requirement(self, system: str) -> str:
        """Return the reason."""
        return self.why

    def measure(self, systems: Mapping[str, str], measures: Sequence[str]) -> Measured:
        """Return no values."""
        return {}


@dataclass
class TrialCache:
    """Train and evaluate models on the judgments of a log, each once."""

    log: Log
    _done: dict[str, ModelResult] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.trainer = Trainer(self.log.graph)

    def get(self, spec: str) -> ModelResult:
        """Return the evaluation of a model."""
        if spec not in self._done:
            model, seconds = self.trainer.get(spec)
            self._done[spec] = evaluate_model(model, self.log.judgments, self.log.protocol, seconds)
        return self._done[spec]


@dataclass(frozen=True)
class Ranking:
    """Rank documents for judged queries."""

    trials: TrialCache
    queries: Sequence[str]

    def missing_requirement(self, system: str) -> str:
        """Return unknown models or missing data."""
        return missing_model_requirement(system, self.trials.log.graph)

    def measure(self, systems: Mapping[str, str], measures: Sequence[str]) -> Measured:
        """Return each measure for each query."""
        found = {name: self.trials.get(spec).by_query for name, spec in systems.items()}
        return {
            measure: {name: np.array([by[q][measure] for q in self.queries]) for name, by in found.items()}
            for measure in measures
        }


@dataclass(frozen=True)
class SimilarQueries:
    """Find the three nearest neighbours of sampled queries; queries with the same intent are similar."""

    graph: ClickGraph
    intents: SimilarityLabels
    tail: bool

    def missing_requirement(self, system: str) -> str:
        """Return unknown models or missing data."""
        return missing_model_requirement(system, self.graph)

    def measure(self, systems: Mapping[str, str], measures: Sequence[str]) -> Measured:
        """Return the share of similar queries among the three."""
        values, tail = grade_similar(self.graph, self.intents, list(systems.values()))
        sampled = tail if self.tail else np.ones(len(tail), bool)
        return {
            measure: {name: values[str(create(spec))][sampled] for name, spec in systems.items()}
            for measure in measures
        }


@dataclass(frozen=True)
class Importance:
    """The gain of a ranker's splits on a model's scores; 100 for the most important."""

    trials: TrialCache
    ranker: str

    def missing_requirement(self, system: str) -> str:
        """Return what the ranker is missing."""
        return missing_model_requirement(self.ranker, self.trials.log.graph)

    def measure(self, systems: Mapping[str, str], measures: Sequence[str]) -> Measured:
        """Return one value per model: the sum over the features of its score."""
        gains = self.trials.trainer.get(self.ranker)[0].stats_["importance"]
        sums = {
            name: sum(gains[f"{create(spec)} {kind}"] for kind in OF_PARTS) for name, spec in systems.items()
        }
        scale = 100 / max(max(sums.values()), 1e-9)
        return {measure: {name: np.array([scale * s]) for name, s in sums.items()} for measure in measures}


@dataclass(frozen=True)
class UnseenVectors:
    """Compare the generated vectors of held-out queries with those from their clicks."""

    graph: ClickGraph

    def missing_requirement(self, system: str) -> str:
        """Return an empty string: every method can be measured."""
        return ""

    def measure(self, systems: Mapping[str, str], measures: Sequence[str]) -> Measured:
        """Return one value per method; a system is the name of its row."""
        rows = {row["method"]: row for row in compare_units(self.graph)}
        return {
            measure: {name: np.array([rows[method][measure]]) for name, method in systems.items()}
            for measure in measures
        }


def missing_model_requirement(spec: str, graph: ClickGraph) -> str:
    """Return the unregistered models of a specification, or the data that the graph lacks."""
    unknown = [name for name in models_in(spec) if name not in model_names()]
    if unknown:
        return NOT_IMPLEMENTED + ", ".join(unknown)
    try:
        create(spec).check_requirements(graph)
    except UserError as error:
        return error.what
    return ""


def models_in(spec: str) -> list[str]:
    """Return the names of all models in a specification, without combinations."""
    if specs.is_sum(spec):
        return list(dict.fromkeys(n for _, part in specs.parse_sum(spec) for n in models_in(part)))
    name, parameters = specs.parse(spec)
    return models_in(parameters[specs.SUM]) if specs.SUM in parameters else [name]
