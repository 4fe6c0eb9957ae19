"""Collect the counts of a simulated log into a click graph, as `build` would make it from every event."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from coclick.arrays.csr import Csr
from coclick.arrays.strings import Strings, Vocab
from coclick.graph.click_graph import ClickGraph, DailyStats, PairStats, SkipPairs
from coclick.simulate.traffic import Counts
from coclick.simulate.users import FIRST_DAY
from coclick.simulate.world import World
from coclick.text.normalise import normalise_batch

Columns = tuple[NDArray[Any], ...]  # of one length


class LogGraph:
    """Collects blocks of counts: all clicked pairs, and everything about the queries that have an edge."""

    def __init__(self, world: World, min_clicks: int) -> None:
        self._world = world
        self._min_clicks = min_clicks
        self._clicked: list[Columns] = []
        self._pairs: list[Columns] = []
        self._positions: list[Columns] = []
        self._skips: list[Columns] = []

    def add(self, counts: Counts) -> None:
        """Add the counts of one block of queries."""
        queries, pool, clicks = counts.queries, counts.pool, counts.clicks
        impressions = counts.shown.sum(2)
        row, slot = np.nonzero(clicks)
        self._clicked.append(
            _columns(queries[row], pool[row, slot], clicks[row, slot], impressions[row, slot])
        )
        kept = np.any(clicks >= self._min_clicks, axis=1)
        row, slot = np.nonzero(impressions * kept[:, None])
        self._pairs.append(
            _columns(queries[row], pool[row, slot], clicks[row, slot], counts.navigational[row, slot])
        )
        row, slot, position = np.nonzero(counts.shown * kept[:, None, None])
        self._positions.append(
            _columns(queries[row], pool[row, slot], position + 1, counts.shown[row, slot, position])
        )
        width = pool.shape[1]
        rest, skipped = np.divmod(counts.skip_key, width)
        row, clicked = np.divmod(rest, width)
        use = kept[row]
        row = row[use]
        self._skips.append(
            _columns(queries[row], pool[row, clicked[use]], pool[row, skipped[use]], counts.skip_count[use])
        )

    def clicked_pairs(self) -> Columns:
        """Return queries, documents, clicks and impressions of all pairs with a click."""
        return _concatenate(self._clicked)

    def graph(self) -> ClickGraph:
        """Return the graph of pairs with at least `min_clicks` clicks."""
        world = self._world
        query, doc, clicks, navigational = _concatenate(self._pairs)
        kept = np.unique(query)
        texts = normalise_batch([world.queries.texts[number] for number in kept.tolist()])
        queries, docs = Vocab.from_list(texts), Vocab.from_list(world.documents.ids)
        row_of = np.full(len(world.queries), -1, np.int32)  # by the query's number in the world
        row_of[kept] = queries.lookup(texts)
        doc_of = docs.lookup(world.documents.ids)
        size = (len(queries), len(docs))

        row, doc = row_of[query], doc_of[doc]
        order = np.lexsort((doc, row))
        row, doc, clicks, navigational = row[order], doc[order], clicks[order], navigational[order]
        del query, order
        edge = clicks >= self._min_clicks
        begin, position, shown = self._shown_positions(row_of, doc_of)
        impressions = _ints(np.add.reduceat(shown, begin[:-1], dtype=np.int64))
        by_pair = (impressions, None, impressions, navigational)
        day = np.full(len(row), FIRST_DAY.astype("datetime64[D]").astype(int), np.int32)
        return ClickGraph(
            queries,
            docs,
            Csr.from_triples(row[edge], doc[edge], clicks[edge], size),
            _texts(world, docs),
            PairStats(np.searchsorted(row, np.arange(len(queries) + 1)), doc, *by_pair),
            DailyStats(
                np.arange(len(row) + 1), day, clicks.astype(np.float32), *by_pair, begin, position, shown
            ),
            self._skip_pairs(row_of, doc_of, len(queries)),
            {"format": "simulated", "min_clicks": self._min_clicks},
        )

    # The two largest tables are sorted by methods of their own, which drop the unsorted columns at their end.

    def _shown_positions(self, row_of: NDArray[np.int32], doc_of: NDArray[np.int32]) -> Columns:
        """Impressions by pair and position: where each pair begins, positions, and impressions."""
        query, doc, position, shown = _concatenate(self._positions)
        row, doc = row_of[query], doc_of[doc]
        del query
        order = np.lexsort((position, doc, row))
        first = np.diff(row[order], prepend=-1) != 0
        first |= np.diff(doc[order], prepend=-1) != 0
        return np.append(np.flatnonzero(first), len(order)), position[order], shown[order]

    def _skip_pairs(self, row_of: NDArray[np.int32], doc_of: NDArray[np.int32], queries: int) -> SkipPairs:
        """The skip pairs, by query, clicked and skipped document."""
        query, clicked, skipped, count = _concatenate(self._skips)
        row, clicked, skipped = row_of[query], doc_of[clicked], doc_of[skipped]
        del query
        order = np.lexsort((skipped, clicked, row))
        pointers = np.searchsorted(row[order], np.arange(queries + 1))
        return SkipPairs(pointers, clicked[order], skipped[order], count[order])


def _texts(world: World, docs: Vocab) -> dict[str, Strings]:
    documents = world.documents
    columns = {
        "title": documents.titles,
        "body": documents.bodies,
        "url": documents.urls,
        "anchor": documents.anchors,
    }
    place = docs.lookup(documents.ids)
    order = np.argsort(place, kind="stable")
    return {name: Strings.from_list(column).take(order) for name, column in columns.items()}


def _concatenate(blocks: list[Columns]) -> Columns:
    """The columns of all blocks, which are dropped to save memory."""
    parts = [*blocks]
    blocks.clear()
    return tuple(np.concatenate(column) for column in zip(*parts, strict=True))


def _columns(*columns: NDArray[np.integer]) -> Columns:
    return tuple(map(_ints, columns))


def _ints(values: NDArray[np.integer]) -> NDArray[np.int32]:
    return values.astype(np.int32)
