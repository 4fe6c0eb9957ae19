"""Features of a pair of query and document: the scores and evidence of all parts, and counts.

    per part           score, score divided by its maximum over the collection, 1 / rank (0 below the
                       candidates), and evidence for the query
    of the query       words, characters, clicks in the log
    of the document    clicks, clicked queries, characters of each text field

No feature depends on the other candidates. Evidence that a part does not have for a query is missing (NaN).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from coclick.graph.click_graph import ClickGraph
from coclick.models.base import DocMask, Model
from coclick.results import top_rows
from coclick.storage.state import stored
from coclick.text.query import Query

Floats = NDArray[np.float32]
Mask = NDArray[np.bool_]
_TINY = np.float32(1e-30)
OF_PARTS = ("score", "relative", "rank")
OF_QUERIES = ("query words", "query characters", "query clicks")
OF_DOCS = ("doc clicks", "doc queries")


@dataclass(frozen=True)
class QuerySignals:
    """The scores and evidence of all parts for one query, the input of `RankingFeatures.features`."""

    per_part: NDArray[np.float32]  # (score, relative score, 1 / rank) of each part × documents
    per_query: Floats
    found: Mask  # documents that any part finds for the query
    candidates: NDArray[np.int32]


@stored
@dataclass(frozen=True)
class RankingFeatures:
    """The features of a set of parts, in the order of the trees."""

    parts: list[str]
    evidence: list[list[str]]  # names for each part
    fields: list[str]
    depth: int  # candidates per part
    lengths: NDArray[np.float32]  # characters, fields × documents

    @classmethod
    def of(cls, parts: Sequence[Model], graph: ClickGraph, depth: int) -> RankingFeatures:
        """Create the features of these parts and of the documents of a graph."""
        fields = sorted(graph.texts)
        lengths = np.array([np.diff(graph.texts[name].offsets) for name in fields], np.float32)
        evidence = [sorted(part.evidence_names) for part in parts]
        return cls([str(part) for part in parts], evidence, fields, depth,
                   lengths.reshape(len(fields), len(graph.docs)))  # fmt: skip

    @property
    def names(self) -> list[str]:
        """The name of each feature."""
        scores = [f"{part} {kind}" for part in self.parts for kind in OF_PARTS]
        by_part = zip(self.parts, self.evidence, strict=True)
        evidence = [f"{part} {name}" for part, names in by_part for name in names]
        lengths = [f"doc {field} characters" for field in self.fields]
        return [*scores, *evidence, *OF_QUERIES, *OF_DOCS, *lengths]

    def signals(self, parts: Sequence[Model], query: Query, mask: DocMask = None) -> QuerySignals:
        """Return the scores of all parts for a query; `mask` filters the candidates."""
        graph = parts[0].graph_
        per_part = np.empty((len(parts) * len(OF_PARTS), len(graph.docs)), np.float32)
        found = np.zeros(len(graph.docs), bool)
        candidates = []
        for i, part in enumerate(parts):
            scores = part._score_all(query)
            relative = scores / max(scores.max(initial=0), _TINY)
            per_part[3 * i : 3 * i + 3] = scores, relative, reciprocal_ranks(scores, self.depth)
            if part.uses_query or not any(other.uses_query for other in parts):
                found |= scores > 0
                shown = scores if mask is None else np.where(mask > 0, scores, np.float32(0))
                candidates.append(top_rows(shown, self.depth)[0])
        of_query = self._query_values(parts, query)
        return QuerySignals(per_part, of_query, found, np.unique(np.concatenate(candidates)))

    def features(self, parts: Sequence[Model], signals: QuerySignals, docs: NDArray[np.integer]) -> Floats:
        """Return the features of documents, one row per document."""
        graph = parts[0].graph_
        of_parts = signals.per_part[:, docs].T
        of_query = np.broadcast_to(signals.per_query, (len(docs), len(signals.per_query)))
        clicks = graph.clicks_by_doc.take(docs)
        of_docs = np.stack([clicks.row_sums(), clicks.row_nnz(), *self.lengths[:, docs]], axis=1)
        return np.concatenate([of_parts, of_query, of_docs], axis=1, dtype=np.float32)

    def _query_values(self, parts: Sequence[Model], query: Query) -> Floats:
        """The features that are the same for all documents."""
        graph = parts[0].graph_
        values: list[float] = []
        for part, names in zip(parts, self.evidence, strict=True):
            evidence = part._evidence(query)
            values += [evidence.get(name, np.nan) for name in names]
        clicks = graph.clicks.row(query.row)[1].sum() if query.row >= 0 else 0
        return np.array([*values, len(query.text.split()), len(query.text), clicks], np.float32)


def reciprocal_ranks(scores: Floats, depth: int) -> Floats:
    """Return 1 / rank for the best `depth` documents, 0 for others; equal scores have the same rank."""
    ranks = np.zeros(len(scores), np.float32)
    best, values = top_rows(scores, depth)
    if len(best):
        tied = np.flatnonzero(scores >= values[-1])  # including ties with the last score
        ranks[tied] = 1 / (1 + np.searchsorted(-values, -scores[tied]))
    return ranks
