"""`Task`: what models are judged on. It says what they rank, how, and which data judges them.

`SEARCH` ranks documents. A new task is a subclass, which `find_task` returns by its name; leaderboards,
significance tests, `compare` and the report follow from it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar

from coclick.arrays.strings import Vocab
from coclick.errors import UserError
from coclick.evaluation.inputs import EvaluationData, Graph, Qrels, Queries, load_data
from coclick.graph.click_graph import ClickGraph
from coclick.models.base import Model
from coclick.results import Run

THIN = 0.5  # share of documents with clicks below which a log is thin
TASKS = ("search", "similar")


class Task(ABC):
    """What models are judged on."""

    name: ClassVar[str]
    ranked: ClassVar[str]  # the noun of what is ranked: "document"
    capability: ClassVar[str | None] = None  # that a model needs, of `CAPABILITIES`
    variants: ClassVar[tuple[str, ...]] = ()  # specifications that `compare` tries for this task in addition

    @abstractmethod
    def vocabulary(self, graph: ClickGraph) -> Vocab:
        """Return the names of everything that can be ranked."""

    @abstractmethod
    def rank(self, model: Model, queries: Sequence[str], k: int) -> Run:
        """Return the k best of each query."""

    @abstractmethod
    def holdouts(self, graph: ClickGraph) -> dict[str, float]:
        """Return the rules by which clicks of this graph are held out, with the weight of each.

        The one that counts most in dense logs comes first; one with weight 0 only decides between equals.
        """

    @abstractmethod
    def load(
        self, graph: Graph, qrels: Qrels | None, queries: Queries | None, holdout: str | None
    ) -> EvaluationData:
        """Return the graph to train on and the judgments; without `qrels`, from held-out clicks."""


class SearchTask(Task):
    """Find documents for a query."""

    name = "search"
    ranked = "document"

    def vocabulary(self, graph: ClickGraph) -> Vocab:
        """Return the ids of the documents."""
        return graph.docs

    def rank(self, model: Model, queries: Sequence[str], k: int) -> Run:
        """Search."""
        return model.search(queries, k)

    def holdouts(self, graph: ClickGraph) -> dict[str, float]:
        """Return the last days, if there are days, and a part of the queries.

        In a thin log documents without clicks count as much as there are.
        """
        rules = {"time:0.2": 1.0, "queries:0.2": 0.0} if "days" in graph.provides else {"queries:0.2": 1.0}
        clicked = float((graph.clicks_by_doc.row_nnz() > 0).mean())
        if clicked >= THIN:
            return rules
        first, *others = rules
        return {first: clicked, "documents:0.5": 1 - clicked, **dict.fromkeys(others, 0.0)}

    def load(
        self, graph: Graph, qrels: Qrels | None, queries: Queries | None, holdout: str | None
    ) -> EvaluationData:
        """Read judgments of documents, or hold out clicks."""
        return load_data(graph, qrels, queries, holdout)


SEARCH = SearchTask()


def find_task(name: str) -> Task:
    """Return a task by its name, one of `TASKS`."""
    if name == "search":
        return SEARCH
    if name == "similar":
        from coclick.evaluation.similar_task import SIMILAR

        return SIMILAR
    raise UserError(f"no task is called {name!r}", hint=f"the tasks are {', '.join(TASKS)}")
