"""Split a graph into training data and held-out clicks.

Impressions, sessions, days and skips are split with the clicks, so that nothing about held-out clicks leaks
into training. Searches are split by query and by day, follow-ups by query; where that is not enough to take
the held-out clicks out of them, they are dropped. User views are not part of the log: like texts, they stay
with their queries and documents.
"""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from coclick.arrays.csr import Csr
from coclick.arrays.strings import Vocab
from coclick.errors import UserError, check_number
from coclick.graph.click_graph import ClickGraph, DailyStats, PairStats, SkipPairs
from coclick.graph.recency import HalfLife
from coclick.graph.search_tables import FollowUps, SearchStats

Mask = NDArray[np.bool_]
T = TypeVar("T", PairStats, DailyStats, SkipPairs, SearchStats, FollowUps)


class Split(NamedTuple):
    """A graph to train on, and the clicks that were held out."""

    train: ClickGraph
    held_out: Csr


def split(graph: ClickGraph, by: str = "time", fraction: float = 0.2, seed: int = 0) -> Split:
    """Hold out a fraction of the clicks.

    `by="time"`: the clicks of the last days; `"queries"`: all clicks of randomly chosen queries; `"pairs"`:
    randomly chosen pairs of queries that keep at least one other pair.
    """
    if not 0 < check_number(fraction, "fraction") < 1:
        raise UserError(f"fraction must be between 0 and 1, not {fraction}")
    random = np.random.default_rng(seed)
    if by == "time":
        return _by_time(graph, fraction)
    if by == "queries":
        return hold_out_queries(graph, _choose_queries(graph, fraction, random))
    if by == "pairs":
        return _by_pairs(graph, fraction, random)
    raise UserError(f"cannot split by {by!r}", hint="use time, queries or pairs")


def _choose_queries(graph: ClickGraph, fraction: float, random: np.random.Generator) -> Mask:
    """A random share of the queries. A graph that was split before lacks the clicks of the same share."""
    clicked = graph.clicks.row_nnz() > 0
    chosen = random.random(len(clicked)) < fraction
    if clicked.any() and not clicked[chosen].any():
        chosen = random.random(len(clicked)) < fraction
    return chosen


def hold_out_queries(graph: ClickGraph, held_out: Mask) -> Split:
    """Hold out all clicks of the marked queries, and remove their other data; they stay in the vocabulary."""
    chosen = np.repeat(held_out, graph.clicks.row_nnz())
    kept = None if graph.pairs is None else np.repeat(~held_out, np.diff(graph.pairs.indptr))
    skips = graph.skips
    if skips is not None:
        skips = _keep(skips, np.repeat(~held_out, np.diff(skips.indptr)))
    rest = _split(graph, np.where(chosen, graph.clicks.data, 0), *_keep_pairs(graph, kept), skips)
    return rest._replace(train=replace(rest.train, **_searches_without(graph, held_out)))


def _searches_without(graph: ClickGraph, held_out: Mask) -> dict[str, Any]:
    """The searches and follow-ups, without those from or to the marked queries."""
    searches, followups = graph.searches, graph.followups
    if searches is not None:
        searches = _keep(searches, np.repeat(~held_out, np.diff(searches.indptr)))
    if followups is not None:
        kept = np.repeat(~held_out, np.diff(followups.indptr)) & ~held_out[followups.next]
        followups = _keep(followups, kept)
    return {"searches": searches, "followups": followups}


