"""Which queries of a graph may be suggested, and how much each is used.

A query is suggested to people who did not type it. So it needs clicks, enough users if that is asked for, and
no resemblance to personal data. Spellings that differ by blanks, hyphens and apostrophes only are suggested
once, in their most used form.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from coclick.arrays.strings import Strings, Vocab
from coclick.errors import UserError, corrupt_error
from coclick.graph.click_graph import ClickGraph
from coclick.logs.scrub import scrub_batch

MAX_QUERY_BYTES = 200  # longer queries are not suggested
_PRIOR_SEARCHES = 10  # as many searches with the average success are added to each query
_SEPARATORS = re.compile(r"[ '’-]+(?!\d)|(?<!\d)[ '’-]+")  # all but those between two digits
_CHUNK = 100_000


@dataclass(frozen=True)
class SelectedQueries:
    """Queries that may be suggested, sorted by their bytes."""

    texts: Vocab
    rows: NDArray[np.int64]  # in the graph
    weights: NDArray[np.float32]  # how much each is used
    shown: NDArray[np.bool_]  # whether it is suggested itself; another spelling is otherwise
    shown_weights: NDArray[np.float32]  # of all its spellings
    stats: dict[str, int]  # queries by the reason why they are left out


def select_queries(graph: ClickGraph, min_users: int = 1) -> SelectedQueries:
    """Return the queries of a graph that may be suggested: see the top of this module."""
    _check_content(graph)
    order = graph.queries.order if len(graph.queries.order) else np.arange(len(graph.queries))
    rows = order.astype(np.int64)
    weights = query_weights(graph)[rows]
    lengths = np.diff(graph.queries.offsets)[rows]
    keep = np.ones(len(rows), np.bool_)
    stats = {}
    for reason, allowed in (
        ("without_clicks", weights > 0),
        ("too_few_users", _query_users(graph, min_users)[rows] >= min_users),
        ("too_long", lengths <= MAX_QUERY_BYTES),
    ):
        stats[reason] = int(np.sum(keep & ~allowed))
        keep &= allowed
    rows, weights = rows[keep], weights[keep]
    texts = graph.queries.take(rows)
    personal = np.concatenate(
        [np.empty(0, np.bool_), *(scrub_batch(part)[1] > 0 for part in texts.chunks(_CHUNK))]
    )
    stats["like_personal_data"] = int(personal.sum())
    rows, weights = rows[~personal], weights[~personal].astype(np.float32)
    texts = graph.queries.take(rows)
    shown, shown_weights = _merge_spellings(texts, weights)
    stats["other_spellings"] = int(np.sum(~shown))
    return SelectedQueries(Vocab(texts.offsets, texts.data), rows, weights, shown, shown_weights, stats)


def _check_content(graph: ClickGraph) -> None:
    """Raise if a pointer of what is read here is out of bounds."""
    graph.clicks.checked("the clicks")
    sizes = len(graph.queries), len(graph.queries.data)
    parts = {"queries": (graph.queries.offsets, *sizes)}
    if graph.searches is not None:
        parts["searches"] = graph.searches.indptr, sizes[0], len(graph.searches.searches)
    if graph.pairs is not None:
        parts["pairs"] = graph.pairs.indptr, sizes[0], len(graph.pairs.docs)
    for name, (pointers, rows, entries) in parts.items():
        is_sound = len(pointers) == rows + 1 and pointers[0] == 0 and pointers[-1] == entries
        if not is_sound or np.any(np.diff(pointers) < 0):
            raise corrupt_error(f"the {name} of the graph are")


def query_weights(graph: ClickGraph) -> NDArray[np.float64]:
    """Return how much each query is used: its searches times the share of them that lead to a click.

    The share is estimated with a few searches of average success, so that a rare query is not judged by one
    search. A log without searches has clicks only, which are the weights then. 0: never clicked.
    """
    clicks = _row_sums(graph.clicks.indptr, graph.clicks.data)
    if graph.searches is None:
        return clicks
    searches, failed = (
        _row_sums(graph.searches.indptr, counts)
        for counts in (graph.searches.searches, graph.searches.without_clicks)
    )
    average = 1 - failed.sum() / max(searches.sum(), 1)
    success = (searches - failed + _PRIOR_SEARCHES * average) / (searches + _PRIOR_SEARCHES)
    return np.where(clicks > 0, np.maximum(searches, 1) * success, 0)


def _query_users(graph: ClickGraph, min_users: int) -> NDArray[np.int64]:
    """At least how many users each query has: the most that one of its documents has."""
    known = int(graph.stats.get("min_users", 1))
    if min_users <= known:
        return np.full(len(graph.queries), known)
    if graph.pairs is None or graph.pairs.users is None:
        raise UserError(
            f"the graph does not say how many users a query has, so --min-users {min_users} cannot be kept",
            hint="build the graph from a log with a column for the user",
        )
    users = np.full(len(graph.queries), known)
    owner = np.repeat(np.arange(len(users)), np.diff(graph.pairs.indptr))
    np.maximum.at(users, owner, graph.pairs.users)
    return users


def _row_sums(indptr: NDArray[np.int64], values: NDArray[np.generic]) -> NDArray[np.float64]:
    sums = np.concatenate([[0.0], np.cumsum(values, dtype=np.float64)])
    return sums[indptr[1:]] - sums[indptr[:-1]]


def _merge_spellings(
    texts: Strings, weights: NDArray[np.float32]
) -> tuple[NDArray[np.bool_], NDArray[np.float32]]:
    """Which texts are the most used of their spellings, and the weight of all spellings of each."""
    numbers: dict[str, int] = {}
    group = np.array(
        [
            numbers.setdefault(_SEPARATORS.sub("", text) or text, len(numbers))
            for chunk in texts.chunks()
            for text in chunk
        ],
        np.int64,
    )
    by_weight = np.lexsort((np.arange(len(texts)), -weights, group))
    shown = np.zeros(len(texts), np.bool_)
    shown[by_weight[np.diff(group[by_weight], prepend=-1) != 0]] = True
    return shown, np.bincount(group, weights, len(numbers))[group].astype(np.float32)
