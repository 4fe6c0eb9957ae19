"""Rewrites: whole queries whose words fail, beside a query that people use for the same documents.

Two queries are compared by their clicks: the cosine of what people click for them. The other query must
find the documents by its words, and this one must not.
"""

from __future__ import annotations

import numpy as np

from coclick.graph.click_graph import ClickGraph
from coclick.rules.rule import Rule, with_evidence
from coclick.rules.unmatched import unmatched_words
from coclick.rules.words import Bools, Floats, LogWords

_MIN_COSINE = 0.9  # of the clicks of two queries
_MAX_MATCHED = 0.5  # words of the failing query that the titles of its clicks have
_MIN_MATCHED = 0.99  # the same for the other query
_MAX_QUERIES_PER_DOC = 200  # most clicked ones that are compared


def find_rewrites(graph: ClickGraph, words: LogWords, min_clicks: float, covered: Bools) -> list[Rule]:
    """Return rewrites of queries that are not `covered` by other rules."""
    matched = _matched_share(words)
    totals = words.query_clicks
    failing = (totals >= min_clicks) & (matched <= _MAX_MATCHED) & ~covered
    rules = []
    for row in np.flatnonzero(failing).tolist():
        other = _best_other(graph, words, row, matched)
        if other is None:
            continue
        docs, counts = graph.clicks.row(row)
        reached = np.isin(docs, graph.clicks.row(other)[0])
        left, right = _plain(words, row), _plain(words, other)
        if left and right:
            rules.append(
                with_evidence("rewrite", left, right, float(counts[reached].sum()), float(totals[row]))
            )
    return rules


def _best_other(graph: ClickGraph, words: LogWords, row: int, matched: Floats) -> int | None:
    """The query with the most similar clicks that finds its documents by words; None if there is none."""
    docs, counts = graph.clicks.row(row)
    dots: dict[int, float] = {}
    for doc, count in zip(docs.tolist(), counts.tolist(), strict=True):
        queries, clicks = graph.clicks_by_doc.row(doc)
        order = np.argsort(-clicks, kind="stable")[:_MAX_QUERIES_PER_DOC]
        for other, weight in zip(queries[order].tolist(), clicks[order].tolist(), strict=True):
            dots[other] = dots.get(other, 0.0) + count * weight
    length = float(np.sqrt((counts.astype(np.float64) ** 2).sum()))
    best: tuple[float, int] | None = None
    asked = set(words.queries.text(row))
    for other, dot in dots.items():
        if matched[other] < _MIN_MATCHED or words.query_clicks[other] <= words.query_clicks[row]:
            continue
        if set(words.queries.text(other)) <= asked:  # nothing that is not searched for anyway
            continue
        theirs = graph.clicks.row(other)[1].astype(np.float64)
        cosine = dot / (length * float(np.sqrt((theirs**2).sum())))
        if cosine >= _MIN_COSINE and (best is None or words.query_clicks[other] > best[0]):
            best = float(words.query_clicks[other]), other
    return None if best is None else best[1]


def _matched_share(words: LogWords) -> Floats:
    """For each query the share of its words that clicked titles have, weighted by clicks."""
    left, _ = unmatched_words(words)
    missing = np.bincount(words.query_of, words.clicks * np.diff(left.indptr), len(words.queries))
    kept = ~words.is_stop[words.queries.stems]
    n_stems = len(words.stem_of)
    keys = np.unique(words.queries.text_of[kept] * n_stems + words.queries.stems[kept])
    lengths = np.bincount(keys // n_stems, minlength=len(words.queries))
    whole = np.maximum(words.query_clicks * lengths, 1e-300)
    return np.where(lengths > 0, 1 - missing / whole, 0.0)


def _plain(words: LogWords, row: int) -> str:
    """The words of a query, if one of them is neither a stop word nor a number."""
    return " ".join(words.query_words(row)) if words.has_content(words.queries.text(row)) else ""
