"""Merge two graphs: the graph of both logs together.

Clicks, impressions, sessions, days, positions, skips, searches and follow-ups are added up. The result equals
the graph built from both logs, with two exceptions, because a graph keeps counts instead of events:

- `users` of a pair, of a pair on a day, or of a follow-up counts a user twice who is in both logs. It is
  exact if the logs have no users in common, and an upper bound otherwise.
- A session that goes on from one log into the other counts as two.

What only one of the graphs recorded is left out, so that every count covers all clicks: `stats["not_merged"]`
names it. Texts and rows of user views come from the second graph where the first has none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coclick.arrays.csr import Csr, check_count
from coclick.arrays.strings import Strings, Vocab
from coclick.graph.click_graph import ClickGraph, DailyStats, PairStats, SkipPairs
from coclick.graph.recency import HalfLife, common_half_life
from coclick.graph.search_tables import FollowUps, SearchStats
from coclick.graph.user_views import merge_views

Longs = NDArray[np.int64]
SEARCH_COUNTS = ("searches", "searches_without_results", "searches_without_clicks")  # in the statistics
_COUNTS = ("impressions", "users", "sessions", "navigational")


def merge(first: ClickGraph, second: ClickGraph) -> ClickGraph:
    """Return the graph of two logs together."""
    graphs = (first, second)
    queries = Vocab.from_list([*first.queries, *second.queries])
    docs = Vocab.from_list([*first.docs, *second.docs])
    new_query = [queries.lookup(graph.queries.to_list()) for graph in graphs]
    new_doc = [docs.lookup(graph.docs.to_list()) for graph in graphs]
    ids = _Ids(new_query, new_doc, len(queries), len(docs))
    half_life, factors = common_half_life([HalfLife.from_stats(graph.stats) for graph in graphs])
    edges = [graph.clicks.to_scipy().tocoo() for graph in graphs]
    clicks = Csr.from_triples(
        np.concatenate([new[edge.row] for new, edge in zip(new_query, edges, strict=True)]),
        np.concatenate([new[edge.col] for new, edge in zip(new_doc, edges, strict=True)]),
        np.concatenate([edge.data * np.float32(f) for edge, f in zip(edges, factors, strict=True)]),
        (len(queries), len(docs)),
    )
    pairs, daily = _merge_history(graphs, ids)
    parts = [(graph.views, q, d) for graph, q, d in zip(graphs, new_query, new_doc, strict=True)]
    merged = ClickGraph(
        queries,
        docs,
        clicks,
        _merge_texts(graphs, ids),
        pairs,
        daily,
        _merge_skips(graphs, ids),
        views=merge_views(parts, len(queries), len(docs)),
        searches=_merge_searches(graphs, ids),
        followups=_merge_followups(graphs, ids),
    )
    lost = sorted((first.provides | second.provides) - merged.provides)
    stats = {**_merge_stats(graphs), **({"not_merged": lost} if lost else {})}
    return replace(merged, stats=stats if half_life is None else {**stats, "half_life": half_life.stats})


@dataclass(frozen=True)
class _Ids:
    """The rows of each graph's queries and documents in the merged graph."""

    queries: Sequence[NDArray[np.int32]]
    docs: Sequence[NDArray[np.int32]]
    n_queries: int
    n_docs: int

    def pair_keys(self, graph: int, indptr: Longs, docs: NDArray[np.int32]) -> Longs:
        """Return a number for each (query, document) of a table by query."""
        query = np.repeat(self.queries[graph], np.diff(indptr)).astype(np.int64)
        return query * self.n_docs + self.docs[graph][docs]


class _Union:
    """The distinct keys of both graphs, ascending, and where the rows of each graph are among them."""

    def __init__(self, keys: Sequence[Longs]) -> None:
        self.keys, at = np.unique(np.concatenate(keys), return_inverse=True)
        self.at = np.split(at.ravel(), [len(keys[0])])

    def sums(self, values: Sequence[NDArray[Any]], dtype: type = np.int64) -> NDArray[Any]:
        """Add up the values of equal keys."""
        total: NDArray[Any] = np.zeros(len(self.keys), dtype)
        for at, value in zip(self.at, values, strict=True):
            total[at] += value  # the keys of one graph are distinct
        return total

    def pointers(self, rows: int, width: int) -> Longs:
        """Return the row pointers of keys that are row · width + column."""
        return np.searchsorted(self.keys, np.arange(rows + 1, dtype=np.int64) * width).astype(np.int64)


def _merge_history(graphs: Sequence[ClickGraph], ids: _Ids) -> tuple[PairStats | None, DailyStats | None]:
    """Merge the tables of pairs and of days."""
    tables = [graph.pairs for graph in graphs if graph.pairs is not None]
    if len(tables) < len(graphs):
        return None, None
    union = _Union([ids.pair_keys(i, table.indptr, table.docs) for i, table in enumerate(tables)])
    pairs = PairStats(
        union.pointers(ids.n_queries, ids.n_docs),
        (union.keys % ids.n_docs).astype(np.int32),
        **_merge_counts(tables, union),
    )
    days = [graph.daily for graph in graphs if graph.daily is not None]
    return pairs, _merge_days(days, union) if len(days) == len(graphs) else None


def _merge_days(tables: Sequence[DailyStats], pairs: _Union) -> DailyStats:
    width = 1 + max(int(table.day.max(initial=0)) for table in tables)
    rows = _Union(
        [
            np.repeat(at, np.diff(table.indptr)) * width + table.day
            for at, table in zip(pairs.at, tables, strict=True)
        ]
    )
    return DailyStats(
        rows.pointers(len(pairs.keys), width),
        (rows.keys % width).astype(np.int32),
        rows.sums([table.clicks for table in tables], np.float64).astype(np.float32),
        **_merge_counts(tables, rows),
        **_merge_positions(tables, rows),
    )