def remove_queries(graph: ClickGraph, held_out: Mask) -> ClickGraph:
    """Remove the marked queries from the graph, with all their data."""
    rest = hold_out_queries(graph, held_out).train

    def kept_rows(indptr: NDArray[np.int64]) -> NDArray[np.int64]:
        return np.append(indptr[:-1][~held_out], indptr[-1])  # removed rows are empty

    kept = np.flatnonzero(~held_out)
    texts, order = graph.queries.take(kept), graph.queries.order
    new_ids = _pointers(~held_out)[order[~held_out[order]]].astype(np.int32)
    clicks = Csr(kept_rows(rest.clicks.indptr), rest.clicks.indices, rest.clicks.data, rest.clicks.columns)
    return replace(
        rest,
        queries=Vocab(texts.offsets, texts.data, new_ids),
        clicks=clicks,
        pairs=rest.pairs and replace(rest.pairs, indptr=kept_rows(rest.pairs.indptr)),
        skips=rest.skips and replace(rest.skips, indptr=kept_rows(rest.skips.indptr)),
        searches=rest.searches and replace(rest.searches, indptr=kept_rows(rest.searches.indptr)),
        followups=rest.followups
        and replace(
            rest.followups,
            indptr=kept_rows(rest.followups.indptr),
            next=_pointers(~held_out)[rest.followups.next].astype(np.int32),
        ),
        views={name: view.take_queries(kept) for name, view in graph.views.items()},
    )


def remove_doc_interactions(graph: ClickGraph, held_out: Mask) -> ClickGraph:
    """Remove all clicks, impressions and skips of the marked documents; they stay in the collection."""
    clicks = graph.clicks
    kept = None if graph.pairs is None else ~held_out[graph.pairs.docs]
    skips = graph.skips
    if skips is not None:
        skips = _keep(skips, ~held_out[skips.clicked] & ~held_out[skips.skipped])
    chosen = np.where(held_out[clicks.indices], clicks.data, 0)
    return _split(graph, chosen, *_keep_pairs(graph, kept), skips).train


def _by_pairs(graph: ClickGraph, fraction: float, random: np.random.Generator) -> Split:
    """Hold out pairs. All skips are dropped: they would reveal which held-out documents were clicked."""
    clicks = graph.clicks
    chosen = random.random(clicks.nnz) < fraction
    clicked = clicks.row_nnz() > 0
    chosen[clicks.indptr[:-1][clicked] + random.integers(0, clicks.row_nnz()[clicked])] = False
    kept = None
    if graph.pairs is not None:
        pattern = Csr(graph.pairs.indptr, graph.pairs.docs, np.empty(0, np.float32), clicks.columns)
        kept = clicks_of(clicks.with_data(chosen.astype(np.float32)), pattern) == 0
    return _split(graph, np.where(chosen, clicks.data, 0), *_keep_pairs(graph, kept), None)


def _by_time(graph: ClickGraph, fraction: float) -> Split:
    """Hold out the last days. Skips and follow-ups are dropped: they are not kept by day. Users are counted
    once per day."""
    pairs, daily = graph.pairs, graph.daily
    if daily is None or pairs is None:
        raise UserError("this graph has no days, so it cannot be split by time", hint="split by queries")
    days = np.unique(daily.day)
    cut = days[min(int(np.ceil(len(days) * (1 - fraction))), len(days) - 1)]
    half_life = HalfLife.from_stats(graph.stats)
    counted = daily.clicks if half_life is None else daily.clicks * half_life.factors(daily.day)
    late = _sums(np.where(daily.day >= cut, counted, 0), daily.indptr).astype(np.float32)
    held_out = clicks_of(Csr(pairs.indptr, pairs.docs, late, graph.clicks.columns), graph.clicks)
    daily = _keep(daily, daily.day < cut)
    counts: dict[str, Any] = {
        name: _sums(getattr(daily, name), daily.indptr).astype(np.int32)
        for name in ("impressions", "users", "sessions", "navigational")
        if getattr(pairs, name) is not None and getattr(daily, name) is not None
    }
    kept = np.diff(daily.indptr) > 0
    daily = replace(daily, indptr=np.append(daily.indptr[:-1][kept], daily.indptr[-1]))
    split = _split(graph, held_out, _keep(replace(pairs, **counts), kept), daily, None)
    if half_life is not None:
        split = split._replace(train=_refer_to(split.train, half_life, days, cut))
    searches = graph.searches
    if searches is None or searches.day is None:
        return split
    return split._replace(train=replace(split.train, searches=_keep(searches, searches.day < cut)))


