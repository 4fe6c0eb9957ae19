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
        kept, query = np.unique(query, return_inverse=True)
        texts = normalise_batch([world.queries.texts[number] for number in kept.tolist()])
        queries, docs = Vocab.from_list(texts), Vocab.from_list(world.documents.ids)
        row_of, doc_of = queries.lookup(texts), docs.lookup(world.documents.ids)
        size = (len(queries), len(docs))

        row, doc = row_of[query], doc_of[doc]
        order = np.lexsort((doc, row))
        row, doc, clicks, navigational = row[order], doc[order], clicks[order], navigational[order]
        edge = clicks >= self._min_clicks
        pointers = np.searchsorted(row, np.arange(len(queries) + 1))

        shown_query, shown_doc, position, shown = _concatenate(self._positions)
        shown_row = row_of[np.searchsorted(kept, shown_query)]
        order = np.lexsort((position, doc_of[shown_doc], shown_row))
        key = shown_row[order] * np.int64(size[1]) + doc_of[shown_doc[order]]
        begin = np.append(np.flatnonzero(np.diff(key, prepend=-1)), len(key))
        impressions = np.add.reduceat(shown[order], begin[:-1])
        by_pair = (_ints(impressions), None, _ints(impressions), _ints(navigational))
        day = np.full(len(row), FIRST_DAY.astype("datetime64[D]").astype(int), np.int32)

        skip_query, clicked, skipped, count = _concatenate(self._skips)
        skip_row = row_of[np.searchsorted(kept, skip_query)]
        clicked, skipped = doc_of[clicked], doc_of[skipped]
        skip = np.lexsort((skipped, clicked, skip_row))
        return ClickGraph(
            queries,
            docs,
            Csr.from_triples(row[edge], doc[edge], clicks[edge], size),
            _texts(world, docs),
            PairStats(pointers, _ints(doc), *by_pair),
            DailyStats(
                np.arange(len(row) + 1), day, clicks.astype(np.float32), *by_pair,
                begin, _ints(position[order]), _ints(shown[order]),
            ),
            SkipPairs(
                np.searchsorted(skip_row[skip], np.arange(len(queries) + 1)),
                _ints(clicked[skip]), _ints(skipped[skip]), _ints(count[skip]),
            ),
            {"format": "simulated", "min_clicks": self._min_clicks},
        )  # fmt: skip


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
