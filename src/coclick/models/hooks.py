"""`ModelHooks`: what a model declares and implements. `base.Model` has the public methods that call it.

A hook has the name of the public method that it serves, with an underscore in front. Hooks get rows of the
graph, and a `Query`, which is normalised, looked up and split into words once, however many parts a model
has.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from coclick.arrays.csr import Csr
from coclick.arrays.strings import Strings
from coclick.graph.added_documents import RowsByView
from coclick.graph.click_graph import ClickGraph
from coclick.models.document_expansion import ExpansionWords, clicked_queries_with
from coclick.models.presets import Preset
from coclick.progress import Progress
from coclick.results import Contribution, Explanation, padded, top_rows
from coclick.storage.artefact import Artefact
from coclick.text.query import Query

TopK = tuple[NDArray[np.int32], NDArray[np.float32]]  # rows and scores, padded, one line per query
DocMask = NDArray[np.uint8] | None  # one byte per document: 1 if it may be returned; None if all may


class ModelHooks:
    """Attributes and hooks of a model. `_fit` and `_score` are needed; the others belong to capabilities."""

    name: ClassVar[str]
    summary: ClassVar[str] = ""  # one line for tables and help
    presets: ClassVar[Mapping[str, Preset]] = {}  # parameters as papers set them
    legacy_parameters: ClassVar[Mapping[str, Any]] = {}  # of models saved before a parameter existed
    requires: tuple[str, ...] = ()  # beyond clicks: names of `ClickGraph.provides`
    capabilities: frozenset[str] = frozenset()  # of `CAPABILITIES`
    evidence_names: tuple[str, ...] = ()  # what `evidence` may return
    max_docs: float = math.inf  # above it `compare` leaves the model out unless asked for
    relative_cost: float = 1.0  # of training and evaluating, BM25 = 1: `compare` plans its time with it
    uses_query: bool = True
    scans_docs: bool = False  # whether a search looks at every document: it takes longer the more there are
    uses_clicks: bool = True  # whether training reads clicks and queries; otherwise texts of documents only

    _state_annotations: ClassVar[Mapping[str, Any]] = {}  # of the class itself: see `coclick.storage.layout`
    graph_: ClickGraph
    stats_: dict[str, Any]
    artefact_: Artefact | None = None

    def _fit(self, graph: ClickGraph, progress: Progress) -> None:
        """Learn from the graph into attributes that end in `_`."""
        raise NotImplementedError  # abstract

    def _score(self, query: Query, docs: NDArray[np.int32]) -> NDArray[np.float32]:
        """Score some documents, given as rows of the graph."""
        raise NotImplementedError  # abstract

    def _score_all(self, query: Query) -> NDArray[np.float32]:
        """Score all documents; override it where there is a faster way."""
        return self._score(query, np.arange(len(self.graph_.docs), dtype=np.int32))

    def _score_all_of(self, queries: Sequence[Query]) -> NDArray[np.float32]:
        """Score all documents for each query, one row per query; override it where there is a faster way."""
        return np.stack([self._score_all(query) for query in queries])

    def _score_texts(self, query: Query, texts: Mapping[str, Strings]) -> NDArray[np.float32]:
        """Score documents that are not in the graph, given by their fields."""
        raise NotImplementedError  # abstract

    def _score_texts_with_features(
        self, query: Query, texts: Mapping[str, Strings], features: RowsByView
    ) -> NDArray[np.float32]:
        """Score documents by their fields and by features of user views; for models with user views."""
        raise NotImplementedError  # abstract for models with user views

    def _search(self, queries: Sequence[Query], k: int, mask: DocMask) -> TopK:
        """Find the k best rows of each query; override it where not all documents must be scored."""
        rows, scores = padded(len(queries), k)
        for i, query in enumerate(queries):
            found = self._score_all(query)
            if mask is not None:
                found = np.where(mask > 0, found, np.float32(0))
            best, values = top_rows(found, k)
            rows[i, : len(best)], scores[i, : len(best)] = best, values
        return rows, scores

    def _similar_queries(self, queries: Sequence[Query], k: int) -> TopK:
        """Find the k queries nearest to each query; the query itself may be among them."""
        raise NotImplementedError  # abstract

    def _similar_docs(self, docs: NDArray[np.int32], k: int) -> TopK:
        """Find the k documents nearest to each document; the document itself may be among them."""
        raise NotImplementedError  # abstract

    def _expand(self, query: Query) -> list[tuple[str, float]]:
        """List expansion words of a query with their weights, heaviest first."""
        raise NotImplementedError  # abstract

    @property
    def _expansion_words(self) -> ExpansionWords:
        """The vocabulary of document expansions."""
        raise NotImplementedError  # abstract

    def _expand_docs(self, docs: NDArray[np.int32], excluded: Csr, k: int) -> TopK:
        """Find the k heaviest words of each document, except those in its row of `excluded`."""
        raise NotImplementedError  # abstract

    def _explain_expansion(self, doc: int, term: int, weight: float, clicks: int | None) -> Contribution:
        """Explain the weight of a word of a document's expansion: by default, by the document's clicks."""
        words = self._expansion_words
        evidence = clicked_queries_with(self.graph_, doc, term, words, clicks)
        return Contribution("word", words.display_terms[term], weight, *evidence)

    def _explain(self, query: Query, doc: int, clicks: int | None) -> Explanation:
        """Split the score of a document into contributions."""
        raise NotImplementedError  # abstract

    def _evidence(self, query: Query) -> dict[str, float]:
        """Rate the evidence for the scores: numbers from 0 (none) to 1, by names of `evidence_names`."""
        return {}

    def _evidence_of(self, queries: Sequence[Query]) -> list[dict[str, float]]:
        """Rate the evidence for each query; override it where there is a faster way."""
        return [self._evidence(query) for query in queries]

    def _known_text(self, query: Query) -> float:
        """Return the share of the query's text that the model knows, 0 … 1; 0 if it reads no texts."""
        return 0.0

    def _add(self, texts: Mapping[str, Strings]) -> None:
        """Add the documents that were just appended to the graph, by their fields."""
        raise NotImplementedError  # abstract

    def _add_with_features(self, texts: Mapping[str, Strings], features: RowsByView) -> None:
        """Add documents by their fields and by features of user views; for models with user views."""
        raise NotImplementedError  # abstract for models with user views

    @property
    def _dimensions(self) -> Mapping[str, str]:
        """Further names of dimensions for declarations of state, where they depend on parameters."""
        return {}

    def _find_defect(self) -> str | None:
        """Return why the state of an opened model does not fit together, or None; read no large array."""
        return None

    def _update_capabilities(self) -> None:
        """Set the capabilities that depend on what was learned; called after fitting and opening."""

    def _count_unreachable(self, added: int) -> int:
        """Count those of the documents added last that no query can find."""
        return 0

    def _describe_topics(self, words: int) -> list[dict[str, Any]]:
        """List the topics with their most probable words, largest first."""
        raise NotImplementedError  # abstract

    def _translate(self, word: str, k: int) -> list[tuple[str, float]]:
        """List the query words that a title word translates to, with probabilities."""
        raise NotImplementedError  # abstract
