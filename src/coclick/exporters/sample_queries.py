"""Queries of the log: those exported with their vectors, one sample, and those that measure score errors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from coclick.arrays.csr import Csr
from coclick.exporters.limits import Weights
from coclick.exporters.model_vectors import ModelVectors

if TYPE_CHECKING:
    from coclick.exporters.base import Exporter

_N_MEASURED = 200  # queries on which the score error is measured
_N_MEASURED_INCREMENT = 10  # the same for an increment, whose base was measured
_DEPTH = 100  # documents of each of them
_SPARE = 20  # results beyond ten, to replace documents that the engine does not accept
_N_SAMPLES = 10  # queries that `check` asks
_N_TRIED, _N_TRIED_INCREMENT = 50, 20  # queries among which samples are picked


@dataclass(frozen=True)
class SampleQuery:
    """A query of the log with its ten best documents, as `coclick search` returns them."""

    query: str
    vector: Csr  # one row
    results: list[dict[str, Any]]

    def to_dict(self) -> dict[str, Any]:
        """Return the content of `expected.json`."""
        return {"query": self.query, "results": self.results}


def most_clicked_queries(source: ModelVectors, limit: int) -> list[str]:
    """Return the queries with the most clicks, most clicked first."""
    return source.graph.queries.take(source.queries_by_clicks[:limit]).to_list()


def pick_sample_queries(exporter: Exporter, count: int = _N_SAMPLES) -> list[SampleQuery]:
    """Return the most clicked queries with ten results, then those with the most results.

    Documents that the engine does not accept are not among the results.
    """
    source = exporter.source
    increment = exporter.base_version is not None
    tried = most_clicked_queries(source, _N_TRIED_INCREMENT if increment else _N_TRIED)
    run = source.model.search(tried, 10 + _SPARE)
    most_results = np.argsort(-(run.rows[:, :10] >= 0).sum(axis=1), kind="stable")
    picked = most_results[:count].tolist()
    vectors = source.query_vectors([tried[row] for row in picked])
    samples = []
    for place, row in enumerate(picked):
        hits = run.hits(row)
        accepted = exporter.filter.accepts_ids([doc for doc, _ in hits]).tolist()
        best = [place for place, kept in enumerate(accepted) if kept][:10]
        titles = [source.graph.title(doc) for doc in run.rows[row, best].tolist()]
        results = [
            {"doc": hits[place][0], "score": hits[place][1], "title": title}
            for place, title in zip(best, titles, strict=True)
        ]
        samples.append(SampleQuery(tried[row], vectors.row_slice(place, place + 1), results))
    return samples


def measure_score_error(exporter: Exporter) -> dict[str, Any]:
    """Return how far the engine's scores are from ours, over the best documents of some queries."""
    source = exporter.source
    count = _N_MEASURED if exporter.base_version is None else _N_MEASURED_INCREMENT
    texts = _measured_queries(source, count)
    queries = exporter.filter_query_vectors(source.query_vectors(texts))
    rounded = queries.with_data(exporter.round_query_weights(queries.data))
    found = source.model.search(texts, _DEPTH)
    errors, shares, kept = [], [], []
    for i in range(len(texts)):
        rows = found.rows[i][found.rows[i] >= 0]
        if not len(rows):
            continue
        ours = found.scores[i][: len(rows)].astype(np.float64)
        stored = exporter.filter.filter_doc_vectors(source.doc_vectors(rows))[0]
        theirs = exporter.score_unit * _dot_products(stored, *rounded.row(i))
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


def _measured_queries(source: ModelVectors, limit: int) -> list[str]:
    """One half are the most clicked queries, the other half is spread evenly over the log."""
    head = most_clicked_queries(source, limit // 2)
    count = len(source.graph.queries)
    spread = np.linspace(0, count - 1, min(limit // 2, count)).astype(np.int64)
    return list(dict.fromkeys([*head, *(source.graph.queries[row] for row in spread.tolist())]))


def _dot_products(rows: Csr, columns: NDArray[np.int32], weights: Weights) -> NDArray[np.float64]:
    """Dot products of all rows with one sparse vector."""
    vector = np.zeros(rows.columns)
    vector[columns] = weights
    row_of = np.repeat(np.arange(rows.rows), rows.row_nnz())
    return np.bincount(row_of, rows.data * vector[rows.indices], rows.rows).astype(np.float64)
