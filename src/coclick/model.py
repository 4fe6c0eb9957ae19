"""`Model`: what every system has in common; the registry; the one save and the one open.

A model is a dataclass: its fields are its parameters, what it learns ends in `_`. It implements `learn`, and
`score_rows` (or, for models of vectors, what `coclick.vectors.VectorModel` asks for). Class flags say what it
can do; asked for what it cannot, it says so.
"""

from __future__ import annotations

import importlib
import math
import pkgutil
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, NoReturn, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from coclick import spec as specs
from coclick.errors import ArtefactError, UserError
from coclick.explanation import Explanation
from coclick.graph import ClickGraph
from coclick.progress import Progress, quiet
from coclick.run import Run, top_rows
from coclick.sparse import Csr
from coclick.state import read_value, write_value
from coclick.store import Artefact, writing
from coclick.strings import Strings
from coclick.text import normalise
from coclick.views import titles

_REGISTRY: dict[str, type[Model]] = {}
M = TypeVar("M", bound="Model")

_EVENTS = "build it from events: timestamp, user, query, doc, action, position"
_NEEDS = {
    "texts": "build it with --docs",
    "impressions": "build it from events, or from clicks with a column `impressions`",
    "sessions": _EVENTS,
    "days": _EVENTS,
    "positions": _EVENTS,
    "skips": _EVENTS,
}


