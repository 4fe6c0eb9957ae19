"""Rules from follow-ups: what people change when they search again, in their own words.

Two queries of a session that differ in one place say "x became y": "hbp" became "high blood pressure" in
"hbp diet", then "high blood pressure diet". These moves are counted over all queries of a log. Of the
searches that went on from queries with x, enough must have gone on with y in its place, clearly more than
back from y to x, and the new wording must fail less often than the old one. A move that only drops x is a
`delete`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coclick.graph.click_graph import ClickGraph
from coclick.rules.rule import FOLLOW_UPS, Rule, wilson_interval, with_evidence
from coclick.rules.spelling import is_other_number, is_respelling
from coclick.rules.words import Floats, LogWords, Phrase

_MIN_SHARE = 0.1  # lower end of the interval: people who search again have many ways to do so
_MIN_RATIO = 1.5  # of moves to moves back
_MAX_FAILURE = 0.75  # of the new wording, relative to the old one
_MIN_USERS = 2
_MIN_QUERIES = 2  # that a synonym or delete was seen in; of one query it is a rewrite
_MAX_IN_TITLE = 0.2  # share of the clicks on titles with a word that may be deleted
_MAX_WORDS = 4  # of a side, unless it is the whole query


class _Moves(NamedTuple):
    """What became of x in all follow-ups in which it became the same y."""

    queries: list[int]
    next: list[int]
    counts: list[int]
    users: int  # of the follow-up that most people made
    in_context: bool  # in some of them, other words stayed


def find_in_follow_ups(graph: ClickGraph, words: LogWords, min_searches: float) -> list[Rule]:
    """Return the rules that at least `min_searches` follow-ups of a graph support."""
    table = graph.followups
    if table is None:
        return []
    failures, searches = _failures(graph), _searches(graph)
    followed = np.diff(np.concatenate([[0], np.cumsum(table.count, dtype=np.int64)])[table.indptr])
    moves = _count_moves(graph, words)
    rules = []
    for (left, right), found in moves.items():
        n = sum(found.counts)
        back = sum(moves[right, left].counts) if (right, left) in moves else 0
        if n < min_searches or found.users < _MIN_USERS or n < _MIN_RATIO * back:
            continue
        failed, still_failed = (
            np.average(failures[rows], weights=found.counts) for rows in (found.queries, found.next)
        )
        if still_failed > _MAX_FAILURE * failed:
            continue
        more_used = searches[found.next].sum() >= searches[found.queries].sum()
        kind, left_text, right_text = _name(words, left, right, found, more_used)
        if not kind:
            continue
        asked = words.queries.rows_with(left) if kind != "rewrite" else np.unique(found.queries)
        went_on = int(followed[asked].sum())
        if wilson_interval(n, went_on)[0] >= _MIN_SHARE:
            rules.append(with_evidence(kind, left_text, right_text, n, went_on, evidence=FOLLOW_UPS))
    return rules


def _count_moves(graph: ClickGraph, words: LogWords) -> dict[tuple[Phrase, Phrase], _Moves]:
    found: dict[tuple[Phrase, Phrase], list[tuple[int, int, int, int, bool]]] = defaultdict(list)
    for query, following, count, users in _each_follow_up(graph):
        old, new = words.queries.text(query), words.queries.text(following)
        if not old or not new:
            continue
        start = _common_start(old, new)
        end = _common_start(old[start:][::-1], new[start:][::-1])
        left, right = tuple(old[start : len(old) - end]), tuple(new[start : len(new) - end])
        in_context = start + end > 0
        if in_context and max(len(left), len(right)) > _MAX_WORDS:
            continue
        if left == right or (left and right and (set(left) <= set(right) or set(right) <= set(left))):
            continue  # the same words in another order, or more and fewer of them in several places
        found[left, right].append((query, following, count, users, in_context))
    return {
        sides: _Moves(
            [one[0] for one in each],
            [one[1] for one in each],
            [one[2] for one in each],
            max(one[3] for one in each),
            any(one[4] for one in each),
        )
        for sides, each in found.items()
    }


def _each_follow_up(graph: ClickGraph) -> Iterator[tuple[int, int, int, int]]:
    table = graph.followups
    assert table is not None
    queries = np.repeat(np.arange(len(graph.queries)), np.diff(table.indptr))
    columns = (queries, table.next, table.count, table.users)
    yield from zip(*(column.tolist() for column in columns), strict=True)


def _common_start(one: list[int], two: list[int]) -> int:
    length = 0
    for a, b in zip(one, two, strict=False):
        if a != b:
            break
        length += 1
    return length


def _name(
    words: LogWords, left: Phrase, right: Phrase, found: _Moves, more_used: bool
) -> tuple[str, str, str]:
    """The kind of a rule and its sides as text; no kind if the words do not make one."""
    several = len(set(found.queries)) >= _MIN_QUERIES
    if not left or not words.has_content(left) or (right and not words.has_content(right)):
        return "", "", ""
    text = words.display(words.queries, words.query_clicks, left)
    if not right:
        return "delete" if several and not _is_in_titles(words, left) else "", text, ""
    other = words.display(words.queries, words.query_clicks, right)
    if text == other or is_other_number(text, other):
        return "", "", ""
    if is_respelling(text, other):
        return "correction" if more_used else "", text, other
    if several and found.in_context:
        return "synonym", text, other
    return "rewrite", _plain(words, found.queries[0]), _plain(words, found.next[0])


def _plain(words: LogWords, row: int) -> str:
    return " ".join(words.query_words(row))


def _is_in_titles(words: LogWords, phrase: Phrase) -> bool:
    """Whether people who search for a phrase click titles that have it."""
    asked = words.pairs_of_queries(words.queries.rows_with(phrase))
    inside = asked[words.titles.have(words.doc_of[asked], phrase)]
    return bool(words.clicks[inside].sum() > _MAX_IN_TITLE * words.clicks[asked].sum())


def _searches(graph: ClickGraph) -> Floats:
    """How often each query was searched, or clicked if the log has no searches."""
    table = graph.searches
    return graph.clicks.row_sums() if table is None else _sums(table.indptr, table.searches)


def _failures(graph: ClickGraph) -> Floats:
    """The share of each query's searches without a click; without searches, 1 if it has no clicks, else 0.

    One failed and one successful search are added, so that a rare query is not judged by one search.
    """
    table = graph.searches
    if table is None:
        return np.where(graph.clicks.row_nnz() > 0, 0.0, 1.0)
    searches, failed = (_sums(table.indptr, column) for column in (table.searches, table.without_clicks))
    return (failed + 1) / (searches + 2)


def _sums(indptr: NDArray[np.int64], values: NDArray[np.int32]) -> Floats:
    total = np.concatenate([[0.0], np.cumsum(values, dtype=np.float64)])
    return np.asarray(total[indptr[1:]] - total[indptr[:-1]], np.float64)
