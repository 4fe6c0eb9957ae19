"""Replay rules on held-out clicks: what BM25 finds with and without each rule.

The log is split, by time if it has days. Rules are found again on the earlier part alone; only those that
it has are measured, because a rule that was learned from the held-out clicks would be flattered by them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from coclick.errors import UserError
from coclick.evaluation.holdout import grades_from_clicks, split_clicks
from coclick.evaluation.measures import MAIN_MEASURE, measure
from coclick.graph.click_graph import ClickGraph
from coclick.models.base import Model
from coclick.models.registry import create
from coclick.rules.applying import apply, phrases_in
from coclick.rules.earlier import keep_certain_sessions
from coclick.rules.mining import mine
from coclick.rules.rule import Effect, Rule
from coclick.text.query import Query

_MAX_QUERIES = 100  # held-out queries of a rule, the most clicked ones
_DEPTH = 10
_FEWER = 2  # times fewer clicks that a rule needs in the earlier part

Ranking = list[str]


def measure_effects(
    graph: ClickGraph, rules: Sequence[Rule], min_clicks: float, min_share: float, holdout: str | None = None
) -> list[Rule]:
    """Return the rules, each with its effect where that can be measured."""
    if not rules or not graph.texts:
        return list(rules)
    try:
        train, held_out, _ = split_clicks(graph, holdout)
    except UserError:
        if holdout is not None:
            raise
        return list(rules)  # too few clicks or days to hold some out
    train = keep_certain_sessions(graph, train, held_out)
    earlier = {rule.id for rule in mine(train, min_clicks / _FEWER, min_share)}
    known = [rule for rule in rules if rule.id in earlier]
    rows = np.flatnonzero(held_out.row_nnz() > 0)
    rows = rows[np.argsort(-held_out.row_sums()[rows], kind="stable")]
    queries = {int(row): graph.queries[int(row)] for row in rows}
    affected = _affected(known, queries)
    grades = {}
    for row in {row for found in affected.values() for row in found}:
        docs, clicks = held_out.row(row)
        names = [graph.docs[doc] for doc in docs.tolist()]
        grades[queries[row]] = dict(zip(names, grades_from_clicks(clicks).tolist(), strict=True))
    effects = _effects(create("bm25").fit(train), known, affected, queries, grades)
    return [replace(rule, effect=effects.get(rule.id)) for rule in rules]


def _affected(rules: Sequence[Rule], queries: Mapping[int, str]) -> dict[str, list[int]]:
    """For each rule the held-out queries that it applies to, most clicked first."""
    inside: dict[str, list[str]] = defaultdict(list)
    whole: dict[str, list[str]] = defaultdict(list)
    for rule in rules:
        (whole if rule.kind in ("pin", "exclude", "rewrite") else inside)[rule.left].append(rule.id)
    affected: dict[str, list[int]] = defaultdict(list)
    for row, text in queries.items():
        words = Query(text, row).tokens
        applying = [rule_id for phrase in phrases_in(words, inside.keys()) for rule_id in inside[phrase]]
        applying += whole.get(text, [])
        if " ".join(words) != text:
            applying += whole.get(" ".join(words), [])
        for rule_id in applying:
            if len(affected[rule_id]) < _MAX_QUERIES:
                affected[rule_id].append(row)
    return affected


def _effects(
    model: Model,
    rules: Sequence[Rule],
    affected: Mapping[str, list[int]],
    queries: Mapping[int, str],
    grades: Mapping[str, Mapping[str, int]],
) -> dict[str, Effect]:
    before = _values(grades, dict(zip(grades, _search(model, list(grades)), strict=True)))
    effects = {}
    for rule in rules:
        texts = [queries[row] for row in affected.get(rule.id, [])]
        if not texts:
            continue
        if rule.kind == "pin":
            found = [
                [rule.right, *(doc for doc in ranking if doc != rule.right)]
                for ranking in _search(model, texts)
            ]
        elif rule.kind == "exclude":
            rankings = _search(model, texts, _DEPTH + 1)  # another document moves up
            found = [[doc for doc in ranking if doc != rule.right] for ranking in rankings]
        else:
            found = _search(model, [apply(rule, Query(text, -1).tokens) for text in texts])
        after = _values({text: grades[text] for text in texts}, dict(zip(texts, found, strict=True)))
        means = (float(np.mean([values[text] for text in texts])) for values in (before, after))
        effects[rule.id] = Effect(next(means), next(means), len(texts))
    return effects


def _search(model: Model, texts: list[str], k: int = _DEPTH) -> list[Ranking]:
    return [[doc for doc, _ in hits] for hits in model.search(texts, k).hits()] if texts else []


def _values(grades: Mapping[str, Mapping[str, int]], rankings: Mapping[str, Ranking]) -> dict[str, float]:
    if not grades:
        return {}
    return {query: found[MAIN_MEASURE] for query, found in measure(grades, rankings, [MAIN_MEASURE]).items()}