class Model:
    """Base of all systems. Queries and documents are strings at this edge, rows of the graph inside."""

    name: ClassVar[str]
    summary: ClassVar[str] = ""  # one line for tables and help
    needs: ClassVar[tuple[str, ...]] = ()  # beyond clicks: names of `ClickGraph.has`
    uses_query: ClassVar[bool] = True
    unseen_queries: ClassVar[bool] = False  # ranks for queries that are not in the graph
    unseen_docs: ClassVar[bool] = False  # ranks documents that have no clicks
    can_similar: ClassVar[bool] = False  # similar queries and documents
    can_expand: ClassVar[bool] = False  # the words that stand for a query
    can_explain: ClassVar[bool] = False
    can_add: ClassVar[bool] = False  # documents that arrive after training

    graph_: ClickGraph
    figures_: dict[str, Any]
    artefact_: Artefact | None = None

    # -- for the models to write -----------------------------------------------------------------------

    def learn(self, graph: ClickGraph, progress: Progress) -> None:
        """Learn from the graph into attributes that end in `_`."""
        raise NotImplementedError  # abstract

    def score_rows(self, query: str, docs: NDArray[np.int32]) -> NDArray[np.float32]:
        """The scores of some documents, given as rows of the graph, for one normalised query."""
        raise NotImplementedError  # abstract

    def score_all(self, query: str) -> NDArray[np.float32]:
        """The scores of all documents for one normalised query; a model with a faster way has its own."""
        return self.score_rows(query, np.arange(len(self.graph_.docs), dtype=np.int32))

    def evidence(self, query: str) -> dict[str, float]:
        """What stands behind the scores for a normalised query: named numbers from 0 (nothing) to 1."""
        return {}

    # -- for everybody to call -------------------------------------------------------------------------

    def fit(self, graph: ClickGraph, progress: Progress = quiet) -> Self:
        """Learn from a click graph."""
        specs.check(self)
        if graph.clicks.nnz == 0:
            raise UserError("the graph has no clicks to learn from")
        for need in self.needs:
            if need not in graph.has:
                raise UserError(f"{self.name} needs {need}, and this graph has none", hint=_NEEDS[need])
        if graph.artefact:
            check_bounds({"graph": graph}, graph.artefact)
        self.graph_ = graph
        self.figures_ = {}
        self.artefact_ = None
        self.learn(graph, progress)
        return self

    def score(self, queries: Sequence[str], candidates: Sequence[Sequence[str]]) -> list[NDArray[np.float32]]:
        """Scores aligned with the candidates of each query; an unknown document scores 0.

        A pair's score never depends on the other candidates.
        """
        if len(queries) != len(candidates):
            raise UserError(f"{len(queries)} queries but {len(candidates)} lists of candidates")
        answers = []
        for query, docs in zip(queries, candidates, strict=True):
            rows = self._fitted.docs.lookup(list(docs))
            scores = np.zeros(len(rows), np.float32)
            scores[rows >= 0] = self.score_rows(normalise(query), rows[rows >= 0])
            answers.append(scores)
        return answers

    def confidence(self, query: str) -> float:
        """How much stands behind the scores for a normalised query, 0 … 1: all its evidence together.

        Combinations ask this, so that a faint signal does not drown a good one.
        """
        return math.prod(self.evidence(query).values())

    def search(
        self,
        queries: str | Sequence[str],
        k: int = 10,
        *,
        allow: Collection[str] | None = None,
        block: Collection[str] | None = None,
    ) -> Run:
        """The k best documents for each query, over all of them or only over those allowed."""
        texts = [normalise(query) for query in as_list(queries)]
        k = self._clip(k, len(self._fitted.docs))
        allowed = self._allowed(allow, block)
        rows, scores = padded(len(texts), k)
        for i, query in enumerate(texts):
            found = self.score_all(query)
            if allowed is not None:
                found = np.where(allowed.astype(bool), found, np.float32(0))
            best, values = top_rows(found, k)
            rows[i, : len(best)], scores[i, : len(best)] = best, values
        return Run(rows, scores, self.graph_.docs)

    def similar_queries(self, queries: str | Sequence[str], k: int = 10) -> Run:
        """The queries of the graph that are nearest to each query, itself excepted."""
        self._cannot("find similar queries", "can_similar")

    def similar_docs(self, docs: str | Sequence[str], k: int = 10) -> Run:
        """The documents nearest to each document, itself excepted."""
        self._cannot("find similar documents", "can_similar")

    def expand(self, query: str) -> list[tuple[str, float]]:
        """The words of the query's vector with their weights, heaviest first."""
        self._cannot("expand queries", "can_expand")

    def explain(self, query: str, doc: str, clicks: int | None = 10) -> Explanation:
        """Why `doc` has its score for `query`; `clicks` limits the edges shown for each part."""
        self._cannot("explain its scores", "can_explain")

    def add(self, docs: Mapping[str, str | Mapping[str, str]]) -> Self:
        """A model that also knows these documents, by title or by fields. This one is left as it is."""
        self._cannot("take documents after training", "can_add")

    def title(self, doc: str) -> str:
        """A document's title, or the empty string."""
        row = self._fitted.docs.id(doc)
        return self.graph_.title(row) if row >= 0 else ""

    def check_graph(self, graph: ClickGraph) -> None:
        """Raise if this model was not learned from that graph."""
        mine, other = self._fitted, graph
        if mine.digest and other.digest and self._graph_digest not in ("", other.digest):
            raise ArtefactError(
                f"this model was trained on another graph ({self._graph_digest}, not {other.digest})",
                hint="train it again on this graph",
            )
        if mine.queries.digest != other.queries.digest or mine.docs.digest != other.docs.digest:
            raise ArtefactError(
                "the model's queries and documents are not those of this graph",
                hint="train it again on this graph",
            )

    # -- saved and opened ------------------------------------------------------------------------------

    def __str__(self) -> str:
        return specs.format_spec(self)

    def save(self, path: str | Path, *, force: bool = False) -> Self:
        """Write one self-contained directory; what the graph has on disk already is linked."""
        graph = self._fitted
        short = titles(graph.texts)  # what explanations read: the title or, without titles, the first field
        texts = {name: text for name, text in graph.texts.items() if text is short}
        carried = ClickGraph(graph.queries, graph.docs, graph.clicks, texts, artefact=graph.artefact)
        origins = [origin for origin in (graph.artefact, self.artefact_) if origin]
        with writing(path, force=force, origins=origins) as out:
            carried.write(out)
            state = {
                key: write_value(out, f"model.{key.rstrip('_')}", value)
                for key, value in vars(self).items()
                if key.endswith("_") and key not in ("graph_", "figures_", "artefact_")
            }
            parameters = {field.name: getattr(self, field.name) for field in specs.parameters_of(type(self))}
            out.commit(
                "model",
                model=self.name,
                spec=str(self),
                parameters=parameters,
                graph=self._graph_digest,
                figures=self.figures_,
                state=state,
            )
        return self

    @classmethod
    def _read(cls, source: Artefact) -> Self:
        try:
            model = cls(**source.manifest["parameters"])
            specs.check(model)
            state = source.manifest["state"].items()
        except (KeyError, TypeError, AttributeError, UserError) as error:
            raise ArtefactError(
                f"the model's parameters are damaged: {error}", where=str(source.path)
            ) from None
        for key, entry in state:
            if not key.endswith("_") or key in ("graph_", "figures_", "artefact_"):
                raise ArtefactError(f"{key!r} cannot be a model's state", where=str(source.path))
            setattr(model, key, read_value(source, f"model.{key.rstrip('_')}", entry))
        model.graph_ = ClickGraph.read(source)
        model.figures_ = source.manifest.get("figures", {})
        model.artefact_ = source
        return model

    # -- inside ----------------------------------------------------------------------------------------

    @property
    def _fitted(self) -> ClickGraph:
        if not hasattr(self, "graph_"):
            raise UserError(f"{self} is not trained yet", hint="call fit(graph) first")
        return self.graph_

    @property
    def _graph_digest(self) -> str:
        return str(self.artefact_.manifest["graph"]) if self.artefact_ else self.graph_.digest

    @staticmethod
    def _clip(k: int, most: int) -> int:
        if k < 1:
            raise UserError(f"k must be at least 1, not {k}")
        return min(k, most)

    def _allowed(
        self, allow: Collection[str] | None, block: Collection[str] | None
    ) -> NDArray[np.uint8] | None:
        """One byte a document: may it be returned? None when all may."""
        if allow is None and not block:
            return None
        docs = self.graph_.docs
        mask = np.full(len(docs), allow is None, np.uint8)
        if allow is not None:
            rows = docs.lookup(list(allow))
            mask[rows[rows >= 0]] = 1
        if block:
            rows = docs.lookup(list(block))
            mask[rows[rows >= 0]] = 0
        return mask

    def _cannot(self, what: str, flag: str) -> NoReturn:
        able = [name for name in names() if getattr(model_class(name), flag)]
        raise UserError(f"{self.name} cannot {what}", hint=f"models that can: {', '.join(able)}")


