"""Clicks that are held out while parts are trained, so that a combination learns from them how to add up.

Of the queries with clicks, a fifth loses all of them: examples of unseen queries. The others lose the clicks
of the last fifth of the days or, without days, each click with a probability of a fifth: examples of seen
queries. And random documents lose their clicks, the same share as has none in the log, at most half: users
may want documents that they were never shown, and without these no example would be about one.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from coclick.arrays.csr import Csr
from coclick.graph.click_graph import ClickGraph
from coclick.graph.split import Split, remove_doc_interactions, remove_queries
from coclick.models.base import Model
from coclick.models.combination.learning import Example
from coclick.models.registry import create
from coclick.progress import Progress, quiet
from coclick.text.query import Query

FOLDS = 5  # a fifth of the queries, days or clicks is held out
MAX_HIDDEN_SHARE = 0.5  # of the documents that lose their clicks
MAX_QUERIES = 500  # of unseen and of seen queries each
DEPTH = 100  # candidates from each part


@dataclass(frozen=True)
class HeldOutClicks:
    """A graph to train parts on, and clicks that it does not contain: for each query, documents and gains."""

    train: ClickGraph
    gains: dict[str, dict[int, float]]
    _parts: dict[str, Model] = field(default_factory=dict, repr=False)

    @classmethod
    def split(cls, graph: ClickGraph) -> HeldOutClicks:
        """Hold out clicks of a graph; the same ones every time."""
        clicked = np.flatnonzero(graph.clicks.row_nnz())
        unseen = np.zeros(len(graph.queries), bool)
        unseen[clicked] = [_hash(graph.queries[row]) % FOLDS == 0 for row in clicked.tolist()]
        earlier, later = _by_time(graph) or _by_chance(graph)
        seen = (later.row_nnz() > 0) & (earlier.clicks.row_nnz() > 0) & ~unseen
        gains = _gains(graph, graph.clicks, unseen) | _gains(graph, later, seen)
        rest = remove_queries(earlier, unseen | (earlier.clicks.row_nnz() == 0))
        share = min(float((graph.clicks_by_doc.row_nnz() == 0).mean()), MAX_HIDDEN_SHARE)
        hidden = np.random.default_rng(1).random(len(graph.docs)) < share
        return cls(remove_doc_interactions(rest, hidden), gains)

    def examples(self, parts: Sequence[str], progress: Progress = quiet) -> list[Example]:
        """Return the best documents of the parts, trained on the rest, for queries with held-out clicks."""
        if not self.train.clicks.nnz or not self.gains:
            return []
        trained = [self._trained(part, progress) for part in parts]
        queries = Query.list_of(list(self.gains), self.train.queries)
        with progress("held-out clicks"):
            found = np.concatenate([part._search(queries, self._depth, None)[0] for part in trained], axis=1)
            several = zip(queries, found, self.gains.values(), strict=True)
            return [
                self._example(trained, query, np.unique(docs[docs >= 0]), gains)
                for query, docs, gains in several
            ]

    @property
    def _depth(self) -> int:
        return min(DEPTH, len(self.train.docs))

    def _trained(self, part: str, progress: Progress) -> Model:
        """A part, trained once for all combinations that contain it."""
        if part not in self._parts:
            self._parts[part] = create(part).fit(self.train, progress)
        return self._parts[part]

    def _example(
        self, parts: Sequence[Model], query: Query, docs: NDArray[np.int32], gains: dict[int, float]
    ) -> Example:
        scores = np.stack([part._score(query, docs) for part in parts], axis=1).astype(np.float64)
        return Example(
            np.maximum(scores, 0),
            np.array([gains.get(doc, 0.0) for doc in docs.tolist()]),
            has_clicks(self.train, query),
            clicked_docs(self.train, docs),
        )


def has_clicks(graph: ClickGraph, query: Query) -> bool:
    """Return whether a query has clicks."""
    return query.row >= 0 and len(graph.clicks.row(query.row)[0]) > 0


def clicked_docs(graph: ClickGraph, docs: NDArray[np.integer]) -> NDArray[np.bool_]:
    """Return which of the documents have clicks."""
    pointers = graph.clicks_by_doc.indptr
    return np.asarray(pointers[docs + 1] > pointers[docs])


def _by_time(graph: ClickGraph) -> Split | None:
    """The clicks of the last days, or None if that leaves no two periods."""
    if graph.daily is None or len(np.unique(graph.daily.day)) < 2:
        return None
    return graph.split("time", 1 / FOLDS)


def _by_chance(graph: ClickGraph) -> Split:
    """Each click with a probability of a fifth: a pair with several may keep some. Impressions stay."""
    clicks = graph.clicks
    count = np.maximum(np.rint(clicks.data), 1).astype(np.int64)
    chosen = np.minimum(np.random.default_rng(0).binomial(count, 1 / FOLDS), clicks.data).astype(np.float32)
    kept, held_out = (clicks.with_data(data).positive(above=1e-6) for data in (clicks.data - chosen, chosen))
    return Split(replace(graph, clicks=kept, searches=None, followups=None, artefact=None), held_out)


def _gains(graph: ClickGraph, clicks: Csr, wanted: NDArray[np.bool_]) -> dict[str, dict[int, float]]:
    """Logarithmic clicks of at most MAX_QUERIES of the wanted queries."""
    rows = np.flatnonzero(wanted)
    rows = np.sort(np.random.default_rng(0).permutation(rows)[:MAX_QUERIES])
    return {
        graph.queries[row]: dict(
            zip(clicks.row(row)[0].tolist(), np.log1p(clicks.row(row)[1]).tolist(), strict=True)
        )
        for row in rows.tolist()
    }


def _hash(query: str) -> int:
    digest = hashlib.blake2b(query.encode("utf-8", "replace"), digest_size=8)
    return int.from_bytes(digest.digest(), "big")
