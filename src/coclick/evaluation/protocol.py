"""One model before the judges: what it ranks for the judged queries, and what that is worth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from coclick.errors import UserError
from coclick.evaluation.judgments import Judgments
from coclick.evaluation.measures import GAINS, MAIN, measure
from coclick.graph.click_graph import ClickGraph
from coclick.models.base import Model

DEPTH = 100
_HIGHEST_EXPONENT = 30
_TRAINING = ("effective_rank", "views", "density", "bound", "notes")


@dataclass(frozen=True)
class Protocol:
    """How models are judged: by full retrieval unless said otherwise."""

    candidates: Literal["all", "judged"] = "all"  # judged: re-rank the judged documents, as the papers do
    gain: str = "linear"
    depth: int = DEPTH
    source: str = "judgments"  # or the rule by which clicks were held out

    def check(self, graph: ClickGraph, judgments: Judgments) -> None:
        """Raise where these judgments cannot be used with this graph."""
        if self.candidates not in ("all", "judged"):
            raise UserError(f"no candidates {self.candidates!r}", hint="all or judged")
        if self.gain not in GAINS:
            raise UserError(f"no gain {self.gain!r}", hint=" or ".join(GAINS))
        if not judgments.grades:
            raise UserError("there are no judged queries")
        highest = max(max(found.values()) for found in judgments.grades.values())
        if self.gain == "exponential" and highest > _HIGHEST_EXPONENT:
            raise UserError(f"a grade of {highest} is too large for exponential gain", hint="--gain linear")
        if highest == 0:
            raise UserError("no judged document is relevant: all grades are 0")
        judged = sorted({doc for found in judgments.grades.values() for doc in found})
        if not (graph.docs.lookup(judged) >= 0).any():
            theirs, ours = ", ".join(judged[:3]), ", ".join(graph.docs.to_list(0, 3))
            raise UserError(
                f"none of the {len(judged):,} judged documents is in the graph",
                hint=f"judged are {theirs}; the graph has {ours}",
            )

    def describe(self, graph: ClickGraph, judgments: Judgments) -> dict[str, Any]:
        """For reports: the protocol with the sizes it was used on, and what to be careful about."""
        judged = sorted({doc for found in judgments.grades.values() for doc in found})
        in_graph = graph.docs.lookup(judged) >= 0
        missing = [doc for doc, known in zip(judged, in_graph.tolist(), strict=True) if not known]
        warnings = []
        for names, what in (
            (judgments.unknown, "judged queries are not in the queries file and are left out"),
            (missing, "judged documents are not in the graph and cannot be found"),
        ):
            if names:
                warnings.append(f"{len(names):,} {what}, such as {', '.join(names[:3])}")
        if self.candidates == "judged" and judgments.lacks_zeros():
            warnings.append(
                "nearly all judged documents are relevant: re-ranking them flatters every model, "
                "a random order too"
            )
        if self.source != "judgments":
            warnings.append(
                "held-out clicks favour what the engine has shown: they tell models apart, "
                "and say little about how good any of them is"
            )
        return {
            "judged_by": self.source,
            "retrieval": "full" if self.candidates == "all" else "judged candidates",
            "depth": self.depth,
            "gain": self.gain,
            "main_measure": MAIN,
            "queries": len(judgments.queries),
            "docs": len(graph.docs),
            "judged_docs": len(judged),
            "judged_docs_in_graph": int(in_graph.sum()),
            "p_holm": "paired t-test, corrected over all pairs of a measure",
            "warnings": warnings,
        }


@dataclass
class Trial:
    """What one model did for each judged query."""

    name: str
    rankings: dict[str, list[str]]
    by_query: dict[str, dict[str, float]]
    seconds: float = 0.0  # of training
    scores: dict[str, NDArray[np.float32]] = field(default_factory=dict)  # of the judged documents
    importance: dict[str, float] = field(default_factory=dict)  # of the features of a learned ranker
    training: dict[str, Any] = field(default_factory=dict)  # figures that reports show

    def values(self, measure: str = MAIN) -> NDArray[np.float64]:
        """One measure of all queries, in the order of the judgments."""
        return np.array([found[measure] for found in self.by_query.values()])


def try_model(model: Model, judgments: Judgments, protocol: Protocol, seconds: float = 0.0) -> Trial:
    """Rank and measure."""
    ids, texts = list(judgments.queries), list(judgments.queries.values())
    judged = [list(judgments.grades[query]) for query in ids]
    scores = dict(zip(ids, model.score(texts, judged), strict=True))
    if protocol.candidates == "judged":
        rankings = {query: _ranked(docs, scores[query]) for query, docs in zip(ids, judged, strict=True)}
    else:
        run = model.search(texts, protocol.depth)
        rankings = {query: [doc for doc, _ in run.hits(i)] for i, query in enumerate(ids)}
    by_query = measure(judgments.grades, rankings, gain=protocol.gain)
    return Trial(
        str(model),
        rankings,
        {q: by_query[q] for q in ids},
        seconds,
        scores,
        model.stats_.get("importance", {}),
        {name: model.stats_[name] for name in _TRAINING if name in model.stats_},
    )


def try_rankings(
    name: str, rankings: Mapping[str, Sequence[str]], judgments: Judgments, protocol: Protocol
) -> Trial:
    """Measure rankings from elsewhere: a run file. Only judged queries count."""
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
    return Trial(name, known, {query: by_query[query] for query in judgments.queries})


def _ranked(docs: list[str], scores: NDArray[np.float32]) -> list[str]:
    """By score, then by name, so that no order of the file shows through; all candidates are ranked."""
    return [doc for _, doc in sorted(zip((-scores).tolist(), docs, strict=True))]
