"""`Combination`: a model that is made of others, and what follows from adding up their scores.

For each query a part's scores are divided by their maximum over the whole collection, so that parts of any
scale can be added and a pair's score does not depend on the other candidates:

    score(q, d) = Σ_i a_i · trust_i(q) · s_i(q, d) / max_d' s_i(q, d')

The subclasses in `coclick.models` differ in how far they trust their parts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from coclick.arrays.strings import Strings
from coclick.errors import UserError
from coclick.graph.click_graph import ClickGraph
from coclick.models import spec as specs
from coclick.models.base import Model, as_list, create
from coclick.progress import Progress
from coclick.results import Contribution, Explanation, Run, padded, top_rows
from coclick.text.analyzer import normalise

_SIMILAR = 1000  # the nearest of each part that are added up


@dataclass
class Combination(Model):
    """Weighted parts; `of` is their sum as text."""

    can_explain = True
    parts: str = ""

    def __post_init__(self) -> None:
        self.weights, specs_of_parts = zip(*specs.parse_sum(self.parts), strict=True)
        parts = [create(spec) for spec in specs_of_parts]  # also checks them
        self.part_specs = [str(part) for part in parts]
        self.parts = specs.format_sum(list(zip(self.weights, self.part_specs, strict=True)))
        self.requires = tuple(sorted({need for part in parts for need in part.requires}))
        self.uses_query = any(part.uses_query for part in parts)
        self.unseen_queries = any(part.unseen_queries for part in parts)
        self.unseen_docs = any(part.unseen_docs for part in parts)
        self.can_similar = any(part.can_similar for part in parts)
        self.can_add = all(part.can_add for part in parts)

    # -- for the subclasses to write -------------------------------------------------------------------

    def part_weight(self, part: Model, query: str) -> float:
        """How far a part's scores for a query are trusted, 0 … 1."""
        raise NotImplementedError  # abstract

    # -- what follows ----------------------------------------------------------------------------------

    def _fit(self, graph: ClickGraph, progress: Progress) -> None:
        """Train the parts."""
        self.parts_ = [create(spec).fit(graph, progress) for spec in self.part_specs]

    def assemble(self, graph: ClickGraph, parts: Sequence[Model]) -> Self:
        """A trained combination of parts that are trained already, on this graph."""
        if [str(part) for part in parts] != self.part_specs:
            raise UserError(f"{self} is not made of {', '.join(map(str, parts))}")
        self.graph_, self.stats_, self.parts_ = graph, {}, list(parts)
        return self

    def evidence(self, query: str) -> dict[str, float]:
        """What stands behind the best supported part."""
        return {"parts": max(part.confidence(query) for part in self.parts_)}

    def _score_all(self, query: str) -> NDArray[np.float32]:
        """The weighted sum over all documents."""
        total = np.zeros(len(self.trained_on.docs), np.float32)
        for weight, part in zip(self.weights, self.parts_, strict=True):
            scores = part._score_all(query)
            if factor := self._factor(weight, part, query, scores):
                total += np.float32(factor) * scores
        return total

    def _score(self, query: str, docs: NDArray[np.int32]) -> NDArray[np.float32]:
        """The same for some documents: the maxima need all of them anyway."""
        return self._score_all(query)[docs]

    def _score_texts(self, query: str, texts: Mapping[str, Strings]) -> NDArray[np.float32]:
        """The weighted sum, each part divided by its maximum over the documents that it knows."""
        total = np.zeros(len(next(iter(texts.values()))), np.float32)
        for weight, part in zip(self.weights, self.parts_, strict=True):
            if factor := self._factor(weight, part, query, part._score_all(query)):
                total += np.float32(factor) * part._score_texts(query, texts)
        return total

    def similar_queries(self, queries: str | Sequence[str], k: int = 10) -> Run:
        """The nearest queries of the parts that can find them, added up like scores."""
        texts = [normalise(query) for query in as_list(queries)]
        names = self.trained_on.queries
        runs = [(weight, part, part.similar_queries(texts, self._depth(k, len(names)))) for weight, part
                in zip(self.weights, self._able("find similar queries"), strict=True) if part]  # fmt: skip
        return self._added(
            [(w, [self.part_weight(part, text) for text in texts], run) for w, part, run in runs], k
        )

    def similar_docs(self, docs: str | Sequence[str], k: int = 10) -> Run:
        """The nearest documents of the parts that can find them, added up like scores."""
        ids = as_list(docs)
        depth = self._depth(k, len(self.trained_on.docs))
        runs = [(weight, [1.0] * len(ids), part.similar_docs(ids, depth)) for weight, part
                in zip(self.weights, self._able("find similar documents"), strict=True) if part]  # fmt: skip
        return self._added(runs, k)

    def explain(self, query: str, doc: str, clicks: int | None = 10) -> Explanation:
        """Each part's share of the score, split further where the part can explain itself."""
        row = int(self.rows_of_docs([doc])[0])
        text = normalise(query)
        parts = []
        for weight, part in zip(self.weights, self.parts_, strict=True):
            scores = part._score_all(text)
            factor = self._factor(weight, part, text, scores)
            inner = part.explain(query, doc, clicks).parts if part.can_explain and factor else []
            value = factor * float(scores[row])
            parts.append(
                Contribution("model", str(part), value, parts=[_scaled(one, factor) for one in inner])
            )
        return Explanation(query, doc, sum(part.value for part in parts), parts)

    def add(self, docs: Mapping[str, str | Mapping[str, str]]) -> Self:
        """Every part takes the documents."""
        if not self.can_add:
            self._cannot("take documents after training", "can_add")
        larger = type(self)(self.parts)
        parts = [part.add(docs) for part in self.parts_]
        larger.assemble(parts[0].graph_, parts)
        larger.stats_ = {**self.stats_, "added": self.stats_.get("added", 0) + len(docs)}
        larger.artefact_ = self.artefact_
        for part in parts[1:]:
            part.graph_ = larger.graph_
        return larger

    # -- inside ----------------------------------------------------------------------------------------

    def _factor(self, weight: float, part: Model, query: str, scores: NDArray[np.float32]) -> float:
        """What a part's scores are multiplied with; 0 for a part that has found nothing."""
        highest = float(scores.max(initial=0))
        return weight * self.part_weight(part, query) / highest if highest > 0 else 0.0

    def _able(self, what: str) -> list[Model | None]:
        """The parts that find similar queries and documents, None in the place of the others."""
        if not self.can_similar:
            self._cannot(what, "can_similar")
        return [part if part.can_similar else None for part in self.parts_]

    def _depth(self, k: int, most: int) -> int:
        return self._clip(max(k, _SIMILAR), most) if k > 0 else self._clip(k, most)

    def _added(self, runs: Sequence[tuple[float, Sequence[float], Run]], k: int) -> Run:
        """The weighted sum of several runs over the same queries, each divided by its best score."""
        names = runs[0][2].names
        k = self._clip(k, len(names))
        rows, scores = padded(len(runs[0][2]), k)
        for i in range(len(rows)):
            total = np.zeros(len(names), np.float32)
            for weight, trust, run in runs:
                found = run.rows[i] >= 0
                if found.any():
                    total[run.rows[i][found]] += weight * trust[i] * run.scores[i][found] / run.scores[i][0]
            best, values = top_rows(total, k)
            rows[i, : len(best)], scores[i, : len(best)] = best, values
        return Run(rows, scores, names)


def _scaled(part: Contribution, factor: float) -> Contribution:
    inner = [_scaled(one, factor) for one in part.parts]
    return replace(part, value=part.value * factor, parts=inner)
