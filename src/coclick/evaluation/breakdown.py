"""Measures by groups of queries and documents: seen or unseen, number of clicks, number of words."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from coclick.evaluation.judgments import Judgments
from coclick.evaluation.measures import MAIN_MEASURE, Rankings, mean, measure
from coclick.graph.click_graph import ClickGraph
from coclick.text.analyzer import Analyzer
from coclick.text.languages import AUTO, resolve_language
from coclick.text.normalise import normalise

_CLICKS = (("≤10", 10.0), ("≤100", 100.0), ("≤1000", 1000.0), (">1000", math.inf))
_MAX_WORDS = 5  # queries with at least as many words are one group

Groups = dict[str, dict[str, list[str]]]


def query_groups(graph: ClickGraph, judgments: Judgments) -> Groups:
    """Return {grouping: {group: query ids}}, by seen or unseen, number of clicks and number of words."""
    rows = graph.queries.lookup([normalise(text) for text in judgments.queries.values()])
    clicks = np.where(rows >= 0, graph.clicks.row_sums()[rows], 0)
    analyzer = Analyzer(resolve_language(AUTO, graph.stats))
    groups: Groups = {"query": {"seen": [], "unseen": []}, "clicks": {}, "words": {}}
    groups["clicks"] = {"none": [], **{name: [] for name, _ in _CLICKS}}
    groups["words"] = {_word_group(count): [] for count in range(1, _MAX_WORDS + 1)}
    for (query, text), count in zip(judgments.queries.items(), clicks.tolist(), strict=True):
        groups["query"]["seen" if count > 0 else "unseen"].append(query)
        bin_ = "none" if count == 0 else next(name for name, limit in _CLICKS if count <= limit)
        groups["clicks"][bin_].append(query)
        groups["words"][_word_group(len(analyzer.whole_words(text)))].append(query)
    return {by: {name: ids for name, ids in found.items() if ids} for by, found in groups.items()}


def measure_groups(
    groups: Groups, by_query: dict[str, dict[str, float]]
) -> dict[str, dict[str, dict[str, float]]]:
    """Return the mean measures of each group of queries."""
    return {
        by: {name: {"queries": len(ids), **mean(by_query, ids)} for name, ids in found.items()}
        for by, found in groups.items()
    }


def measure_by_document(
    graph: ClickGraph, judgments: Judgments, rankings: Rankings, gain: str
) -> dict[str, dict[str, Any]]:
    """Return the main measure over only the documents with clicks, and over only those without.

    The other documents are removed from both judgments and rankings.
    """
    docs = sorted({doc for found in judgments.grades.values() for doc in found}.union(*rankings.values()))
    rows = graph.docs.lookup(docs)
    clicked = np.where(rows >= 0, graph.clicks_by_doc.row_nnz()[rows] > 0, False)
    seen = {doc for doc, known in zip(docs, clicked, strict=True) if known}
    groups = {"seen": seen, "unseen": set(docs) - seen}
    answer = {}
    for name, members in groups.items():
        grades = {
            query: kept
            for query, found in judgments.grades.items()
            if any((kept := {doc: grade for doc, grade in found.items() if doc in members}).values())
        }
        if grades:
            only = {q: [doc for doc in rankings.get(q, ()) if doc in members] for q in grades}
            values = measure(grades, only, (MAIN_MEASURE,), gain)
            answer[name] = {"queries": len(grades), **mean(values, list(grades))}
    return answer


def _word_group(count: int) -> str:
    return str(max(count, 1)) if count < _MAX_WORDS else f"{_MAX_WORDS}+"
