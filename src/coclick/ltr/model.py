"""`ltr`: learning to rank, boosted trees over the scores of other models.

See Wu, Lu & Li 2013 §6.5.1 and Jiang et al. 2016 §4.3. LambdaMART by default; `objective=pointwise` is the
MART of Wu, Lu & Li 2013. The labels are the clicks of the graph, and the features come from models that were
trained without those clicks (`coclick.ltr.folds`). Evidence is among the features, so the trees learn when to
rely on clicks and when on words.

    score(q, d) = 1 + Σ_t tree_t(features(q, d)) − the lowest possible sum

for documents that any part finds, 0 for all others. Search reranks the best `n_candidates` of each part.

`task=reranking` is for candidates that another engine has found. The negative examples are documents that the
engine has shown for a query, without impressions the best of BM25. Boosting starts from BM25,

    score(q, d) = 1 + 3 · bm25(q, d) / max_d' bm25(q, d') + Σ_t tree_t(features(q, d)) − the lowest sum

and there are no trees unless they rank the clicks of held-out queries significantly better than BM25 alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated, Literal, Self

import numpy as np
from numpy.typing import NDArray

from coclick.errors import UserError
from coclick.evaluation.judgments import Judgments
from coclick.graph.click_graph import ClickGraph
from coclick.ltr.boosting import Boosting, Start, check_installed
from coclick.ltr.features import OF_PARTS, QuerySignals, RankingFeatures
from coclick.ltr.folds import (
    Examples,
    GivenCandidates,
    Sampling,
    cross_fitted,
    examples,
    fold_of,
    judged_labels,
)
from coclick.ltr.part_choice import choose_parts
from coclick.ltr.trees import Trees
from coclick.models import spec as specs
from coclick.models.base import DocMask, Model, TopK
from coclick.models.combination._base import combined_capabilities
from coclick.models.registry import create, register
from coclick.models.spec import Range
from coclick.progress import Progress, quiet
from coclick.results import Contribution, Explanation, padded
from coclick.storage.layout import Shape
from coclick.text.query import Query
from coclick.text.term_matrix import shared_terms

_PARTS = (
    "bm25 + bm25sd_mult + vsm + neighbours(word_weight=1) + neighbours(word_weight=0) + vpcg"
    " + vpcg(start=doc,units=words) + wtm + clicks + popularity"
)
_START_WEIGHT = 3.0  # of BM25, divided by its maximum, in re-ranking
_THIN = 0.5  # share of documents with clicks, below which re-ranking does not use their clicks
Labels = Literal["clicks", "judgments"]


@register
@dataclass
class Ltr(Model):
    """Boosted trees over the scores of the models in `parts`, written as a sum."""

    name = "ltr"
    summary = "learning to rank: boosted trees over the scores and evidence of other models"
    relative_cost = 30.0
    evidence_names = ("parts",)
    max_docs = 500_000

    parts: str = _PARTS
    task: Literal["retrieval", "reranking"] = "retrieval"
    objective: Literal["lambdarank", "pointwise"] = "lambdarank"
    n_trees: Annotated[int, Range(1)] = 100
    n_leaves: Annotated[int, Range(2)] = 15
    learning_rate: Annotated[float, Range(0.0001, 1)] = 0.05
    n_candidates: Annotated[int, Range(1)] = 200  # per part
    n_folds: Annotated[int, Range(2)] = 5
    max_queries: Annotated[int, Range(2)] = 1500  # of the folds, and of the time folds, at most
    n_negatives: Annotated[int, Range(1)] = 40  # per query
    seed: Annotated[int, Range(0)] = 0

    parts_: list[Model] = field(init=False)
    features_: Annotated[RankingFeatures, Shape("docs", "features")] = field(init=False)
    trees_: Annotated[Trees, Shape("features")] = field(init=False)
    start_weight_: float = field(init=False)

    def __post_init__(self) -> None:
        if self.task == "reranking" and self.parts == _PARTS:
            self.parts = self.parts.removesuffix(" + popularity")
        terms = specs.parse_sum(self.parts)
        if any(weight != 1 for weight, _ in terms):
            raise UserError("the parts of ltr take no weights: the trees learn them", where=self.parts)
        parts = [create(spec) for _, spec in terms]
        self.part_specs = [str(part) for part in parts]
        if len({*self.part_specs}) < len(parts):
            raise UserError("the parts of ltr must differ", where=self.parts)
        if self.task == "reranking" and not any(part.name == "bm25" for part in parts):
            raise UserError("task=reranking needs bm25 among the parts of ltr", where=self.parts)
        self.parts = " + ".join(self.part_specs)
        self.requires = tuple(sorted({need for part in parts for need in part.requires}))
        self.uses_query = any(part.uses_query for part in parts)
        self.capabilities = (combined_capabilities(parts) & {"unseen_queries", "unseen_docs"}) | {"explain"}
        self._judged: tuple[Judgments, Labels] | None = None

    def _find_defect(self) -> str | None:
        """Return whether the features are not those of the parts."""
        n_parts, own = len(self.parts_), [str(part) for part in self.parts_[: len(self.part_specs)]]
        described = len(self.features_.parts), len(self.features_.evidence)
        if own != self.part_specs or described != (n_parts, n_parts):
            return "its parts are not those of its features"
        return None

    def _update_capabilities(self) -> None:
        """Combine what the trained parts can do."""
        able = combined_capabilities(self.parts_) & {"unseen_queries", "unseen_docs"}
        self.capabilities = able | {"explain"}

    def fit_with(
        self, graph: ClickGraph, judgments: Judgments, labels: Labels = "clicks", progress: Progress = quiet
    ) -> Self:
        """Learn from clicks with judgments for early stopping, or learn from judgments.

        Parameters: `graph`; `judgments`; `labels`, "clicks" or "judgments"; `progress`. Returns the model
        itself.
        """
        if self.task == "reranking" and labels == "clicks":
            raise UserError(
                "task=reranking chooses the number of trees by held-out clicks, not by judgments",
                hint="leave the judgments out, or learn from them: labels judgments",
            )
        self._judged = (judgments, labels)
        try:
            return self.fit(graph, progress)
        finally:
            self._judged = None

    def _fit(self, graph: ClickGraph, progress: Progress) -> None:
        """Train the parts on all clicks, and the trees on features of cross-fitted parts."""
        with shared_terms():
            self._fit_parts_and_trees(graph, progress)

    def _fit_parts_and_trees(self, graph: ClickGraph, progress: Progress) -> None:
        known = self._fit_parts(graph, progress)
        self.start_weight_ = _START_WEIGHT if self.task == "reranking" else 0.0
        judgments, labels = self._judged or (None, "clicks")
        learned_from = judgments if labels == "judgments" else None
        train = self._examples(graph, known, learned_from, progress)
        judged = None
        if judgments and labels == "clicks":
            judged = examples(self.parts_, self.features_, judged_labels(graph, judgments))
        boosting = self._boosting
        with progress("trees"):
            if self.task == "reranking":
                held_out = np.array([fold_of(query, self._sampling) == 0 for query in train.queries])
                self.trees_ = boosting.grow_from(self._start, train, held_out)
            else:
                self.trees_ = boosting.grow(train, judged)
        importance = dict(zip(self.features_.names, self.trees_.importance().tolist(), strict=True))
        self.stats_ = {"queries": len(train.queries), "examples": len(train.grades),
                         "trees": len(self.trees_.roots), "importance": importance,
                         "further_parts": self.features_.parts[len(self.part_specs):]}  # fmt: skip
        if labels == "judgments":
            folds = np.array([fold_of(query, self._sampling) for query in train.queries])
            self.stats_["cross_validated"] = boosting.cross_validate(train, folds)

    def check_requirements(self, graph: ClickGraph) -> None:
        """Raise if LightGBM is missing or the graph lacks what a part learns from."""
        check_installed()
        super().check_requirements(graph)

    def examples(
        self, graph: ClickGraph, judgments: Judgments | None = None, progress: Progress = quiet
    ) -> tuple[list[str], Examples]:
        """Return the names of the features and the training examples, for other tools."""
        with shared_terms():
            known = self._fit_parts(graph, progress)
            return self.features_.names, self._examples(graph, known, judgments, progress)

    # -- ranking ---------------------------------------------------------------------------------------

    def _score(self, query: Query, docs: NDArray[np.int32]) -> NDArray[np.float32]:
        """Return the sums of the trees, shifted above zero; 0 for documents that no part finds."""
        return self._scores(self.features_.signals(self.parts_, query, docs=docs), docs)

    def _search(self, queries: Sequence[Query], k: int, mask: DocMask) -> TopK:
        """Rerank the candidates."""
        rows, scores = padded(len(queries), k)
        for i, asked in enumerate(queries):
            query = Query(asked.text, asked.row)  # what parts keep with it is released with it
            signals = self.features_.signals(self.parts_, query, mask)
            found = self._scores(signals, signals.candidates)
            best = np.lexsort((signals.candidates, -found))[:k]
            rows[i, : len(best)], scores[i, : len(best)] = signals.candidates[best], found[best]
        return rows, scores

    def _evidence(self, query: Query) -> dict[str, float]:
        """Rate the evidence of the part with the most evidence."""
        return {"parts": max(part._evidence_product(query) for part in self.parts_)}

    def _confidence(self, query: Query) -> float:
        """Return the confidence of the part that has the most."""
        return max(part._confidence(query) for part in self.parts_)

    def _known_text(self, query: Query) -> float:
        """Return what the part knows that knows most of the query."""
        return max(part._known_text(query) for part in self.parts_)

    def _explain(self, query: Query, doc: int, clicks: int | None) -> Explanation:
        """List what each feature adds to the mean output of the trees."""
        doc_id = self.graph_.docs[doc]
        signals = self.features_.signals(self.parts_, query, docs=np.array([doc], np.int32))
        if not signals.found(np.array([doc]))[0]:
            return Explanation(query.text, doc_id, 0.0, [])
        features = self.features_.features(signals, np.array([doc]))[0]
        base, added = self.trees_.explain(features)
        order = [i for i in np.argsort(-np.abs(added), kind="stable").tolist() if added[i]]
        names = self.features_.names
        parts = [Contribution("base", "mean of the trees, shifted above zero", base + self._shift)]
        if self.start_weight_:
            value = float(self._start.scores(features[None])[0])
            parts.append(Contribution("start", f"bm25 relative = {features[self._start.column]:g}", value))
        parts += [Contribution("feature", f"{names[i]} = {features[i]:g}", float(added[i])) for i in order]
        return Explanation(query.text, doc_id, sum(part.value for part in parts), parts)

    # -- inside ----------------------------------------------------------------------------------------

    def _fit_parts(self, graph: ClickGraph, progress: Progress) -> Examples | None:
        """Train the parts; the default ones are joined by those that help on this graph.

        Return the examples by which those were chosen.
        """
        self.parts_ = [create(spec).fit(graph, progress) for spec in self.part_specs]
        self.features_ = self._features(self.parts_, graph)
        if self.parts != _PARTS:
            return None
        choice = choose_parts(graph, self.parts_, self.features_, self._sampling, self._boosting, progress)
        self.parts_ += choice.parts
        self.features_ = self._features(self.parts_, graph) if choice.parts else self.features_
        return choice.first_fold

    @property
    def _boosting(self) -> Boosting:
        return Boosting(self.objective, self.n_trees, self.n_leaves, self.learning_rate, self.seed)

    def _scores(self, signals: QuerySignals, docs: NDArray[np.int32]) -> NDArray[np.float32]:
        features = self.features_.features(signals, docs)
        outputs = self.trees_.outputs(features)
        if self.start_weight_:
            outputs += self._start.scores(features)
        return np.where(signals.found(docs), outputs + self._shift, 0).astype(np.float32)

    def _examples(
        self, graph: ClickGraph, known: Examples | None, judgments: Judgments | None, progress: Progress
    ) -> Examples:
        given = None
        if self.task == "reranking":
            given = GivenCandidates(graph, self._bm25, self.n_candidates)
        known = known if judgments is None else None
        return cross_fitted(
            graph, judgments, self.parts_, self.features_, self._sampling, progress, given, known
        )

    def _features(self, parts: list[Model], graph: ClickGraph) -> RankingFeatures:
        """Where few documents have clicks, those tell what was shown, not what suits given candidates."""
        clicked = float((graph.clicks_by_doc.row_nnz() > 0).mean())
        doc_clicks = self.task == "retrieval" or clicked >= _THIN
        return RankingFeatures.of(parts, graph, self.n_candidates, doc_clicks=doc_clicks)

    @property
    def _bm25(self) -> int:
        """The place of BM25 among the parts."""
        return next(i for i, spec in enumerate(self.part_specs) if specs.parse(spec)[0] == "bm25")

    @property
    def _start(self) -> Start:
        """BM25 divided by its maximum."""
        return Start(len(OF_PARTS) * self._bm25 + OF_PARTS.index("relative"), self.start_weight_)

    @property
    def _sampling(self) -> Sampling:
        return Sampling(self.n_folds, self.max_queries, self.n_negatives, self.seed)

    @property
    def _shift(self) -> float:
        return 1 - self.trees_.lowest()
