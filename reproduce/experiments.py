"""How the papers measured: an experiment gives the systems, for which our models stand, values by query."""

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
from coclick.models.base import create
from reproduce.logs import Log, with_new_documents
from reproduce.orders import Values

Measured = dict[str, dict[str, Values]]  # measure → system → values, one a query

NOT_BUILT = "not built yet: "
FEWEST = 20  # queries that a mean is taken over
CLICK_GROUPS = ("≤10", "≤100", "≤1000", ">1000")


class Experiment(Protocol):
    """One way of measuring systems on a log."""

    def lacks(self, system: str) -> str:
        """Why a system cannot be measured; empty if it can."""

    def measure(self, systems: Mapping[str, str], measures: Sequence[str]) -> Measured:
        """Values of the systems by their names in the paper."""


def experiments(log: Log, ranker: str) -> dict[str, Experiment]:
    """All of them by name; `ranker` is the one whose features' importance is asked for."""
    trials = Trials(log)
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


def _ranking(trials: Trials, queries: Sequence[str]) -> Experiment:
    if len(queries) < FEWEST:
        return Impossible(f"{len(queries)} judged queries are too few")
    return Ranking(trials, queries)


def _new_documents(log: Log) -> Experiment:
    if log.judgments.lacks_zeros():
        return Impossible("only relevant documents are judged")
    new = with_new_documents(log)
    return Ranking(Trials(new), list(new.judgments.queries))


def _similar(log: Log, tail: bool) -> Experiment:
    if log.intents is None:
        return Impossible("which queries are similar is not known")
    return SimilarQueries(log.graph, log.intents, tail)


@dataclass(frozen=True)
class Impossible:
    """What this log cannot be used for."""

    why: str

    def lacks(self, system: str) -> str:
        """Always the same."""
        return self.why

    def measure(self, systems: Mapping[str, str], measures: Sequence[str]) -> Measured:
        """Nothing."""
        return {}


@dataclass
class Trials:
    """Trained models before the judgments of a log, each of them once."""

    log: Log
    _done: dict[str, ModelResult] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.trainer = Trainer(self.log.graph)

    def get(self, spec: str) -> ModelResult:
        """What a model did."""
        if spec not in self._done:
            model, seconds = self.trainer.get(spec)
            self._done[spec] = evaluate_model(model, self.log.judgments, self.log.protocol, seconds)
        return self._done[spec]


@dataclass(frozen=True)
class Ranking:
    """Documents ranked for some of the judged queries, or all."""

    trials: Trials
    queries: Sequence[str]

    def lacks(self, system: str) -> str:
        """Models that are not built, and what they would learn from."""
        return lacks_model(system, self.trials.log.graph)

    def measure(self, systems: Mapping[str, str], measures: Sequence[str]) -> Measured:
        """Each measure of each query."""
        found = {name: self.trials.get(spec).by_query for name, spec in systems.items()}
        return {
            measure: {name: np.array([by[q][measure] for q in self.queries]) for name, by in found.items()}
            for measure in measures
        }


@dataclass(frozen=True)
class SimilarQueries:
    """The three nearest of sampled queries; similar is what has the same intent."""

    graph: ClickGraph
    intents: SimilarityLabels
    tail: bool

    def lacks(self, system: str) -> str:
        """As for ranking."""
        return lacks_model(system, self.graph)

    def measure(self, systems: Mapping[str, str], measures: Sequence[str]) -> Measured:
        """The share of similar ones among the three."""
        values, tail = grade_similar(self.graph, self.intents, list(systems.values()))
        asked = tail if self.tail else np.ones(len(tail), bool)
        return {
            measure: {name: values[str(create(spec))][asked] for name, spec in systems.items()}
            for measure in measures
        }


@dataclass(frozen=True)
class Importance:
    """How much a ranker's trees gained by splitting on a model's scores; 100 for the most important."""

    trials: Trials
    ranker: str

    def lacks(self, system: str) -> str:
        """What the ranker lacks."""
        return lacks_model(self.ranker, self.trials.log.graph)

    def measure(self, systems: Mapping[str, str], measures: Sequence[str]) -> Measured:
        """One value a model: the sum over the features made of its score."""
        gains = self.trials.trainer.get(self.ranker)[0].stats_["importance"]
        sums = {
            name: sum(gains[f"{create(spec)} {kind}"] for kind in OF_PARTS) for name, spec in systems.items()
        }
        scale = 100 / max(max(sums.values()), 1e-9)
        return {measure: {name: np.array([scale * s]) for name, s in sums.items()} for measure in measures}


@dataclass(frozen=True)
class UnseenVectors:
    """Vectors of held-out queries beside those that their clicks would have given them."""

    graph: ClickGraph

    def lacks(self, system: str) -> str:
        """Nothing."""
        return ""

    def measure(self, systems: Mapping[str, str], measures: Sequence[str]) -> Measured:
        """One value a method; a system is the name of its row."""
        rows = {row["method"]: row for row in compare_units(self.graph)}
        return {
            measure: {name: np.array([rows[method][measure]]) for name, method in systems.items()}
            for measure in measures
        }


def lacks_model(spec: str, graph: ClickGraph) -> str:
    """Models of a specification that are not registered, or what the graph cannot give them."""
    unknown = [name for name in models_in(spec) if name not in model_names()]
    if unknown:
        return NOT_BUILT + ", ".join(unknown)
    try:
        create(spec).check_requirements(graph)
    except UserError as error:
        return error.what
    return ""


def models_in(spec: str) -> list[str]:
    """The names of all models that a specification is made of, without those that only combine them."""
    if specs.is_sum(spec):
        return list(dict.fromkeys(n for _, part in specs.parse_sum(spec) for n in models_in(part)))
    name, parameters = specs.parse(spec)
    return models_in(parameters[specs.SUM]) if specs.SUM in parameters else [name]
