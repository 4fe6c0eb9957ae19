"""Features of a pair of query and document: the scores and evidence of all parts, and counts.

    per part           score, score divided by its maximum over the collection, 1 / rank (0 below the
                       candidates), and evidence for the query
    of the query       words, characters, clicks in the log, clicked documents
    of the document    clicks, recent clicks, fields: see `coclick.ltr.doc_values`

No feature depends on the other candidates. Evidence that a part does not have for a query is missing (NaN).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import compress
from typing import Annotated, ClassVar

import numpy as np
from numpy.typing import NDArray

from coclick.graph.click_graph import ClickGraph
from coclick.ltr._feature_kernels import describe, find_best
from coclick.ltr.doc_values import OF_CLICKS, OF_DAYS, doc_features, with_clicks
from coclick.models.base import DocMask, Model
from coclick.results import top_rows
from coclick.storage.layout import MayBeMissing, Shape
from coclick.storage.state import stored
from coclick.text.query import Query

Floats = NDArray[np.float32]
Mask = NDArray[np.bool_]
_MAX_SCORES = 1 << 21  # of a part, in memory at a time
_MAX_BLOCK = 256  # queries
MAX_SCANNED = 100_000  # documents that a part may scan for each query
OF_PARTS = ("score", "relative", "rank")
OF_QUERIES = ("query words", "query characters", "query clicks", "query docs")


@dataclass(frozen=True)
class QuerySignals:
    """The scores and evidence of all parts for one query, the input of `RankingFeatures.features`."""

    scores: Floats  # parts × documents, all or those of `rows`
    best: Floats  # parts × depth: highest scores, descending, then 0; of all documents or of the candidates
    per_query: Floats
    finding: Mask  # parts whose scores above 0 find a document
    candidates: NDArray[np.int32]
    rows: NDArray[np.int32] | None = None  # the documents of the scores, ascending; None: all

    def scores_of(self, docs: NDArray[np.integer]) -> Floats:
        """Return the scores of documents, parts × documents."""
        return self.scores[:, docs if self.rows is None else np.searchsorted(self.rows, docs)]

    def found(self, docs: NDArray[np.integer]) -> Mask:
        """Mark the documents that any part finds for the query."""
        return np.any(self.scores_of(docs)[self.finding] > 0, axis=0)


@stored
@dataclass(frozen=True)
class RankingFeatures:
    """The features of a set of parts, in the order of the trees."""

    dimensions: ClassVar = ("docs", "features")
    parts: list[str]
    evidence: list[list[str]]  # names for each part
    depth: int  # candidates per part
    doc_names: list[str]
    doc_values: Annotated[NDArray[np.float32], Shape("docs", "doc_names"), MayBeMissing]

    def sizes(self) -> dict[str, int]:
        """Return the number of features of documents, and of all."""
        return {"doc_names": len(self.doc_names), "features": len(self.names)}

    @classmethod
    def of(
        cls, parts: Sequence[Model], graph: ClickGraph, depth: int, *, doc_clicks: bool = True
    ) -> RankingFeatures:
        """Create the features of parts and of the documents of a graph; `doc_clicks`: with their clicks."""
        evidence = [sorted(part.evidence_names) for part in parts]
        names, values = doc_features(graph)
        if not doc_clicks:
            fixed = [i for i, name in enumerate(names) if name not in (*OF_CLICKS, *OF_DAYS)]
            names, values = [names[i] for i in fixed], values[:, fixed]
        return cls([str(part) for part in parts], evidence, depth, names, values)

    def on(self, graph: ClickGraph, *, recent: bool) -> RankingFeatures:
        """Return the same features with the clicks of another graph; `recent`: with those of recent days."""
        if OF_CLICKS[0] not in self.doc_names:
            return self
        return replace(self, doc_values=with_clicks(self.doc_values, graph, recent=recent))

    @property
    def names(self) -> list[str]:
        """The name of each feature."""
        scores = [f"{part} {kind}" for part in self.parts for kind in OF_PARTS]
        by_part = zip(self.parts, self.evidence, strict=True)
        evidence = [f"{part} {name}" for part, names in by_part for name in names]
        return [*scores, *evidence, *OF_QUERIES, *self.doc_names]

    def signals(
        self,
        parts: Sequence[Model],
        query: Query,
        mask: DocMask = None,
        docs: NDArray[np.int32] | None = None,
    ) -> QuerySignals:
        """Return the scores of some documents for a query: `docs`, or the candidates, filtered by `mask`.

        The parts find candidates through their indexes.
        """
        depth = min(self.depth, len(self.doc_values))
        finding, searched = _finding(parts, len(self.doc_values))
        found = {i: parts[i]._search([query], depth, None) for i in np.flatnonzero(searched).tolist()}
        candidates = _union(rows for i, (rows, _) in found.items() if finding[i])
        allowed = candidates
        if mask is not None:
            masked = (part._search([query], depth, mask)[0] for part in compress(parts, finding))
            allowed = _union(masked)
        scored = allowed if docs is None else np.unique(docs)
        scores = np.stack([part._score(query, scored) for part in parts])
        best = np.zeros((len(parts), depth), np.float32)
        for i, part in enumerate(parts):
            if i in found:
                highest = found[i][1][found[i][0] >= 0]
            else:
                of_candidates = scores[i] if scored is candidates else part._score(query, candidates)
                highest = top_rows(of_candidates, depth)[1]
            best[i, : len(highest)] = highest
        return QuerySignals(scores, best, self._query_values(parts, [query])[0], finding, allowed, scored)

    def signals_of(self, parts: Sequence[Model], queries: Sequence[Query]) -> Iterator[QuerySignals]:
        """Return the same for many queries, whose scores are computed block by block."""
        size = min(max(_MAX_SCORES // max(len(self.doc_values), 1), 1), _MAX_BLOCK)
        for first in range(0, len(queries), size):
            block = queries[first : first + size]
            scores = np.stack([part._score_all_of(block) for part in parts], axis=1)
            values = self._query_values(parts, block)
            for i in range(len(block)):
                yield self._signals(parts, scores[i], values[i])

    def features(self, signals: QuerySignals, docs: NDArray[np.integer]) -> Floats:
        """Return the features of documents, one row per document."""
        n_scores, n_query = len(OF_PARTS) * len(signals.scores), len(signals.per_query)
        features = np.empty((len(docs), n_scores + n_query + self.doc_values.shape[1]), np.float32)
        describe(np.ascontiguousarray(signals.scores_of(docs)), signals.best, features)
        features[:, n_scores : n_scores + n_query] = signals.per_query
        features[:, n_scores + n_query :] = self.doc_values[docs]
        return features

    def _signals(self, parts: Sequence[Model], scores: Floats, per_query: Floats) -> QuerySignals:
        """The signals of a query, given the scores of all documents."""
        n_docs = scores.shape[1]
        finding, searched = _finding(parts, n_docs)
        best = np.zeros((len(parts), min(self.depth, n_docs)), np.float32)
        is_candidate = np.zeros(n_docs, bool)
        find_best(scores, searched, finding, best, is_candidate)
        candidates = np.flatnonzero(is_candidate).astype(np.int32)
        if not searched.all():
            find_best(np.ascontiguousarray(scores[:, candidates]), ~searched, finding, best, is_candidate)
        return QuerySignals(scores, best, per_query, finding, candidates)

    def _query_values(self, parts: Sequence[Model], queries: Sequence[Query]) -> Floats:
        """The features that are the same for all documents, one row per query."""
        graph = parts[0].graph_
        columns: list[list[float]] = []
        for part, names in zip(parts, self.evidence, strict=True):
            evidence = part._evidence_of(queries) if names else []
            columns += [[found.get(name, np.nan) for found in evidence] for name in names]
        clicks = [graph.clicks.row(query.row)[1] if query.row >= 0 else () for query in queries]
        columns += [
            [len(query.text.split()) for query in queries],
            [len(query.text) for query in queries],
            [float(np.sum(of_query)) for of_query in clicks],
            [len(of_query) for of_query in clicks],
        ]
        return np.array(columns, np.float32).T


def _union(several: Iterable[NDArray[np.int32]]) -> NDArray[np.int32]:
    """The documents of several rankings, ascending."""
    rows = np.unique(np.concatenate([one.reshape(-1) for one in several]))
    return rows[rows >= 0]


def _finding(parts: Sequence[Model], n_docs: int) -> tuple[Mask, Mask]:
    """The parts that find documents: those that use the query, if there are any; and those to search with.

    In large collections, parts that look at every document only score what the others find.
    """
    by_query = np.array([part.uses_query for part in parts])
    by_index = np.array([not part.scans_docs or n_docs <= MAX_SCANNED for part in parts])
    if not by_index.any():
        by_index[:] = True
    finding = by_query & by_index
    return (finding if finding.any() else by_index), by_index
