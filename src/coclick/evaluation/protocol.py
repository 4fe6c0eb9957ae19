"""`Protocol`: how models are evaluated; `ModelResult`: the rankings and measures of one model."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from coclick.errors import UserError, counted
from coclick.evaluation.judgments import Judgments
from coclick.evaluation.measures import GAINS, MAIN_MEASURE, measure
from coclick.evaluation.tasks import SEARCH, Task
from coclick.graph.click_graph import ClickGraph
from coclick.models.base import Model

DEPTH = 100
_MAX_EXPONENT = 30
_MAX_DEEPER = 10  # times the depth: results to ask for where only some candidates are judged
_TRAINING_STATS = ("effective_rank", "views", "density", "bound", "notes")


@dataclass(frozen=True)
class Protocol:
    """How models are evaluated.

    `candidates="all"` ranks all documents; `"judged"` re-ranks only the judged ones, as the papers do.
    """

    candidates: Literal["all", "judged"] = "all"
    gain: str = "linear"
    depth: int = DEPTH
    source: str = "judgments"  # or "held-out clicks, RULE"
    task: Task = SEARCH

    def check(self, graph: ClickGraph, judgments: Judgments) -> None:
        """Raise if these judgments cannot be used with this graph."""
        if self.candidates not in ("all", "judged"):
            raise UserError(f"candidates cannot be {self.candidates!r}", hint="use all or judged")
        if self.candidates == "judged" and self.task is not SEARCH:
            raise UserError(f"the task {self.task.name} ranks no given candidates", hint="use all")
        if self.gain not in GAINS:
            raise UserError(f"gain cannot be {self.gain!r}", hint=f"use {' or '.join(GAINS)}")
        if not judgments.grades:
            raise UserError("there are no judged queries")
        highest = max(max(found.values()) for found in judgments.grades.values())
        if self.gain == "exponential" and highest > _MAX_EXPONENT:
            raise UserError(
                f"a grade of {highest} is too large for exponential gain", hint="use --gain linear"
            )
        if highest == 0:
            raise UserError("no judged document is relevant: all grades are 0")
        judged = sorted({doc for found in judgments.grades.values() for doc in found})
        known = self.task.vocabulary(graph)
        if not (known.lookup(judged) >= 0).any():
            theirs, ours = ", ".join(judged[:3]), ", ".join(known.to_list(0, 3))
            raise UserError(
                f"none of the {len(judged):,} judged {self._ranked} is in the graph",
                hint=f"judged are {theirs}; the graph has {ours}",
            )

    def describe(self, graph: ClickGraph, judgments: Judgments) -> dict[str, Any]:
        """Return the protocol, the numbers of queries and documents, and warnings, for reports."""
        judged = sorted({doc for found in judgments.grades.values() for doc in found})
        in_graph = self.task.vocabulary(graph).lookup(judged) >= 0
        missing = [doc for doc, known in zip(judged, in_graph.tolist(), strict=True) if not known]
        warnings = list(judgments.notes)
        for names, what in (
            (judgments.unknown, "judged queries are not among the queries and are left out"),
            (missing, f"judged {self._ranked} are not in the graph, so no model can return them"),
        ):
            if names:
                warnings.append(f"{len(names):,} {what}, such as {', '.join(names[:3])}")
        if empty := judgments.without_relevant:
            highest = 1 - len(empty) / len(judgments.queries)
            warnings.append(
                f"{len(empty):,} of {len(judgments.queries):,} judged queries have no relevant document, "
                f"such as {', '.join(empty[:3])}: every ranking of theirs counts as zero, as in ir-measures, "
                f"so no mean can exceed {highest:.3f}"
            )
        if self.candidates == "judged" and judgments.lacks_zeros():
            warnings.append(
                "nearly all judged documents are relevant: re-ranking them flatters every model, "
                "even a random order"
            )
        if self.source != "judgments" and self.task is SEARCH:
            warnings.append(
                "held-out clicks favour documents that the engine has shown: they can rank models, "
                "but the absolute values mean little"
            )
        return {
            "task": self.task.name,
            "judged_by": self.source,
            "retrieval": "full" if self.candidates == "all" else "judged candidates",
            "depth": self.depth,
            "gain": self.gain,
            "main_measure": MAIN_MEASURE,
            "queries": len(judgments.queries),
            "queries_without_relevant": len(judgments.without_relevant),
            "docs": len(graph.docs),
            "ranked": len(self.task.vocabulary(graph)),
            "judged_docs": len(judged),
            "judged_docs_in_graph": int(in_graph.sum()),
            "p_holm": "paired t-test, corrected over all pairs of a measure",
            "warnings": warnings,
        }

    def search_depth(self, graph: ClickGraph, judgments: Judgments) -> int:
        """Return how many results to ask for, so that about `depth` of them are judged candidates."""
        if judgments.candidates is None:
            return self.depth
        share = len(judgments.candidates) / len(self.task.vocabulary(graph))
        return math.ceil(self.depth * min(1 / share, _MAX_DEEPER))

    @property
    def _ranked(self) -> str:
        """What is ranked, in the plural."""
        return counted(0, self.task.ranked).removeprefix("0 ")


@dataclass
class ModelResult:
    """The rankings and measures of one model, for each judged query."""

    name: str
    rankings: dict[str, list[str]]
    by_query: dict[str, dict[str, float]]
    seconds: float = 0.0  # training time
    scores: dict[str, NDArray[np.float32]] = field(default_factory=dict)  # of the judged documents, by query
    importance: dict[str, float] = field(default_factory=dict)  # of the features of `ltr`
    training: dict[str, Any] = field(default_factory=dict)  # training statistics for reports

    def __repr__(self) -> str:
        value = f", {MAIN_MEASURE} {self.values().mean():.3f}" if self.by_query else ""
        return f"ModelResult({self.name}, {counted(len(self.by_query), 'query')}{value})"

    def values(self, measure: str = MAIN_MEASURE) -> NDArray[np.float64]:
        """Return one measure of all queries, in the order of the judgments."""
        return np.array([found[measure] for found in self.by_query.values()])


def evaluate_model(
    model: Model,
    judgments: Judgments,
    protocol: Protocol,
    seconds: float = 0.0,
    *,
    max_scored: int | None = None,
) -> ModelResult:
    """Rank the documents of all judged queries with a trained model, and measure the rankings.

    For the report it also scores the judged documents: of all queries, or of at most `max_scored`.
    """
    ids, texts = list(judgments.queries), list(judgments.queries.values())
    judged = [list(judgments.grades[query]) for query in ids]
    scores = {}
    if protocol.task is SEARCH and (max_scored != 0 or protocol.candidates == "judged"):
        step = 1 if max_scored is None or protocol.candidates == "judged" else -(-len(ids) // max_scored)
        scores = dict(zip(ids[::step], model.score(texts[::step], judged[::step]), strict=True))
    if protocol.candidates == "judged":
        rankings = {query: _rank(docs, scores[query]) for query, docs in zip(ids, judged, strict=True)}
    else:
        run = protocol.task.rank(model, texts, protocol.search_depth(model.graph_, judgments))
        rankings = {
            query: judgments.among_candidates([doc for doc, _ in run.hits(i)])[: protocol.depth]
            for i, query in enumerate(ids)
        }
    by_query = measure(judgments.grades, rankings, gain=protocol.gain)
    return ModelResult(
        str(model),
        rankings,
        {q: by_query[q] for q in ids},
        seconds,
        scores,
        model.stats_.get("importance", {}),
        {name: model.stats_[name] for name in _TRAINING_STATS if name in model.stats_},
    )


def evaluate_rankings(
    name: str, rankings: Mapping[str, Sequence[str]], judgments: Judgments, protocol: Protocol
) -> ModelResult:
    """Measure the rankings of another system; only judged queries count."""
    known = {query: list(docs)[: protocol.depth] for query, docs in rankings.items()
             if query in judgments.grades}  # fmt: skip
    if not known:
        theirs, ours = ", ".join(list(rankings)[:3]), ", ".join(list(judgments.grades)[:3])
        raise UserError(
            f"the run {name!r} has none of the judged queries", hint=f"it has {theirs}; judged are {ours}"
        )
    if protocol.candidates == "judged":
        known = {
            query: [doc for doc in docs if doc in judgments.grades[query]] for query, docs in known.items()
        }
    by_query = measure(judgments.grades, known, gain=protocol.gain)
    return ModelResult(name, known, {query: by_query[query] for query in judgments.queries})


def _rank(docs: list[str], scores: NDArray[np.float32]) -> list[str]:
    """All candidates by score, then by id, so that the order of the file has no influence."""
    return [doc for _, doc in sorted(zip((-scores).tolist(), docs, strict=True))]
