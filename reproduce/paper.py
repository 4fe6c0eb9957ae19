"""What a paper shows, as data: systems, tables with their values, figures, orders and ablations.

The papers' data is private, so their values cannot be compared with ours, only the order of the systems.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

from reproduce.orders import Order

TENTHS = tuple(round(0.1 * i, 1) for i in range(1, 10))  # the grid of weights in all papers


@dataclass(frozen=True)
class Grid:
    """A model with one parameter of its scoring tuned; training does not depend on the parameter.

    Scores are computed for all `scored` values, so that systems with other `values` share a trained model.
    """

    spec: str
    parameter: str
    values: tuple[float, ...] = TENTHS
    scored: tuple[float, ...] = (0.0, *TENTHS)


@dataclass(frozen=True)
class Mix:
    """w · a + (1 − w) · b of two systems, with w tuned; a and b are names of systems that are models.

    `scaled` divides the scores of a query by their maximum first; cosines are added as they are.
    """

    a: str
    b: str
    scaled: bool = True
    weights: tuple[float, ...] = TENTHS


@dataclass(frozen=True)
class Ranker:
    """Boosted trees over the scores of systems, trained on judgments.

    A log may lack some of the `base` features, which are then left out; it must have the `added` ones.
    """

    base: tuple[str, ...]
    added: tuple[str, ...] = ()
    objective: Literal["pointwise", "lambdarank"] = "pointwise"


System = str | Grid | Mix | Ranker


@dataclass(frozen=True)
class Table:
    """A table of a paper: measures of systems on a log, and the orders that the paper concludes.

    `values` are those of the paper, in the order of `measures`; the first measure decides whether an order
    holds. `queries` is the group of judged queries: all, seen, or a bin of clicks.
    """

    name: str
    log: str
    measures: tuple[str, ...]
    values: Mapping[str, tuple[float, ...]]
    orders: tuple[str, ...]
    queries: str = "all"


@dataclass(frozen=True)
class Similar:
    """A pos-com-neg chart of similar queries: `ours` against each of the others, on sampled queries.

    `values` are the shares of queries that the paper's text reports as won, at least, and lost, at most.
    """

    name: str
    log: str
    ours: str
    others: tuple[str, ...]
    orders: tuple[str, ...]
    tail: bool = False


@dataclass(frozen=True)
class Curve:
    """Measures of one system as a function of a parameter."""

    name: str
    log: str
    system: str
    parameter: str
    points: tuple[int, ...]
    measures: tuple[str, ...]


@dataclass(frozen=True)
class Importance:
    """The relative importance of the features of a ranker, 100 for the highest."""

    name: str
    log: str
    ranker: str
    orders: tuple[str, ...]


@dataclass(frozen=True)
class Separability:
    """The sorted scores of documents, one curve for each grade."""

    name: str
    log: str
    systems: tuple[str, ...]
    orders: tuple[str, ...]


@dataclass(frozen=True)
class UnseenVectors:
    """The cosine of generated vectors of unseen queries to those learned from their clicks.

    `queries` is the group of held-out queries: all; `covered`, for which every method has a vector; `linked`,
    which share a clicked document with a query that is not held out; or both.
    """

    name: str
    log: str
    spec: str
    values: Mapping[str, float]
    orders: tuple[str, ...]
    queries: Literal["all", "covered", "linked", "covered+linked"] = "all"


@dataclass(frozen=True)
class Threads:
    """Training times of a system by the number of threads, in seconds; `values` are the paper's.

    The paper draws a curve; its text gives only some of the values.
    """

    name: str
    log: str
    system: str
    threads: tuple[int, ...]
    values: Mapping[int, float]


@dataclass(frozen=True)
class Cost:
    """Training times of systems, in seconds; the paper's and ours."""

    name: str
    log: str
    values: Mapping[str, float]
    orders: tuple[str, ...]


@dataclass(frozen=True)
class Examples:
    """A table of examples: `kind` says which, `systems` what is shown; `shown` is what the paper shows."""

    name: str
    log: str
    kind: Literal[
        "vectors", "both sides", "units", "similar", "difficult", "matrices", "weights", "projection"
    ]
    systems: tuple[str, ...]
    shown: str
    rankings: tuple[str, ...] = ()  # systems whose first three documents are shown for an example


Exhibit = Table | Similar | Curve | Importance | Separability | UnseenVectors | Threads | Cost | Examples
Ordered = Table | Similar | Importance | UnseenVectors | Cost  # whose orders have ablations


@dataclass(frozen=True)
class Ablation:
    """Why an order may not hold, tested: the same order after one change of systems, log or queries."""

    exhibit: str
    order: str
    why: str  # the suspected reason: what the order should do after the change
    systems: Mapping[str, System] = field(default_factory=dict)
    log: str = ""  # a log with another knob, instead of the exhibit's
    spec: str = ""  # of unseen vectors: another model
    queries: str = ""  # of unseen vectors: another group of held-out queries


@dataclass(frozen=True)
class Paper:
    """A paper's systems and all that it shows."""

    key: str
    citation: str
    title: str
    differences: str  # between its experiments and ours
    test: Literal["t", "sign"]
    level: float  # p-values below it are significant
    tuning: Literal["best", "half", "two-fold"]  # of weights and rankers
    systems: Mapping[str, System]
    exhibits: tuple[Exhibit, ...]
    ablations: tuple[Ablation, ...] = ()

    def orders(self) -> Iterator[tuple[Exhibit, Order]]:
        """Yield every order with its table or figure."""
        for exhibit in self.exhibits:
            for text in getattr(exhibit, "orders", ()):
                yield exhibit, Order.parse(text)

    def specs(self) -> Iterator[str]:
        """Yield every specification of a model."""
        changed = [system for ablation in self.ablations for system in ablation.systems.values()]
        for system in (*self.systems.values(), *changed):
            if isinstance(system, str):
                yield system
            elif isinstance(system, Grid):
                yield system.spec
        for exhibit in self.exhibits:
            if isinstance(exhibit, UnseenVectors):
                yield exhibit.spec
        yield from (ablation.spec for ablation in self.ablations if ablation.spec)
