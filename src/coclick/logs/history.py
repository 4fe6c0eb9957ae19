"""Write the graph's arrays `pairs` and `daily` from the sorted tables of an event log."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from coclick.logs.duckdb_session import DuckDBSession
from coclick.logs.events import EventSchema
from coclick.logs.write_arrays import ColumnStreams, IdMap, Longs, add_counts, row_pointers
from coclick.storage.artefact import ArtefactWriter

Number = TypeVar("Number", np.int64, np.float64)


@dataclass(frozen=True)
class _Block:
    """The history of some pairs: arrays by pair, by row (pair and day), and by position within a row."""

    query: Longs  # by pair
    doc: NDArray[np.int32]
    users: Longs
    last_row: Longs
    day: Longs  # by row
    clicks: NDArray[np.float64]
    impressions: Longs
    navigational: Longs
    day_users: Longs
    position_row: Longs  # by position
    position: Longs
    shown: Longs

    def by_pair(self, counts: Longs) -> Longs:
        """Sum counts of rows by pair."""
        return np.diff(np.cumsum(counts)[self.last_row], prepend=0)


def write_history(
    db: DuckDBSession,
    out: ArtefactWriter,
    schema: EventSchema,
    weights: Sequence[float],
    queries: IdMap,
    docs: IdMap,
) -> None:
    """Write `pairs`, and `daily` if the log has times. Columns that the log does not record are left out."""
    optional = {
        "impressions": schema.has_impressions,
        "users": schema.has_users,
        "navigational": schema.has_sessions,
    }
    columns = [name for name, exists in optional.items() if exists]
    days = [*columns, "day", "clicks", "indptr"] if schema.has_days else []
    if schema.has_days and schema.has_impressions and schema.has_positions:
        days += ["position_indptr", "position", "shown"]
    per_query = np.zeros(queries.size, np.int64)
    with (
        ColumnStreams(out, "pairs", ["docs", *columns]) as pairs,
        ColumnStreams(
            out, "daily", days, clicks=np.float32, indptr=np.int64, position_indptr=np.int64
        ) as daily,
    ):
        append = _appender(pairs, daily, per_query)
        spans = _spans(db, schema)
        readers = (_Reader(db, schema, weights, queries, docs, *span) for span in spans)
        for block in _in_threads(readers):
            if block is not None:
                append(block)
    out.array("pairs.indptr", row_pointers(per_query))
    if schema.has_sessions and schema.has_impressions:
        # A document counts once per page, and a page belongs to one session: sessions = impressions.
        for table in ("pairs", "daily") if schema.has_days else ("pairs",):
            out.repeat(f"{table}.sessions", f"{table}.impressions")


def _appender(pairs: ColumnStreams, daily: ColumnStreams, per_query: Longs) -> Callable[[_Block], None]:
    """Return a function that writes a block and keeps track of the rows and positions written before."""
    daily.append(indptr=np.zeros(1, np.int64), position_indptr=np.zeros(1, np.int64))
    before = {"rows": 0, "positions": 0}

    def append(block: _Block) -> None:
        add_counts(per_query, block.query)
        shown, navigational = block.by_pair(block.impressions), block.by_pair(block.navigational)
        pairs.append(docs=block.doc, impressions=shown, users=block.users, navigational=navigational)
        positions = np.cumsum(np.bincount(block.position_row, minlength=len(block.day)))
        daily.append(
            day=block.day,
            clicks=block.clicks,
            users=block.day_users,
            impressions=block.impressions,
            navigational=block.navigational,
            position=block.position,
            shown=block.shown,
            indptr=before["rows"] + block.last_row + 1,
            position_indptr=before["positions"] + positions,
        )
        before["rows"] += len(block.day)
        before["positions"] += len(block.position)

    return append


def _in_threads(readers: Iterator[_Reader]) -> Iterator[_Block | None]:
    """Yield the blocks in order; two are read ahead while one is written."""
    with ThreadPoolExecutor(2) as pool:
        pending: deque[Future[_Block | None]] = deque()
        for reader in readers:
            pending.append(pool.submit(reader.block))
            if len(pending) > 2:
                yield pending.popleft().result()
        while pending:
            yield pending.popleft().result()


def _spans(db: DuckDBSession, schema: EventSchema) -> Iterator[tuple[int, int]]:
    """Yield ranges of pairs whose rows fit into memory."""
    keys = {"clicked": f"q::BIGINT * {schema.n_docs} + d"}
    if schema.has_impressions:
        keys["shown"] = "pair"
    cuts = sorted({last for table, key in keys.items() for _, last in db.ranges(table, key)})
    yield from zip([0, *cuts[:-1]], cuts, strict=True)


@dataclass(frozen=True)
class _Reader:
    """Reads the pairs first … last − 1 from the sorted tables."""

    db: DuckDBSession
    schema: EventSchema
    weights: Sequence[float]
    queries: IdMap
    docs: IdMap
    first: int
    last: int

    def block(self) -> _Block | None:
        """Return the block of the range, or None if none of its queries is in the graph."""
        schema = self.schema
        shown_pair, cell, times = self._shown()
        clicked = self._clicked()
        shown_day, position = cell // schema.n_positions, cell % schema.n_positions
        pairs, shown_at, clicked_at = _merge(shown_pair, clicked["pair"])
        if not len(pairs):
            return None
        width = schema.last_day + 1
        keys, shown_row, at = _merge(shown_at * width + shown_day, clicked_at * width + clicked["day"])
        size = len(keys)
        impressions = np.bincount(shown_row, times, size).astype(np.int64)  # exact: far below 2⁵³
        if schema.has_impressions and not schema.shows_every_click:
            impressions[at] = np.maximum(impressions[at], 1)
        known = position > 0
        pair_of_row = keys // width
        return _Block(
            query=self.queries.new[pairs // schema.n_docs].astype(np.int64),
            doc=self.docs.new[pairs % schema.n_docs],
            users=self._clickers(pairs) if schema.has_users else np.zeros(len(pairs), np.int64),
            last_row=np.flatnonzero(np.append(pair_of_row[1:] != pair_of_row[:-1], True)),
            day=keys - pair_of_row * width,
            clicks=_scatter(at, clicked["clicks"], size),
            impressions=impressions,
            navigational=_scatter(at, clicked["navigational"], size),
            day_users=_scatter(at, clicked["users"], size),
            position_row=shown_row[known],
            position=position[known],
            shown=times[known],
        )

    def _shown(self) -> tuple[Longs, Longs, Longs]:
        """Pairs, their cells (day and position), and the number of pages for each.

        NumPy counts faster than SQL groups. But a pair shown a hundred million times has as many rows, and
        only SQL counts those in bounded memory.
        """
        if not self.schema.has_impressions:
            return np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.int64)
        rows = f"FROM shown WHERE pair >= {self.first} AND pair < {self.last}"
        if self.db.fetch_value(f"SELECT count(*) {rows}") <= 2 * self.db.block_rows:
            block = self.db.fetch_arrays(f"SELECT pair, cell {rows}")
            starts = np.flatnonzero(_changes(block["pair"]) | _changes(block["cell"]))
            counts = np.diff(starts, append=len(block["pair"]))
            block = {"pair": block["pair"][starts], "cell": block["cell"][starts], "n": counts}
        else:
            block = self.db.fetch_arrays(f"SELECT pair, cell, count(*) AS n {rows} GROUP BY ALL ORDER BY ALL")
        kept = self._kept(block["pair"])
        return block["pair"][kept], block["cell"][kept], block["n"][kept]

    def _clicked(self) -> dict[str, NDArray[Any]]:
        """Days with clicks: pair, day, weighted clicks, navigational clicks, users."""
        counts = [f"c{code}" for code in range(1, len(self.weights) + 1)]
        block = self.db.fetch_arrays(f"""
            SELECT q::BIGINT * {self.schema.n_docs} + d AS pair, day, {", ".join(counts)},
                {"navigational" if self.schema.has_sessions else "0::BIGINT AS navigational"},
                {"users" if self.schema.has_users else "0::BIGINT AS users"}
            FROM clicked WHERE {self._within}""")
        kept = self._kept(block["pair"])
        block = {name: values[kept] for name, values in block.items()}
        block["clicks"] = np.zeros(len(block["pair"]))
        for weight, name in zip(self.weights, counts, strict=True):
            block["clicks"] += weight * block[name]
        return block

    def _clickers(self, pairs: Longs) -> Longs:
        """The number of users who clicked each pair."""
        block = self.db.fetch_arrays(f"""
            SELECT q::BIGINT * {self.schema.n_docs} + d AS pair, users
            FROM clickers WHERE {self._within}""")
        kept = self._kept(block["pair"])
        return _scatter(np.searchsorted(pairs, block["pair"][kept]), block["users"][kept], len(pairs))

    @property
    def _within(self) -> str:
        """The condition that a pair is in the range. The bounds of q let DuckDB skip other row groups."""
        docs = self.schema.n_docs
        return f"""q BETWEEN {self.first // docs} AND {(self.last - 1) // docs}
            AND pair >= {self.first} AND pair < {self.last}"""

    def _kept(self, pair: Longs) -> NDArray[np.bool_] | slice:
        """Mask of the rows whose queries are in the graph."""
        docs = self.schema.n_docs
        new_ids = self.queries.new[self.first // docs : (self.last - 1) // docs + 1]
        return slice(None) if (new_ids >= 0).all() else self.queries.new[pair // docs] >= 0


def _changes(values: Longs) -> NDArray[np.bool_]:
    """Mask of the values that differ from the one before."""
    changed = np.ones(len(values), bool)
    np.not_equal(values[1:], values[:-1], out=changed[1:])
    return changed


def _merge(many: Longs, few: Longs) -> tuple[Longs, Longs, Longs]:
    """The distinct values of two ascending arrays, and the indices of each array's values among them."""
    changed = _changes(many)
    distinct = many[changed]
    at = np.searchsorted(distinct, few)
    known = at < len(distinct)
    known[known] = distinct[at[known]] == few[known]
    if not known.all():
        distinct = np.sort(np.concatenate([distinct, few[~known]]), kind="stable")
        distinct = distinct[_changes(distinct)]
        return distinct, np.searchsorted(distinct, many), np.searchsorted(distinct, few)
    return distinct, np.cumsum(changed) - 1, at


def _scatter(rows: Longs, values: NDArray[Number], size: int) -> NDArray[Number]:
    """An array with the values at their rows, and 0 elsewhere."""
    out = np.zeros(size, values.dtype)
    out[rows] = values
    return out
