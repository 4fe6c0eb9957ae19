"""Queries of the log: those that travel with an export, one to try it, and what rounding does to scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from coclick.arrays.csr import Csr
from coclick.exporters.content import Content
from coclick.exporters.limits import Weights

if TYPE_CHECKING:
    from coclick.exporters.engine import Engine

_MEASURED = 200  # queries by which the error of scores is measured
_DEPTH = 100  # of their documents
_SPARE = 20  # results beyond ten, in place of documents that the engine cannot hold
_TRIED = 50  # queries among which one with a full page of results is looked for


@dataclass(frozen=True)
class Sample:
    """A query of the log with its ten best documents, as `coclick search` finds them."""

    query: str
    vector: Csr  # the only row
    results: list[dict[str, Any]]

    def to_dict(self) -> dict[str, Any]:
        """For a file beside the query in the engine's own words."""
        return {"query": self.query, "results": self.results}


def head_queries(content: Content, most: int) -> list[str]:
    """The queries with the most clicks, those first."""
    clicks = content.graph.clicks.row_sums()
    rows = np.argsort(-clicks, kind="stable")[:most]
    return [content.graph.queries[row] for row in rows.tolist()]


def sample_query(engine: Engine) -> Sample:
    """The query with the most clicks that has ten results or, where none has, the most of them.

    Documents that the engine cannot hold are no results.
    """
    content = engine.content
    tried = head_queries(content, _TRIED)
    run = content.model.search(tried, 10 + _SPARE)
    best = int(np.argmax((run.rows[:, :10] >= 0).sum(axis=1)))  # the first of equals
    hits = run.hits(best)
    held = engine.fitting.holds([doc for doc, _ in hits]).tolist()
    results = [
        {"doc": doc, "score": score, "title": content.model.title(doc)}
        for (doc, score), kept in zip(hits, held, strict=True)
        if kept
    ]
    return Sample(tried[best], content.queries([tried[best]]), results[:10])


def measured_error(engine: Engine) -> dict[str, Any]:
    """How far the engine's scores are from ours, over the best documents of some queries."""
    content = engine.content
    texts = _measured_queries(content)
    queries = engine.usable(content.queries(texts))
    asked = queries.with_data(engine.asked(queries.data))
    found = content.model.search(texts, _DEPTH)
    errors, shares, kept = [], [], []
    for i in range(len(texts)):
        rows = found.rows[i][found.rows[i] >= 0]
        if not len(rows):
            continue
        ours = found.scores[i][: len(rows)].astype(np.float64)
        stored = engine.fitting.fit(content.documents(rows))[0]
        theirs = engine.unit * _products(stored, *asked.row(i))
        errors.append(np.abs(theirs - ours))
        shares.append(float(errors[-1].max() / ours[0]))
        top = np.argsort(-theirs, kind="stable")[:10]
        kept.append(float((ours[top] >= ours[min(10, len(ours)) - 1]).mean()))
    flat = np.concatenate(errors) if errors else np.zeros(1)
    return {
        "queries": len(errors),
        "documents_each": _DEPTH,
        "largest": float(flat.max()),
        "mean": float(flat.mean()),
        "largest_of_best_score": max(shares, default=0.0),
        "of_our_top_10_in_theirs": float(np.mean(kept)) if kept else 1.0,
    }


def _measured_queries(content: Content) -> list[str]:
    """Half of them the most clicked, half from everywhere."""
    head = head_queries(content, _MEASURED // 2)
    count = len(content.graph.queries)
    spread = np.linspace(0, count - 1, min(_MEASURED // 2, count)).astype(np.int64)
    return list(dict.fromkeys([*head, *(content.graph.queries[row] for row in spread.tolist())]))


def _products(rows: Csr, columns: NDArray[np.int32], weights: Weights) -> NDArray[np.float64]:
    """The dot products of rows with one vector."""
    vector = np.zeros(rows.columns)
    vector[columns] = weights
    row_of = np.repeat(np.arange(rows.rows), rows.row_nnz())
    return np.bincount(row_of, rows.data * vector[rows.indices], rows.rows).astype(np.float64)
