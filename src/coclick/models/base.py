"""`Model`: what every system has in common; the registry; the one save and the one open.

A model is a dataclass: its fields are its parameters, what it learns ends in `_`. It implements `learn`, and
`score_rows` (or, for models of vectors, what `sparse_vectors.VectorModel` asks for). Class flags say what it
can do; asked for what it cannot, it says so.
"""

from __future__ import annotations

import copy
import importlib
import math
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, NoReturn, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from coclick.arrays.strings import Strings, columns_of
from coclick.errors import ArtefactError, NotFoundError, UserError
from coclick.graph.added_documents import AddedDocuments
from coclick.graph.click_graph import ClickGraph
from coclick.models import spec as specs
from coclick.models.integrity import check_bounds
from coclick.progress import Progress, quiet
from coclick.results import Explanation, Run, padded, top_rows
from coclick.storage.artefact import Artefact
from coclick.text.analyzer import normalise
from coclick.text.term_matrix import short_field

_REGISTRY: dict[str, type[Model]] = {}
_HOMES = {
    "bm25": "coclick.models.lexical.bm25",
    "bm25sd": "coclick.models.lexical.bm25sd",
    "bm25sd_mult": "coclick.models.lexical.bm25sd",
    "um": "coclick.models.lexical.um",
    "vsm": "coclick.models.lexical.vsm",
    "wmd": "coclick.models.lexical.wmd",
    "cos_words": "coclick.models.lexical.cos_words",
    "rw": "coclick.models.click_graph.rw",
    "cos_clicks": "coclick.models.click_graph.cos_clicks",
    "ctr": "coclick.models.click_graph.ctr",
    "clicks": "coclick.models.click_graph.clicks",
    "popularity": "coclick.models.click_graph.popularity",
    "logged": "coclick.models.click_graph.logged",
    "neighbours": "coclick.models.click_graph.neighbours",
    "vpcg": "coclick.models.propagation.vpcg",
    "pls": "coclick.models.projection.pls",
    "mpls": "coclick.models.projection.mpls",
    "rmls": "coclick.models.projection.rmls",
    "lsi_qd": "coclick.models.projection.lsi_qd",
    "lsi_dt": "coclick.models.projection.lsi_dt",
    "lsa": "coclick.models.projection.lsa",
    "cl_lsa": "coclick.models.projection.cl_lsa",
    "opca": "coclick.models.projection.opca",
    "s2net": "coclick.models.projection.s2net",
    "ssi": "coclick.models.projection.ssi",
    "svdfeature": "coclick.models.projection.svdfeature",
    "bltm": "coclick.models.likelihood.bltm",
    "bltm_pr": "coclick.models.likelihood.bltm",
    "bltm_pr_1v": "coclick.models.likelihood.bltm",
    "plsa": "coclick.models.likelihood.bltm",
    "wtm": "coclick.models.likelihood.wtm",
    "mix": "coclick.models.combination.mix",
    "backoff": "coclick.models.combination.backoff",
    "ltr": "coclick.ltr.model",
}
M = TypeVar("M", bound="Model")
TopK = tuple[NDArray[np.int32], NDArray[np.float32]]  # rows and scores, one line a query
DocMask = NDArray[np.uint8] | None  # one byte a document: may it be returned? None when all may

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
    requires: tuple[str, ...] = ()  # beyond clicks: names of `ClickGraph.has`
    max_docs: float = math.inf  # up to which `compare` includes the model unasked
    uses_query: bool = True
    unseen_queries: bool = False  # ranks for queries that are not in the graph
    unseen_docs: bool = False  # ranks documents that have no clicks
    can_similar: bool = False  # similar queries and documents
    can_expand: bool = False  # the words that stand for a query
    can_explain: bool = False
    can_add: bool = False  # documents that arrive after training
    can_topics: bool = False  # the topics it has found, in the words of queries and of titles
    can_translate: bool = False  # words of titles to words of queries
    can_export: bool = False  # vectors for search engines, whose products are its scores

    graph_: ClickGraph
    stats_: dict[str, Any]
    artefact_: Artefact | None = None

    # -- for the models to write -----------------------------------------------------------------------

    def _fit(self, graph: ClickGraph, progress: Progress) -> None:
        """Learn from the graph into attributes that end in `_`."""
        raise NotImplementedError  # abstract

    def _score(self, query: str, docs: NDArray[np.int32]) -> NDArray[np.float32]:
        """The scores of some documents, given as rows of the graph, for one normalised query."""
        raise NotImplementedError  # abstract

    def _score_all(self, query: str) -> NDArray[np.float32]:
        """The scores of all documents for one normalised query; a model with a faster way has its own."""
        return self._score(query, np.arange(len(self.graph_.docs), dtype=np.int32))

    def _score_texts(self, query: str, texts: Mapping[str, Strings]) -> NDArray[np.float32]:
        """The scores of documents that are not in the graph, by their fields, for one normalised query."""
        self._cannot("score documents that it does not know", "can_add")

    def _add(self, texts: Mapping[str, Strings]) -> None:
        """Take in the documents that have just come to the end of the graph, by their fields: for `add`."""
        raise NotImplementedError  # abstract

    def _count_unreachable(self, added: int) -> int:
        """How many of the documents that were added last no query can find: the model knows none of their
        words."""
        return 0

    def _search(self, queries: Sequence[str], k: int, allowed: DocMask) -> TopK:
        """The k best rows of each normalised query with their scores, padded; those of `allowed` only.

        A model that need not score all documents has a way of its own.
        """
        rows, scores = padded(len(queries), k)
        for i, query in enumerate(queries):
            found = self._score_all(query)
            if allowed is not None:
                found = np.where(allowed > 0, found, np.float32(0))
            best, values = top_rows(found, k)
            rows[i, : len(best)], scores[i, : len(best)] = best, values
        return rows, scores

    def evidence(self, query: str) -> dict[str, float]:
        """What stands behind the scores for a normalised query: named numbers from 0 (nothing) to 1."""
        return {}

    # -- for everybody to call -------------------------------------------------------------------------

    def fit(self, graph: ClickGraph, progress: Progress = quiet) -> Self:
        """Learn from a click graph."""
        specs.check(self)
        if graph.clicks.nnz == 0:
            raise UserError("the graph has no clicks to learn from")
        self.check_requirements(graph)
        if graph.artefact:
            check_bounds({"graph": graph}, graph.artefact)
        self.graph_ = graph
        self.stats_ = {}
        self.artefact_ = None
        self._fit(graph, progress)
        return self

    def score(self, queries: Sequence[str], candidates: Sequence[Sequence[str]]) -> list[NDArray[np.float32]]:
        """Scores aligned with the candidates of each query; an unknown document scores 0.

        A pair's score never depends on the other candidates.
        """
        if len(queries) != len(candidates):
            raise UserError(f"{len(queries)} queries but {len(candidates)} lists of candidates")
        answers = []
        for query, docs in zip(queries, candidates, strict=True):
            rows = self.trained_on.docs.lookup(list(docs))
            scores = np.zeros(len(rows), np.float32)
            scores[rows >= 0] = self._score(normalise(query), rows[rows >= 0])
            answers.append(scores)
        return answers

    def score_texts(self, query: str, docs: Sequence[str | Mapping[str, str]]) -> NDArray[np.float32]:
        """The scores of documents that the model does not know, given by title or by fields."""
        self.trained_on  # noqa: B018  an untrained model says that it is
        if not self.can_add:
            self._cannot("score documents that it does not know", "can_add")
        return self._score_texts(normalise(query), columns_of(docs, short_field(self.graph_.texts)))

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
        k = self._clip(k, len(self.trained_on.docs))
        return Run(*self._search(texts, k, self._allowed(allow, block)), self.graph_.docs)

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
        """Why `doc` has its score for `query`; at most `clicks` edges for each part, all for None."""
        self._cannot("explain its scores", "can_explain")

    def add(self, docs: Mapping[str, str | Mapping[str, str]]) -> Self:
        """A model that also knows these documents, by title or by fields; nothing is learned again.

        This one is left as it is.
        """
        if not self.can_add:
            self._cannot("take documents after training", "can_add")
        if self.artefact_:
            check_bounds(vars(self), self.artefact_)
        new = AddedDocuments.from_mapping(docs, self.trained_on)
        larger = copy.copy(self)
        larger.graph_ = new.graph
        larger.stats_ = {**self.stats_, "added": self.stats_.get("added", 0) + len(new.names)}
        larger._add(new.texts)
        return larger

    def describe_topics(self, words: int = 10) -> list[dict[str, Any]]:
        """Each topic with its share and its likeliest words in queries and in titles, the largest first."""
        self._cannot("tell topics", "can_topics")

    def translate(self, word: str, k: int = 10) -> list[tuple[str, float]]:
        """The words of queries that a word of titles stands for, with their probabilities."""
        self._cannot("translate words", "can_translate")

    def title(self, doc: str) -> str:
        """A document's title, or the empty string."""
        row = self.trained_on.docs.id(doc)
        return self.graph_.title(row) if row >= 0 else ""

    def check_requirements(self, graph: ClickGraph) -> None:
        """Raise if the graph lacks what this model learns from."""
        for need in self.requires:
            if need not in graph.provides:
                raise UserError(f"{self.name} needs {need}, and this graph has none", hint=_NEEDS[need])

    def check_graph(self, graph: ClickGraph) -> None:
        """Raise if this model was not learned from that graph."""
        mine, other = self.trained_on, graph
        if mine.digest and other.digest and self.graph_digest not in ("", other.digest):
            raise ArtefactError(
                f"this model was trained on another graph ({self.graph_digest}, not {other.digest})",
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

    def save(self, path: str | Path, *, force: bool = False, replaces: Model | None = None) -> Self:
        """Write one self-contained directory: see `coclick.models.persistence`.

        `force` replaces whatever model is there; `replaces` only the given one, which was opened from there.
        """
        from coclick.models.persistence import save

        save(self, path, force=force, replaces=replaces)
        return self

    # -- inside ----------------------------------------------------------------------------------------

    @property
    def trained_on(self) -> ClickGraph:
        """The graph that this model carries; an untrained one says that it is."""
        if not hasattr(self, "graph_"):
            raise UserError(f"{self} is not trained yet", hint="call fit(graph) first")
        return self.graph_

    @property
    def graph_digest(self) -> str:
        """The identity of the graph that this was trained on, empty if that was never saved."""
        return str(self.artefact_.manifest["graph"]) if self.artefact_ else self.graph_.digest

    @staticmethod
    def _clip(k: int, most: int) -> int:
        if k < 1:
            raise UserError(f"k must be at least 1, not {k}")
        return min(k, most)

    def rows_of_docs(self, names: Sequence[str]) -> NDArray[np.int32]:
        """The rows of documents by their ids, all of which must be known."""
        rows = self.trained_on.docs.lookup(names)
        if (rows < 0).any():
            known = ", ".join(self.graph_.docs.to_list(0, 3))
            raise NotFoundError(
                f"no document has the id {names[int(np.argmin(rows))]!r}", hint=f"ids are like {known}"
            )
        return rows

    def _allowed(self, allow: Collection[str] | None, block: Collection[str] | None) -> DocMask:
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
    """The names of all models; none is imported for this."""
    return sorted({*_REGISTRY, *_HOMES})


def model_class(name: str) -> type[Model]:
    """The class of that name; only its own file is imported."""
    if name not in _REGISTRY:
        known = names()
        if name not in known:
            raise UserError(
                f"no model is called {name!r}{specs.did_you_mean(name, known)}",
                hint=f"the models are {', '.join(known)}",
            )
        importlib.import_module(_HOMES[name])
    return _REGISTRY[name]


def create(spec: str) -> Model:
    """An untrained model from its specification: `"vpcg(start=doc)"`, `"0.8*rw + 0.2*bm25"`."""
    name, given = ("mix", {specs.SUM: spec}) if specs.is_sum(spec) else specs.parse(spec)
    cls = model_class(name)
    model = cls(**specs.convert(cls, given, spec))
    specs.check(model)
    return model


def train(spec: str | Model, graph: ClickGraph | str | Path, progress: Progress = quiet) -> Model:
    """Create and fit; the graph may be given by its directory."""
    model = create(spec) if isinstance(spec, str) else spec
    return model.fit(graph if isinstance(graph, ClickGraph) else ClickGraph.open(graph), progress)


def as_list(texts: str | Sequence[str]) -> list[str]:
    """One text or several, as a list."""
    return [texts] if isinstance(texts, str) else list(texts)
