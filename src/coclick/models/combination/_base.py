"""`Combination`: a model that adds up the scores of other models, its parts.

For each query the scores of a part are divided by their maximum over the whole collection, so that parts of
any scale can be added and the score of a pair does not depend on the other candidates:

    score(q, d) = Σ_i a_i · w_i(q) · s_i(q, d) / max_d' s_i(q, d')

The a_i are the weights in the specification. Subclasses define the weight w_i(q) of a part for a query.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from coclick.arrays.strings import Strings
from coclick.errors import UserError
from coclick.graph.added_documents import RowsByView, ViewFeatures, check_view_features
from coclick.graph.click_graph import ClickGraph
from coclick.models import spec as specs
from coclick.models.arguments import documents_from
from coclick.models.base import Model, TopK
from coclick.models.combination.similarities import sample_rows, sum_similarities, usual_best
from coclick.models.registry import create
from coclick.progress import Progress
from coclick.results import Contribution, Explanation
from coclick.text.query import Query

_SIMILAR = 1000  # results of each part that are added up


@dataclass
class Combination(Model):
    """A weighted sum of models; `parts` is the sum as text."""

    evidence_names = ("parts",)
    parts: str = ""

    def __post_init__(self) -> None:
        self.weights, specs_of_parts = zip(*specs.parse_sum(self.parts), strict=True)
        parts = [create(spec) for spec in specs_of_parts]  # also checks them
        self.part_specs = [str(part) for part in parts]
        self.parts = specs.format_sum(list(zip(self.weights, self.part_specs, strict=True)))
        self.requires = tuple(sorted({need for part in parts for need in part.requires}))
        self.uses_query = any(part.uses_query for part in parts)
        self.capabilities = combined_capabilities(parts) | {"explain"}

    # -- hook for subclasses ---------------------------------------------------------------------------

    def _part_weight(self, part: Model, query: Query) -> float:
        """Return the weight of a part for a query, from 0 to 1."""
        raise NotImplementedError  # abstract

    # -- implemented with it ---------------------------------------------------------------------------

    def _fit(self, graph: ClickGraph, progress: Progress) -> None:
        """Train the parts."""
        self.parts_ = [create(spec).fit(graph, progress) for spec in self.part_specs]

    def assemble(self, graph: ClickGraph, parts: Sequence[Model]) -> Self:
        """Make this a trained combination of parts that are already trained on the graph."""
        if [str(part) for part in parts] != self.part_specs:
            raise UserError(f"{self} is not made of {', '.join(map(str, parts))}")
        self.graph_, self.stats_, self.parts_ = graph, {}, list(parts)
        self._update_capabilities()
        return self

    def _evidence(self, query: Query) -> dict[str, float]:
        """Rate the evidence of the part with the most evidence."""
        return {"parts": max(part._confidence(query) for part in self.parts_)}

    def _score_all(self, query: Query) -> NDArray[np.float32]:
        """Return the weighted sum for all documents."""
        total = np.zeros(len(self.trained_on.docs), np.float32)
        for weight, part in zip(self.weights, self.parts_, strict=True):
            scores = part._score_all(query)
            if factor := self._factor(weight, part, query, scores):
                total += np.float32(factor) * scores
        return total

    def _score(self, query: Query, docs: NDArray[np.int32]) -> NDArray[np.float32]:
        """Score all documents, because the maxima need them, and return the chosen ones."""
        return self._score_all(query)[docs]

    def _score_texts(self, query: Query, texts: Mapping[str, Strings]) -> NDArray[np.float32]:
        """Return the weighted sum, each part divided by its maximum over the documents in the graph."""
        return self._score_texts_with_features(query, texts, {})

    def _score_texts_with_features(
        self, query: Query, texts: Mapping[str, Strings], features: RowsByView
    ) -> NDArray[np.float32]:
        """Return the weighted sum; each part uses the features of its user views."""
        total = np.zeros(len(next(iter(texts.values()))), np.float32)
        for weight, part in zip(self.weights, self.parts_, strict=True):
            if factor := self._factor(weight, part, query, part._score_all(query)):
                if used := {view: rows for view, rows in features.items() if view in part.user_views}:
                    scores = part._score_texts_with_features(query, texts, used)
                else:
                    scores = part._score_texts(query, texts)
                total += np.float32(factor) * scores
        return total

    def _similar_queries(self, queries: Sequence[Query], k: int) -> TopK:
        """Add up the similarities of the parts that can find similar queries."""
        depth = min(max(k, _SIMILAR), len(self.graph_.queries))
        found = [
            (
                [weight / scale * self._part_weight(part, query) for query in queries],
                part._other_queries(queries, depth),
            )
            for (weight, part), scale in zip(self._parts_with("similar"), self._query_scales, strict=True)
        ]
        return sum_similarities(found, k)

    def _similar_docs(self, docs: NDArray[np.int32], k: int) -> TopK:
        """Add up the similarities of the parts that can find similar documents."""
        depth = min(max(k, _SIMILAR), len(self.graph_.docs))
        found = [
            ([weight / scale] * len(docs), part._other_docs(docs, depth))
            for (weight, part), scale in zip(self._parts_with("similar"), self._doc_scales, strict=True)
        ]
        return sum_similarities(found, k)

    @cached_property
    def _query_scales(self) -> list[float]:
        """The usual similarity of a query with itself, for each part that can find similar ones."""
        sample = sample_rows(self.graph_.clicks).tolist()
        queries = [Query(self.graph_.queries[row], row) for row in sample]
        return [usual_best(part._similar_queries(queries, 1)) for _, part in self._parts_with("similar")]

    @cached_property
    def _doc_scales(self) -> list[float]:
        """The usual similarity of a document with itself, for each part that can find similar ones."""
        sample = sample_rows(self.graph_.clicks_by_doc)
        return [usual_best(part._similar_docs(sample, 1)) for _, part in self._parts_with("similar")]

    def _explain(self, query: Query, doc: int, clicks: int | None) -> Explanation:
        """List the contribution of each part, split further if the part can explain its scores."""
        parts = []
        for weight, part in zip(self.weights, self.parts_, strict=True):
            scores = part._score_all(query)
            factor = self._factor(weight, part, query, scores)
            inner = (
                part._explain(query, doc, clicks).parts if "explain" in part.capabilities and factor else []
            )
            value = factor * float(scores[doc])
            parts.append(
                Contribution("model", str(part), value, parts=[_scaled(one, factor) for one in inner])
            )
        score = sum(part.value for part in parts)
        return Explanation(query.text, self.graph_.docs[doc], score, parts)

    def _update_capabilities(self) -> None:
        """Combine what the trained parts can do."""
        self.capabilities = combined_capabilities(self.parts_) | {"explain"}

    @property
    def user_views(self) -> frozenset[str]:
        """The user views that the parts use."""
        return frozenset().union(*(part.user_views for part in self.parts_))

    def add(self, docs: Any, features: ViewFeatures | None = None) -> Self:
        """Return a combination whose parts also know these documents."""
        self._require("add")
        given = check_view_features(features or {}, self.user_views)
        docs = documents_from(docs)
        larger = type(self)(self.parts)
        parts = [
            part.add(docs, {view: by_doc for view, by_doc in given.items() if view in part.user_views})
            for part in self.parts_
        ]
        larger.assemble(parts[0].graph_, parts)
        larger.stats_ = {**self.stats_, "added": self.stats_.get("added", 0) + len(docs)}
        larger.artefact_ = self.artefact_
        for part in parts[1:]:
            part.graph_ = larger.graph_
        return larger

    # -- inside ----------------------------------------------------------------------------------------

    def _factor(self, weight: float, part: Model, query: Query, scores: NDArray[np.float32]) -> float:
        """The factor of a part's scores; 0 if all of them are 0."""
        highest = float(scores.max(initial=0))
        return weight * self._part_weight(part, query) / highest if highest > 0 else 0.0

    def _parts_with(self, capability: str) -> list[tuple[float, Model]]:
        """The parts that have a capability, with their weights."""
        weighted = zip(self.weights, self.parts_, strict=True)
        return [(weight, part) for weight, part in weighted if capability in part.capabilities]


def combined_capabilities(parts: Sequence[Model]) -> frozenset[str]:
    """Return the capabilities of a model made of these parts: add if all have it, others if one has it."""
    some = frozenset.union(*(part.capabilities for part in parts)) & {
        "unseen_queries",
        "unseen_docs",
        "similar",
    }
    every = frozenset.intersection(*(part.capabilities for part in parts))
    return some | (every & {"add"})


def _scaled(part: Contribution, factor: float) -> Contribution:
    inner = [_scaled(one, factor) for one in part.parts]
    return replace(part, value=part.value * factor, parts=inner)
