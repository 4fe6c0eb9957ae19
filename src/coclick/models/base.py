"""`Model`: the base class of all models, with the public methods. They take texts and ids and call hooks.

A model is a dataclass: its fields are its parameters, and learned state is in attributes that end in `_`. It
implements `_fit` and `_score`, or the hooks of `sparse_vectors.SparseVectorModel`. All hooks are in
`hooks.ModelHooks`.
"""

from __future__ import annotations

import copy
import inspect
import math
from collections.abc import Collection, Mapping, Sequence, Sized
from dataclasses import Field, replace
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from coclick.arrays.strings import columns_of
from coclick.errors import ArtefactError, NotFoundError, UserError, check_whole
from coclick.graph.added_documents import (
    AddedDocuments,
    ViewFeatures,
    check_view_features,
    feature_rows,
    group_by_view,
)
from coclick.graph.click_graph import ClickGraph
from coclick.models import spec as specs
from coclick.models.arguments import documents_from, texts_of
from coclick.models.capabilities import CAPABILITIES, HOW_TO_PROVIDE
from coclick.models.document_expansion import expand_in_blocks
from coclick.models.hooks import DocMask, ModelHooks, TopK
from coclick.models.registry import model_class, model_names
from coclick.models.shared_evidence import damp_similar, depth_for
from coclick.progress import Progress, quiet
from coclick.results import Contribution, Explanation, Run, padded, without_itself
from coclick.storage.gate import Gated
from coclick.storage.state import check_storable
from coclick.text.query import Query
from coclick.text.term_matrix import short_field, titles

__all__ = ["NOT_STATE", "DocMask", "Model", "TopK"]

_QUERIES_PER_BLOCK = 1024  # of `similar_queries`: bounds the memory of models that list many candidates
_MIN_KNOWN_TEXT = 0.15  # below it there is no evidence: unrelated texts share some n-grams, too
NOT_STATE = ("graph_", "stats_", "artefact_")  # attributes that end in `_` and are stored by other means