def _refer_to(train: ClickGraph, half_life: HalfLife, days: NDArray[Any], cut: int) -> ClickGraph:
    """Let the clicks of the earlier days decay from their own last day, as if no later day were known."""
    before = days[days < cut]
    if not len(before):
        return train
    own = replace(half_life, last_day=int(before[-1]))
    factor = 1 / half_life.factors(before[-1:])[0]
    clicks = train.clicks.with_data((train.clicks.data * factor).astype(np.float32))
    return replace(train, clicks=clicks, stats={**train.stats, "half_life": own.stats})


def clicks_of(source: Csr, wanted: Csr) -> NDArray[np.float32]:
    """Return the values of `source` at the entries of `wanted`, 0 where it has none; rows are sorted."""
    width = np.int64(source.columns)
    keys = np.repeat(np.arange(source.rows), source.row_nnz()) * width + source.indices
    wanted_keys = np.repeat(np.arange(wanted.rows), wanted.row_nnz()) * width + wanted.indices
    if not len(keys):
        return np.zeros(len(wanted_keys), np.float32)
    position = np.minimum(np.searchsorted(keys, wanted_keys), len(keys) - 1)
    return np.where(keys[position] == wanted_keys, source.data[position], np.float32(0))


def _split(
    graph: ClickGraph,
    held_out: NDArray[Any],
    pairs: PairStats | None,
    daily: DailyStats | None,
    skips: SkipPairs | None,
) -> Split:
    clicks = graph.clicks
    rest = _drop_zeros(clicks, clicks.data - held_out)
    tables: dict[str, Any] = {"pairs": pairs, "daily": daily, "skips": skips}
    train = replace(graph, clicks=rest, **tables, searches=None, followups=None, artefact=None)
    return Split(train, _drop_zeros(clicks, held_out))


def _drop_zeros(pattern: Csr, data: NDArray[Any]) -> Csr:
    """Keep the entries whose new value is above zero, up to rounding."""
    return pattern.with_data(data.astype(np.float32)).positive(above=1e-6)


def _keep_pairs(graph: ClickGraph, kept: Mask | None) -> tuple[PairStats | None, DailyStats | None]:
    """Keep the marked pairs, and their days."""
    if graph.pairs is None or kept is None:
        return None, None
    daily = graph.daily
    if daily is not None:
        daily = _keep(daily, np.repeat(kept, np.diff(daily.indptr)))
        daily = replace(daily, indptr=np.append(daily.indptr[:-1][kept], daily.indptr[-1]))
    return _keep(graph.pairs, kept), daily


def _keep(table: T, rows: Mask) -> T:
    """Keep the marked rows of a table, and update its row pointers."""
    columns: dict[str, Any] = {}
    positions = rows
    if isinstance(table, DailyStats) and table.position_indptr is not None:  # each row has several positions
        positions = np.repeat(rows, np.diff(table.position_indptr))
        starts = table.position_indptr[:-1][rows]
        columns["position_indptr"] = np.append(_pointers(positions)[starts], np.count_nonzero(positions))
    for column in fields(table):
        values = getattr(table, column.name)
        if values is None or column.name in columns:
            continue
        if column.name == "indptr":
            columns["indptr"] = _pointers(rows)[values]
        else:
            columns[column.name] = values[positions if column.name in ("position", "shown") else rows]
    return replace(table, **columns)


def _pointers(kept: Mask) -> NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(kept)])


def _sums(values: NDArray[Any], indptr: NDArray[np.int64]) -> NDArray[np.float64]:
    totals = np.concatenate([[0.0], np.cumsum(values, dtype=np.float64)])
    return totals[indptr[1:]] - totals[indptr[:-1]]