def register(cls: type[M]) -> type[M]:
    """Make a model reachable by its name."""
    _REGISTRY[cls.name] = cls
    return cls


def names() -> list[str]:
    """The names of all models."""
    models = importlib.import_module("coclick.models")
    for module in pkgutil.iter_modules(models.__path__):
        importlib.import_module(f"coclick.models.{module.name}")
    return sorted(_REGISTRY)


def model_class(name: str) -> type[Model]:
    """The class of that name; only its own file is imported when it is named after the model."""
    if name not in _REGISTRY and name.isidentifier():
        try:
            importlib.import_module(f"coclick.models.{name}")
        except ModuleNotFoundError:
            names()
    if name not in _REGISTRY:
        known = names()
        raise UserError(
            f"no model is called {name!r}{specs.did_you_mean(name, known)}",
            hint=f"the models are {', '.join(known)}",
        )
    return _REGISTRY[name]


def create(spec: str) -> Model:
    """An untrained model from its specification, such as `"vpcg(start=doc)"`."""
    name, given = specs.parse(spec)
    cls = model_class(name)
    return cls(**specs.convert(cls, given, spec))


def train(spec: str | Model, graph: ClickGraph, progress: Progress = quiet) -> Model:
    """Create and fit."""
    model = create(spec) if isinstance(spec, str) else spec
    return model.fit(graph, progress)


def open_model(path: str | Path, graph: ClickGraph | None = None) -> Model:
    """Open a saved model; with `graph`, make sure that it was trained on that one."""
    source = Artefact(path)
    if source.kind != "model":
        raise UserError(
            f"this is a {source.kind}, not a model",
            where=str(path),
            hint="train one: coclick train vpcg GRAPH",
        )
    try:
        cls = model_class(str(source.manifest.get("model")))
    except UserError as error:
        raise ArtefactError(f"the manifest: {error.what}", where=str(path)) from None
    model = cls._read(source)
    if graph is not None:
        model.check_graph(graph)
    return model


def as_list(texts: str | Sequence[str]) -> list[str]:
    """One text or several, as a list."""
    return [texts] if isinstance(texts, str) else list(texts)


def padded(queries: int, k: int) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
    """Empty results, to be filled."""
    return np.full((queries, k), -1, np.int32), np.zeros((queries, k), np.float32)


def out_of_bounds(name: str, value: Any) -> Iterator[tuple[str, str]]:
    """(part, what is wrong) for all that would lead outside an array or is not a number."""
    if isinstance(value, Csr):
        if problem := value.problem():
            yield name, problem
    elif isinstance(value, Strings):
        if np.any(np.diff(value.offsets) < 0):
            yield name, "offsets fall"
    elif isinstance(value, ClickGraph):
        yield from out_of_bounds("clicks", value.clicks)
        yield from out_of_bounds("clicks_by_doc", value.clicks_by_doc)
        yield from out_of_bounds("queries", value.queries)
        yield from out_of_bounds("docs", value.docs)
        for field, texts in value.texts.items():
            yield from out_of_bounds(f"text.{field}", texts)
    elif hasattr(value, "problem"):
        if problem := value.problem():
            yield name, problem
    elif hasattr(value, "__dataclass_fields__"):
        for part in value.__dataclass_fields__:
            yield from out_of_bounds(f"{name}.{part}", getattr(value, part))


def check_bounds(values: Mapping[str, Any], source: Artefact) -> None:
    """Raise if what was opened from a file would lead outside an array; for work that reads all of it."""
    for name, value in values.items():
        for part, problem in out_of_bounds(name, value):
            raise ArtefactError(
                f"the {source.kind} is damaged: {part}: {problem}",
                where=str(source.path),
                hint="`coclick verify` names the file",
            )
