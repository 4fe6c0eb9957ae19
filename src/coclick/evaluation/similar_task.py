"""`SIMILAR`: the task of finding similar queries."""

from __future__ import annotations

from collections.abc import Sequence

from coclick.arrays.strings import Vocab
from coclick.errors import UserError
from coclick.evaluation.inputs import EvaluationData, Graph, Qrels, Queries, load_judgments, open_graph
from coclick.evaluation.similar_queries import judge_by_clicks, judge_by_pairs
from coclick.evaluation.tasks import Task
from coclick.graph.click_graph import ClickGraph
from coclick.models.base import Model
from coclick.results import Run

_QUERIES = "vpcg(weight=log1p)"
_TITLES = "vpcg(start=doc,weight=log1p)"
RECOMMENDED = f"{_TITLES} + 0.5*neighbours + 0.5*cos_clicks"  # docs/evaluation.md has the figures


class SimilarTask(Task):
    """Find the queries of the log that are similar to a query."""

    name = "similar"
    ranked = "query"
    capability = "similar"
    variants = (
        _QUERIES,
        _TITLES,
        f"{_TITLES} + 0.5*neighbours",
        RECOMMENDED,
        f"{_TITLES} + 0.5*mpls",
        f"0.5*{_TITLES} + 0.5*{_QUERIES} + 0.25*neighbours",
    )

    def vocabulary(self, graph: ClickGraph) -> Vocab:
        """Return the texts of the queries."""
        return graph.queries

    def rank(self, model: Model, queries: Sequence[str], k: int) -> Run:
        """Find similar queries."""
        return model.similar_queries(queries, k)

    def holdouts(self, graph: ClickGraph) -> dict[str, float]:
        """Return the last days, which decide if there are days, and a part of the queries."""
        return {"time:0.2": 1.0, "queries:0.2": 0.0} if "days" in graph.provides else {"queries:0.2": 1.0}

    def load(
        self, graph: Graph, qrels: Qrels | None, queries: Queries | None, holdout: str | None
    ) -> EvaluationData:
        """Read graded pairs of queries, or hold out clicks."""
        opened = open_graph(graph)
        if qrels is not None:
            return EvaluationData(opened, judge_by_pairs(opened, load_judgments(qrels, queries)), "judgments")
        if queries is not None:
            raise UserError(
                "queries without judgments", hint="give judgments with --qrels (in Python: qrels=…)"
            )
        return judge_by_clicks(opened, holdout)


SIMILAR = SimilarTask()