def _merge_positions(tables: Sequence[DailyStats], rows: _Union) -> dict[str, Any]:
    """Merge the histograms of positions."""
    pointers, positions, shown = (
        [found for table in tables if (found := getattr(table, name)) is not None]
        for name in ("position_indptr", "position", "shown")
    )
    if len(pointers) < len(tables):
        return {}
    width = 1 + max(int(position.max(initial=0)) for position in positions)
    cells = _Union(
        [
            np.repeat(at, np.diff(indptr)) * width + position
            for at, indptr, position in zip(rows.at, pointers, positions, strict=True)
        ]
    )
    return {
        "position_indptr": cells.pointers(len(rows.keys), width),
        "position": (cells.keys % width).astype(np.int32),
        "shown": _as_counts(cells.sums(shown), "daily", "shown"),
    }


def _merge_counts(tables: Sequence[PairStats] | Sequence[DailyStats], union: _Union) -> dict[str, Any]:
    """Add up the counts that all tables have."""
    merged = {}
    for name in _COUNTS:
        columns = [getattr(table, name) for table in tables]
        if all(column is not None for column in columns):
            merged[name] = _as_counts(union.sums(columns), tables[0].table, name)
    return merged


def _merge_skips(graphs: Sequence[ClickGraph], ids: _Ids) -> SkipPairs | None:
    tables = [graph.skips for graph in graphs if graph.skips is not None]
    if len(tables) < len(graphs):
        return None
    clicked = _Union([ids.pair_keys(i, table.indptr, table.clicked) for i, table in enumerate(tables)])
    union = _Union(
        [
            at * ids.n_docs + ids.docs[i][table.skipped]
            for i, (at, table) in enumerate(zip(clicked.at, tables, strict=True))
        ]
    )
    pair = clicked.keys[union.keys // ids.n_docs]
    return SkipPairs(
        np.searchsorted(pair, np.arange(ids.n_queries + 1, dtype=np.int64) * ids.n_docs).astype(np.int64),
        (pair % ids.n_docs).astype(np.int32),
        (union.keys % ids.n_docs).astype(np.int32),
        _as_counts(union.sums([table.count for table in tables]), "skips", "count"),
    )


def _merge_searches(graphs: Sequence[ClickGraph], ids: _Ids) -> SearchStats | None:
    """Merge the searches: by day if both graphs have days; None if only one of them has."""
    tables = [graph.searches for graph in graphs if graph.searches is not None]
    days = [table.day for table in tables if table.day is not None]
    if len(tables) < len(graphs) or len(days) not in (0, len(graphs)):
        return None
    width = 1 + max((int(day.max(initial=0)) for day in days), default=0)
    union = _Union(
        [
            np.repeat(ids.queries[i], np.diff(table.indptr)).astype(np.int64) * width
            + (0 if table.day is None else table.day)
            for i, table in enumerate(tables)
        ]
    )
    unknown = any(table.without_results is None for table in tables)
    counts = {
        name: _as_counts(union.sums([getattr(table, name) for table in tables]), "searches", name)
        for name in ("searches", "without_clicks", *(() if unknown else ("without_results",)))
    }
    day = (union.keys % width).astype(np.int32) if days else None
    return SearchStats(union.pointers(ids.n_queries, width), day=day, **counts)


def _merge_followups(graphs: Sequence[ClickGraph], ids: _Ids) -> FollowUps | None:
    tables = [graph.followups for graph in graphs if graph.followups is not None]
    if len(tables) < len(graphs):
        return None
    width = ids.n_queries
    union = _Union(
        [
            np.repeat(new, np.diff(table.indptr)).astype(np.int64) * width + new[table.next]
            for new, table in zip(ids.queries, tables, strict=True)
        ]
    )
    counts = {
        name: _as_counts(union.sums([getattr(table, name) for table in tables]), "followups", name)
        for name in ("count", "users")
    }
    return FollowUps(union.pointers(width, width), (union.keys % width).astype(np.int32), **counts)


def _merge_texts(graphs: Sequence[ClickGraph], ids: _Ids) -> dict[str, Strings]:
    """Take each text from the first graph that has it."""
    texts = {}
    for name in sorted({name for graph in graphs for name in graph.texts}):
        column = [""] * ids.n_docs
        for graph, new in reversed([*zip(graphs, ids.docs, strict=True)]):
            for doc, text in zip(new.tolist(), graph.texts.get(name, ()), strict=False):
                column[doc] = text or column[doc]
        texts[name] = Strings.from_list(column)
    return texts


def _merge_stats(graphs: Sequence[ClickGraph]) -> dict[str, Any]:
    """Merge the statistics of the builds, as far as both have them and they can be merged.

    The language is that of the larger log.
    """
    largest = max(graphs, key=lambda graph: float(graph.clicks.data.sum(dtype=np.float64)))
    merge_by: dict[str, Any] = {
        **dict.fromkeys(("sessions", *SEARCH_COUNTS), sum),
        "first": min,
        "last": max,
        "language": lambda _: largest.stats["language"],
    }
    return {
        name: merge_values(graph.stats[name] for graph in graphs)
        for name, merge_values in merge_by.items()
        if all(name in graph.stats for graph in graphs)
    }


def _as_counts(values: Longs, table: str, column: str) -> NDArray[np.int32]:
    check_count(int(values.max(initial=0)), table, column)
    return values.astype(np.int32)
