"""`Combination`: a model that adds up the scores of other models, its parts.

A sum without weights learns from held-out clicks how to add up (`calibration`). In a sum with weights these
are as written, and for each query the scores of a part are divided by their maximum over the collection, as
in the papers, so that parts of any scale can be added:

    score(q, d) = Σ_i a_i · w_i(q) · s_i(q, d) / max_d' s_i(q, d')

The a_i are the weights in the specification. Subclasses define the weight w_i(q) of a part for a query. In
both forms the score of a pair does not depend on the other candidates.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from coclick.arrays.strings import Strings
from coclick.errors import ArtefactError, UserError
from coclick.graph.added_documents import RowsByView, ViewFeatures, check_view_features
from coclick.graph.click_graph import ClickGraph
from coclick.models import spec as specs
from coclick.models.arguments import documents_from
from coclick.models.base import DocMask, Model, TopK
from coclick.models.combination.calibration import Calibration
from coclick.models.combination.explanation import part_contributions
from coclick.models.combination.held_out import HeldOutClicks, clicked_docs, has_clicks
from coclick.models.combination.learning import learn
from coclick.models.combination.similarities import sample_rows, sum_similarities, usual_best
from coclick.models.combination.top_k import search_sum
from coclick.models.registry import create
from coclick.progress import Progress, quiet
from coclick.results import Contribution, Explanation
from coclick.text.query import Query

_SIMILAR = 1000  # results of each part that are added up


@dataclass
class Combination(Model):
    """A weighted sum of models; `parts` is the sum as text."""

    evidence_names = ("parts",)
    parts: str = ""

    parts_: list[Model] = field(init=False)
    calibration_: Calibration | None = field(init=False)

    def __post_init__(self) -> None:
        self.weights, specs_of_parts = zip(*specs.parse_sum(self.parts), strict=True)
        parts = [create(spec) for spec in specs_of_parts]  # also checks them
        self.part_specs = [str(part) for part in parts]
        self.parts = specs.format_sum(list(zip(self.weights, self.part_specs, strict=True)))
        self.requires = tuple(sorted({need for part in parts for need in part.requires}))
        self.uses_query = any(part.uses_query for part in parts)
        self.capabilities = combined_capabilities(parts) | {"explain"}
        self.calibration_ = None  # weights as written

    def _find_defect(self) -> str | None:
        """Return whether the parts are not those of the specification, or the weights not those of parts."""
        if [str(part) for part in self.parts_] != self.part_specs:
            return "its parts are not those that it is made of"
        if self.calibration_ is not None and self.calibration_.n_parts != len(self.parts_):
            return "it does not have weights for each part"
        return None

    # -- hook for subclasses ---------------------------------------------------------------------------

    def _part_weight(self, part: Model, query: Query) -> float:
        """Return the weight of a part for a query, from 0 to 1; not used where weights are learned."""
        raise NotImplementedError  # abstract

    # -- learning --------------------------------------------------------------------------------------

    @property
    def learns_weights(self) -> bool:
        """Whether weights are learned, because none are written."""
        return len(self.weights) > 1 and all(weight == 1 for weight in self.weights)

    def _fit(self, graph: ClickGraph, progress: Progress) -> None:
        """Train the parts, and learn weights if none are written."""
        self.parts_ = [create(spec).fit(graph, progress) for spec in self.part_specs]
        self._learn_weights(graph, None, progress)

    def assemble(
        self, graph: ClickGraph, parts: Sequence[Model], held_out: HeldOutClicks | None = None
    ) -> Self:
        """Make this a trained combination of parts that are already trained on the graph.

        `held_out` shares the training on the rest of the clicks among several combinations.
        """
        if [str(part) for part in parts] != self.part_specs:
            raise UserError(f"{self} is not made of {', '.join(map(str, parts))}")
        self.graph_, self.stats_, self.parts_ = graph, {}, list(parts)
        self._learn_weights(graph, held_out, quiet)
        self._update_capabilities()
        return self

    def _learn_weights(self, graph: ClickGraph, held_out: HeldOutClicks | None, progress: Progress) -> None:
        """Learn from held-out clicks. With too few of them weights stay as written: equal."""
        self.calibration_ = None
        if not self.learns_weights:
            return
        try:
            examples = (held_out or HeldOutClicks.split(graph)).examples(self.part_specs, progress)
        except UserError:
            return  # a part cannot be trained on fewer clicks
        self.calibration_ = learn(examples)
        if self.calibration_ is not None:
            self.stats_["weights"] = self.calibration_.describe(self.part_specs)

    # -- scores ----------------------------------------------------------------------------------------

    def _evidence(self, query: Query) -> dict[str, float]:
        """Rate the evidence of the part with the most evidence."""
        return {"parts": max(part._evidence_product(query) for part in self.parts_)}

    def _confidence(self, query: Query) -> float:
        """Return the confidence of the part that has the most."""
        return max(part._confidence(query) for part in self.parts_)

    def _known_text(self, query: Query) -> float:
        """Return what the part knows that knows most of the query."""
        return max(part._known_text(query) for part in self.parts_)

    def _score_all(self, query: Query) -> NDArray[np.float32]:
        """Return the sum for all documents."""
        docs = np.arange(len(self.trained_on.docs), dtype=np.int32)
        return self._sum(
            query, [part._score_all(query) for part in self.parts_], clicked_docs(self.graph_, docs)
        )

    def _score(self, query: Query, docs: NDArray[np.int32]) -> NDArray[np.float32]:
        """Return the sum for some documents."""
        scores = [part._score(query, docs) for part in self.parts_]
        return self._sum(query, scores, clicked_docs(self.graph_, docs))

    def _search(self, queries: Sequence[Query], k: int, mask: DocMask) -> TopK:
        """Search the indexes of the parts; results are exact."""
        return search_sum(self, queries, k, mask)

    def _bound(self, query: Query, highest: Sequence[float]) -> float:
        """Return the largest possible sum of documents whose scores are not above these."""
        scores = [np.full(2, score, np.float32) for score in highest]
        return float(self._sum(query, scores, np.array([False, True])).max())

    def _score_texts(self, query: Query, texts: Mapping[str, Strings]) -> NDArray[np.float32]:
        """Return the sum for documents without clicks."""
        return self._score_texts_with_features(query, texts, {})

    def _score_texts_with_features(
        self, query: Query, texts: Mapping[str, Strings], features: RowsByView
    ) -> NDArray[np.float32]:
        """Return the sum for documents without clicks; each part uses the features of its user views."""
        scores = []
        for part in self.parts_:
            if used := {view: rows for view, rows in features.items() if view in part.user_views}:
                scores.append(part._score_texts_with_features(query, texts, used))
            else:
                scores.append(part._score_texts(query, texts))
        return self._sum(query, scores, np.zeros(len(scores[0]), bool))

    def _sum(
        self, query: Query, scores: Sequence[NDArray[np.float32]], clicked: NDArray[np.bool_]
    ) -> NDArray[np.float32]:
        """Add up the scores of all parts for some documents; `clicked` are those with clicks."""
        if self.calibration_ is not None:
            return self.calibration_.total(scores, has_clicks(self.graph_, query), clicked)
        total = np.zeros(len(clicked), np.float32)
        for factor, part in zip(self._factors(query), scores, strict=True):
            if factor:
                total += np.float32(factor) * part
        return total

    def _factors(self, query: Query) -> list[float]:
        """The factor of each part's scores where weights are written; 0 if all scores are 0."""
        weighted = zip(self.weights, self.parts_, strict=True)
        return query.once(
            (id(self), "factors"), lambda: [self._factor(weight, part, query) for weight, part in weighted]
        )

    def _factor(self, weight: float, part: Model, query: Query) -> float:
        highest = float(part._search([query], 1, None)[1][0, 0])
        return weight * self._part_weight(part, query) / highest if highest > 0 else 0.0

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
        docs = np.array([doc], np.int32)
        scores = [part._score(query, docs) for part in self.parts_]
        if self.calibration_ is None:
            weighted = zip(self._factors(query), scores, strict=True)
            values = [factor * float(score[0]) for factor, score in weighted]
            parts = part_contributions(self.parts_, query, doc, clicks, scores, values, self.part_specs)
        else:
            seen, clicked = has_clicks(self.graph_, query), clicked_docs(self.graph_, docs)
            base, values, labels = self.calibration_.explain(scores, seen, clicked, self.part_specs)
            parts = part_contributions(self.parts_, query, doc, clicks, scores, values, labels)
            parts += [Contribution("base", *base)] if base[1] else []
        return Explanation(query.text, self.graph_.docs[doc], sum(part.value for part in parts), parts)

    def _update_capabilities(self) -> None:
        """Combine what the trained parts can do, and check that the learned weights are theirs."""
        learned = self.calibration_
        if learned is not None and not (
            isinstance(learned, Calibration) and learned.n_parts == len(self.parts_)
        ):
            raise ArtefactError("the learned weights are not those of the parts")
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
        larger.graph_, larger.parts_, larger.calibration_ = parts[0].graph_, parts, self.calibration_
        larger._update_capabilities()
        larger.stats_ = {**self.stats_, "added": self.stats_.get("added", 0) + len(docs)}
        larger.artefact_ = self.artefact_
        for part in parts[1:]:
            part.graph_ = larger.graph_
        return larger

    # -- inside ----------------------------------------------------------------------------------------

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