class Model(Gated, ModelHooks):
    """Base class of all models: fit, search, score, explain, save."""

    def __init_subclass__(cls) -> None:
        """Keep declared state out of the dataclass's fields, and give every class the short repr."""
        annotations = inspect.get_annotations(cls)
        cls._state_annotations = {
            name: annotation for name, annotation in annotations.items() if name.endswith("_")
        }
        for name in cls._state_annotations:
            if isinstance(vars(cls).get(name), Field):  # `field(init=False)`, for type checkers
                delattr(cls, name)
            if name not in vars(cls):
                cls.__annotations__[name] = ClassVar
        if "__repr__" not in vars(cls):
            cls.__repr__ = Model.__repr__  # type: ignore[method-assign]

    # -- public methods --------------------------------------------------------------------------------

    def fit(self, graph: ClickGraph, progress: Progress = quiet) -> Self:
        """Learn from a click graph.

        Parameters: `graph`; `progress`, which reports the steps (quiet by default). Returns the model itself.
        """
        if not isinstance(graph, ClickGraph):
            raise UserError(
                f"a model learns from a ClickGraph, not from {type(graph).__name__}",
                hint="open one: coclick.ClickGraph.open(directory), or coclick.train(spec, directory)",
            )
        specs.check(self)
        if graph.clicks.nnz == 0:
            raise UserError("the graph has no clicks to learn from")
        self.check_requirements(graph)
        self.__dict__.pop("_gated", None)
        self.graph_ = graph
        self.stats_ = {}
        self.artefact_ = None
        self._fit(graph, progress)
        self._update_capabilities()
        for name in self._state_names():
            if name != "parts_":
                check_storable(f"{self.name}.{name}", getattr(self, name))
        return self

    def search(
        self,
        queries: str | Sequence[str],
        k: int = 10,
        *,
        allow: Collection[str] | None = None,
        block: Collection[str] | None = None,
    ) -> Run:
        """Find the k best documents for a query, or for each of several.

        Parameters: `queries`, a text or a list of texts; `k`; `allow`, the ids of the only documents that may
        be returned; `block`, ids that must not be. Returns a `Run`.
        """
        asked = self._queries(queries)
        return self._run(*self._search_masked(asked, k, allow, block), queries)

    def score(self, queries: Sequence[str], candidates: Sequence[Sequence[str]]) -> list[NDArray[np.float32]]:
        """Score candidates for each query; a pair's score never depends on the other candidates.

        Parameters: `queries`, a list of texts; `candidates`, for each query a list of document ids. Returns
        for each query an array aligned with its candidates; an unknown document scores 0.
        """
        asked = self._queries(queries)
        if isinstance(candidates, str) or not isinstance(candidates, Sized):
            raise UserError("candidates must be a list of document ids for each query")
        if len(asked) != len(candidates):
            queries_, lists = (
                f"{count} {one if count == 1 else many}"
                for count, one, many in (
                    (len(asked), "query", "queries"),
                    (len(candidates), "list of candidates", "lists of candidates"),
                )
            )
            raise UserError(f"{queries_} but {lists}")
        scores = []
        for query, docs in zip(asked, candidates, strict=True):
            rows = self.graph_.docs.lookup(texts_of(docs, "a document id"))
            values = np.zeros(len(rows), np.float32)
            values[rows >= 0] = self._score(query, rows[rows >= 0])
            scores.append(values)
        return scores

    def score_texts(
        self,
        query: str,
        docs: Sequence[str | Mapping[str, str]],
        features: Sequence[Mapping[str, Mapping[str, float]]] | None = None,
    ) -> NDArray[np.float32]:
        """Score documents that the model does not know.

        Parameters: `query`; `docs`, each given by its title or by its fields; `features`, where the model
        uses user views, for each document its features by view: `[{"tags": {"sport": 1.0}}]`.
        """
        self._require("add")
        if isinstance(docs, str | Mapping):
            raise UserError("docs must be a list of texts, not one text", hint="score_texts(query, [text])")
        [asked] = self._queries([query])
        texts = columns_of(docs, short_field(self.graph_.texts))
        names = [f"docs[{place}]" for place in range(len(docs))]
        given = check_view_features(group_by_view(features or [{}] * len(names), names), self.user_views)
        if given:
            return self._score_texts_with_features(asked, texts, feature_rows(given, names))
        return self._score_texts(asked, texts)

    def similar_queries(
        self,
        queries: str | Sequence[str] | None = None,
        k: int = 10,
        *,
        damped: bool = False,
        progress: Progress = quiet,
    ) -> Run:
        """Find the k queries of the log nearest to a query, or to each of several; itself excluded.

        Parameters: `queries`, a text or a list of texts, None for all queries of the log; `k`; `damped`,
        whether similarities for which there is little evidence, such as one shared click, count less: what
        the command line and the service return; `progress`, which reports how many are done. Many queries at
        once are faster than one by one. Returns a `Run`.
        """
        self._require("similar")
        texts = self.graph_.queries.to_list() if queries is None else queries
        asked = self._queries(texts)
        k = self._clip(k, len(self.graph_.queries))
        rows, scores = padded(len(asked), k)
        with progress("similar queries", len(asked)) as done:
            for first in range(0, len(asked), _QUERIES_PER_BLOCK):
                block = slice(first, first + _QUERIES_PER_BLOCK)
                rows[block], scores[block] = self._nearest_queries(asked[block], k, damped)
                done(len(asked[block]))
        return self._run(rows, scores, texts, ("query", "similar"))

    def similar_docs(self, docs: str | Sequence[str], k: int = 10) -> Run:
        """Find the k documents nearest to a document, or to each of several, given by id; itself excluded."""
        self._require("similar")
        rows = self.rows_of_docs(texts_of(docs, "a document id"))
        k = self._clip(k, len(self.graph_.docs))
        return self._run(*self._other_docs(rows, k), docs, ("doc", "similar"))

    def expand(self, query: str) -> list[tuple[str, float]]:
        """List expansion words of a query with their weights, heaviest first."""
        self._require("expand")
        [asked] = self._queries([query])
        return self._expand(asked)

    def expand_docs(self, docs: str | Sequence[str] | None = None, k: int = 10, *, new: bool = True) -> Run:
        """List the k heaviest learned words of a document, or of each of several.

        Parameters: `docs`, an id or a list of ids, None for all documents; `k`; `new`, whether to leave out
        the words of the title (without titles, of the first field). Returns a `Run` of words with weights:
        what the model adds to the score of the document for a query of this word alone.
        """
        self._require("expand_docs")
        asked = self.trained_on.docs.to_list() if docs is None else docs
        rows = self.rows_of_docs(texts_of(asked, "a document id"))
        words = self._expansion_words
        own_texts = titles(self.graph_.texts) if new else None
        k = self._clip(k, max(len(words.terms), 1))
        found = expand_in_blocks(rows, k, words, own_texts, self._expand_docs)
        single = isinstance(asked, str)
        names = (asked,) if isinstance(asked, str) else tuple(asked)
        return Run(*found, words.display_terms, names, single, ("doc", "word"))

    def explain_expansion(
        self, doc: str, k: int = 10, clicks: int | None = 10, *, new: bool = True
    ) -> list[Contribution]:
        """Explain the learned words of a document: the clicks, title words or topics that they come from.

        Parameters: `doc`, its id; `k` and `new` as in `expand_docs`; `clicks`, how many clicked pairs to show
        for each word, None for all. Returns one `Contribution` for each word, heaviest first.
        """
        found = self.expand_docs([doc], k, new=new)
        if clicks is not None:
            check_whole(clicks, "clicks", 0)
        row = int(self.rows_of_docs([doc])[0])
        pairs = zip(found.rows[0].tolist(), found.scores[0].tolist(), strict=True)
        return [self._explain_expansion(row, term, weight, clicks) for term, weight in pairs if term >= 0]

    def explain(self, query: str, doc: str, clicks: int | None = 10) -> Explanation:
        """Explain the score of a document for a query.

        Parameters: `query`; `doc`, its id; `clicks`, how many clicked pairs to show for each contribution,
        None for all. Returns an `Explanation`, whose contributions add up to the score.
        """
        self._require("explain")
        if clicks is not None:
            check_whole(clicks, "clicks", 0)
        [asked] = self._queries([query])
        [row] = self.rows_of_docs(texts_of([doc], "a document id"))
        return replace(self._explain(asked, int(row), clicks), query=query, doc=doc)

    def evidence(self, query: str) -> dict[str, float]:
        """Rate the evidence for the scores of a query: named numbers from 0 (none) to 1."""
        [asked] = self._queries([query])
        return self._evidence(asked)

    def confidence(self, query: str) -> float:
        """Rate how far results of a query can be trusted, from 0 (guesses) to 1 (clicked often).

        Clicks c of the query itself count as c / (c + 1). Of the rest, the share of its text that the model
        knows counts half: an unseen query has at most 0.5.
        """
        [asked] = self._queries([query])
        return self._confidence(asked)

    def embed_queries(self, queries: str | Sequence[str]) -> Any:
        """Return one vector per query; raise for models whose scores are not dot products of vectors."""
        self._require("export")
        raise NotImplementedError  # abstract for models that can export

    def embed_docs(self, docs: str | Sequence[str]) -> Any:
        """Return the vectors of documents, given by id; raise for models without vectors."""
        self._require("export")
        raise NotImplementedError  # abstract for models that can export

    def add(self, docs: Any, features: ViewFeatures | None = None) -> Self:
        """Return a model that also knows these documents; nothing is learned again.

        Parameters: `docs`, a mapping from id to title or to fields, a table (pandas, polars, Arrow) with
        columns doc, title and further texts, or the path of a file of documents; `features`, where the model
        uses user views, their features by document: `{"tags": {"d9": {"sport": 1.0}}}`. This model stays as
        it is.
        """
        self._require("add")
        given = check_view_features(features or {}, self.user_views)
        docs = documents_from(docs)
        new = AddedDocuments.from_mapping(docs, self.trained_on)
        larger = copy.copy(self)
        larger.graph_ = new.graph
        larger.stats_ = {**self.stats_, "added": self.stats_.get("added", 0) + len(new.names)}
        if given:
            larger._add_with_features(new.texts, feature_rows(given, new.names))
        else:
            larger._add(new.texts)
        return larger

    def describe_topics(self, words: int = 10) -> list[dict[str, Any]]:
        """List the topics, largest first: share, and the most probable words in queries and in titles."""
        self._require("topics")
        return self._describe_topics(words)

    def translate(self, word: str, k: int = 10) -> list[tuple[str, float]]:
        """List the query words that a title word translates to, with their probabilities."""
        self._require("translate")
        return self._translate(word, k)

    def title(self, doc: str) -> str:
        """Return a document's title, or the empty string."""
        row = self.trained_on.docs.id(doc)
        return self.graph_.title(row) if row >= 0 else ""

    def save(self, path: str | Path, *, force: bool = False, replaces: Model | None = None) -> Self:
        """Write the trained model to one self-contained directory.

        Parameters: `path`; `force` replaces any model that is there; `replaces` only the given one, which was
        opened from there. Returns the model itself.
        """
        from coclick.models.persistence import save

        save(self, path, force=force, replaces=replaces)
        return self

    # -- the graph it belongs to -----------------------------------------------------------------------

    @property
    def trained_on(self) -> ClickGraph:
        """The graph that this model carries; raises if the model is not trained."""
        if not hasattr(self, "graph_"):
            raise UserError(f"{self} is not trained yet", hint="call fit(graph) first")
        return self.graph_

    @property
    def graph_digest(self) -> str:
        """The digest of the graph that this was trained on, empty if that was never saved."""
        return str(self.artefact_.manifest["graph"]) if self.artefact_ else self.graph_.digest

    @property
    def user_views(self) -> frozenset[str]:
        """The user views that this model uses."""
        return frozenset()

    def check_requirements(self, graph: ClickGraph) -> None:
        """Raise if the graph lacks what this model learns from."""
        missing = [required for required in self.requires if required not in graph.provides]
        if missing:
            hints = dict.fromkeys(HOW_TO_PROVIDE[name] for name in missing if name in HOW_TO_PROVIDE)
            what = f"{self.name} needs {' and '.join(missing)}, and this graph has none"
            raise UserError(what, hint="; ".join(hints) or None)

    def check_graph(self, graph: ClickGraph) -> None:
        """Raise if this model was not trained on that graph."""
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

    def rows_of_docs(self, names: Sequence[str]) -> NDArray[np.int32]:
        """Return the rows of documents by their ids; raise for an unknown one."""
        rows = self.trained_on.docs.lookup(names)
        if (rows < 0).any():
            known = ", ".join(self.graph_.docs.to_list(0, 3))
            raise NotFoundError(
                f"no document has the id {names[int(np.argmin(rows))]!r}", hint=f"ids are like {known}"
            )
        return rows

    def __str__(self) -> str:
        return specs.format_spec(self)

    def __repr__(self) -> str:
        if not hasattr(self, "graph_"):
            return f"<{self}, not trained>"
        return (
            f"<{self}, trained on {len(self.graph_.queries):,} queries, {len(self.graph_.docs):,} documents>"
        )

    def _state_names(self) -> list[str]:
        """Return the names of the learned state."""
        names = dict.fromkeys([*self.__dict__.get("_gated", {}), *vars(self)])
        return [name for name in names if name.endswith("_") and name not in NOT_STATE]

    # -- for subclasses --------------------------------------------------------------------------------

    def _queries(self, texts: str | Sequence[str]) -> list[Query]:
        return Query.list_of(texts_of(texts, "a query"), self.trained_on.queries)

    def _other_queries(self, queries: Sequence[Query], k: int) -> TopK:
        """`_similar_queries` without the query itself, for which one more is fetched."""
        rows, scores = self._similar_queries(queries, min(k + 1, len(self.graph_.queries)))
        return without_itself(rows, scores, np.array([query.row for query in queries], np.int32), k)

    def _search_masked(
        self,
        queries: Sequence[Query],
        k: int,
        allow: Collection[str] | None = None,
        block: Collection[str] | None = None,
    ) -> TopK:
        """`_search` with the arguments of `search`."""
        return self._search(queries, self._clip(k, len(self.graph_.docs)), self._mask(allow, block))

    def _nearest_queries(self, queries: Sequence[Query], k: int, damped: bool) -> TopK:
        """The k nearest other queries; damped, those of more that have the most evidence."""
        if not damped:
            return self._other_queries(queries, k)
        found = self._other_queries(queries, self._clip(depth_for(k), len(self.graph_.queries)))
        return damp_similar(self.graph_, queries, *found, k)

    def _other_docs(self, docs: NDArray[np.int32], k: int) -> TopK:
        """`_similar_docs` without the document itself, for which one more is fetched."""
        rows, scores = self._similar_docs(docs, min(k + 1, len(self.graph_.docs)))
        return without_itself(rows, scores, docs, k)

    def _confidence(self, query: Query) -> float:
        """Clicks of the query, if the model reads clicks, and half of the text that it knows."""
        support = self._support(query) if self.uses_clicks and self.uses_query else 0.0
        known = self._known_text(query)
        return support + (1 - support) * (known / 2 if known >= _MIN_KNOWN_TEXT else 0.0)

    def _evidence_product(self, query: Query) -> float:
        """The product of all evidence. Combinations weight their parts by it."""
        return math.prod(self._evidence(query).values())

    def _support(self, query: Query) -> float:
        """The clicks c of a query as c / (c + 1): 0 without any."""
        clicks = float(self.graph_.clicks.row(query.row)[1].sum()) if query.row >= 0 else 0.0
        return clicks / (clicks + 1)

    def _require(self, capability: str) -> None:
        """Raise if the model is not trained or cannot do this."""
        self.trained_on  # noqa: B018  raises if it is not trained
        if capability not in self.capabilities:
            able = [name for name in model_names() if capability in model_class(name).capabilities]
            raise UserError(
                f"{self} cannot {CAPABILITIES[capability]}", hint=f"models that can: {', '.join(able)}"
            )

    @staticmethod
    def _clip(k: int, largest: int) -> int:
        if isinstance(k, bool) or not isinstance(k, int | np.integer):
            raise UserError(f"k must be a whole number, not {k!r}")
        if k < 1:
            raise UserError(f"k must be at least 1, not {k}")
        return min(int(k), largest)

    def _mask(self, allow: Collection[str] | None, block: Collection[str] | None) -> DocMask:
        if allow is None and block is None:
            return None
        allowed, blocked = ([] if ids is None else texts_of(ids, "a document id") for ids in (allow, block))
        if allow is None and not blocked:
            return None
        docs = self.graph_.docs
        mask = np.full(len(docs), allow is None, np.uint8)
        for ids, value in ((allowed, 1), (blocked, 0)):
            rows = docs.lookup(ids)
            mask[rows[rows >= 0]] = value
        return mask

    def _run(
        self,
        rows: NDArray[np.int32],
        scores: NDArray[np.float32],
        asked: str | Sequence[str],
        columns: tuple[str, str] = ("query", "doc"),
    ) -> Run:
        names = self.graph_.queries if columns == ("query", "similar") else self.graph_.docs
        single = isinstance(asked, str)
        return Run(rows, scores, names, (asked,) if isinstance(asked, str) else tuple(asked), single, columns)
