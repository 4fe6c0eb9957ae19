"""The graph's pairs and their days, from the sorted tables of an event log."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from coclick.logs.arrays import Ints, Numbering, Streams, pointers
from coclick.logs.events import Known
from coclick.logs.workspace import Workspace
from coclick.store import ArtefactWriter

Number = TypeVar("Number", np.int64, np.float64)


@dataclass(frozen=True)
class _Block:
    """Some queries' days: one row a query, document and day, in that order, and the rows' positions."""

    query: Ints  # of each pair
    doc: Ints
    users: Ints
    pair: Ints  # of each row
    day: Ints
    clicks: NDArray[np.float64]
    impressions: Ints
    navigational: Ints
    day_users: Ints
    position_row: Ints  # of each position
    position: Ints
    shown: Ints

    def by_pair(self, counts: Ints) -> Ints:
        """Add up the days."""
        return _summed(self.pair, counts, len(self.query))


def write_history(
    work: Workspace,
    out: ArtefactWriter,
    known: Known,
    weights: Sequence[float],
    queries: Numbering,
    docs: Numbering,
) -> None:
    """Write `pairs`, and `daily` where the log has times; columns that the log cannot tell are left out."""
    optional = {
        "impressions": known.impressions,
        "users": known.users,
        "sessions": known.sessions and known.impressions,
        "navigational": known.sessions,
    }
    columns = [name for name, there in optional.items() if there]
    if not columns and not known.days:
        return
    days = [*columns, "day", "clicks", "indptr"] if known.days else []
    if known.days and known.impressions and known.positions:
        days += ["position_indptr", "position", "shown"]
    per_query = np.zeros(queries.size, np.int64)
    rows = places = 0
    with (
        Streams(out, "pairs", ["docs", *columns]) as pairs,
        Streams(out, "daily", days, clicks=np.float32, indptr=np.int64, position_indptr=np.int64) as daily,
    ):
        daily.append("indptr", np.zeros(1, np.int64))
        daily.append("position_indptr", np.zeros(1, np.int64))
        for block in _blocks(work, known, weights, queries, docs):
            per_query += np.bincount(block.query, minlength=queries.size)
            shown = block.by_pair(block.impressions)
            pairs.append("docs", block.doc)
            pairs.append("impressions", shown)
            pairs.append("users", block.users)
            pairs.append("sessions", shown)  # a document counts once a page, and a page is of one session
            pairs.append("navigational", block.by_pair(block.navigational))
            daily.append("day", block.day)
            daily.append("clicks", block.clicks)
            daily.append("impressions", block.impressions)
            daily.append("users", block.day_users)
            daily.append("sessions", block.impressions)
            daily.append("navigational", block.navigational)
            daily.append("position", block.position)
            daily.append("shown", block.shown)
            per_pair = np.bincount(block.pair, minlength=len(block.query))
            per_row = np.bincount(block.position_row, minlength=len(block.day))
            daily.append("indptr", rows + np.cumsum(per_pair))
            daily.append("position_indptr", places + np.cumsum(per_row))
            rows, places = rows + len(block.day), places + len(block.position)
    out.array("pairs.indptr", pointers(per_query))


def _blocks(
    work: Workspace, known: Known, weights: Sequence[float], queries: Numbering, docs: Numbering
) -> Iterator[_Block]:
    tables = ["shown", "clicked"] if known.impressions else ["clicked"]
    larger = max(tables, key=lambda table: work.value(f"SELECT count(*) FROM {table}"))
    spans = [work.rows(f"SELECT min(day), max(day) FROM {table}")[0] for table in tables]
    first_day = min(low for low, _ in spans if low is not None)
    days = max(high for _, high in spans if high is not None) - first_day + 1
    cuts = [last for _, last in work.ranges(larger)][:-1]
    for first, last in zip([0, *cuts], [*cuts, len(queries.new)], strict=True):
        read = _Reader(work, first, last, queries, docs, first_day, days)
        if (block := read.block(known, weights)) is not None:
            yield block


@dataclass(frozen=True)
class _Reader:
    """Reads a range of queries from the sorted tables. A row's key is its query, document and day."""

    work: Workspace
    first: int
    last: int
    queries: Numbering
    docs: Numbering
    first_day: int
    days: int

    def block(self, known: Known, weights: Sequence[float]) -> _Block | None:
        """The range, or None if nothing in it is kept."""
        counts = [f"c{code}" for code in range(1, len(weights) + 1)]
        more = [*counts, *(["navigational"] if known.sessions else []), *(["users"] if known.users else [])]
        clicked = self._table("clicked", ["day", *more])
        click_key = self._key(clicked)
        shown = self._table("shown", ["day", "position", "n"]) if known.impressions else {}
        shown_key = self._key(shown) if shown else np.empty(0, np.int64)
        keys = _distinct(np.sort(np.concatenate([shown_key, click_key]), kind="stable"))
        if not len(keys):
            return None
        click_row, shown_row = np.searchsorted(keys, click_key), np.searchsorted(keys, shown_key)
        pair_keys = _distinct(keys // self.days)
        clicks = sum(weight * clicked[name] for weight, name in zip(weights, counts, strict=True))
        impressions = _summed(shown_row, shown["n"], len(keys)) if shown else _zeros(keys)
        if shown and not known.sessions:
            impressions[click_row] = np.maximum(impressions[click_row], 1)
        placed = shown["position"] > 0 if shown else np.empty(0, bool)
        return _Block(
            query=pair_keys // self.docs.size + self._base,
            doc=pair_keys % self.docs.size,
            users=self._clickers(pair_keys) if known.users else _zeros(pair_keys),
            pair=np.searchsorted(pair_keys, keys // self.days),
            day=keys % self.days + self.first_day,
            clicks=_placed(click_row, np.asarray(clicks, np.float64), len(keys)),
            impressions=impressions,
            navigational=_placed(click_row, clicked.get("navigational", _zeros(click_row)), len(keys)),
            day_users=_placed(click_row, clicked.get("users", _zeros(click_row)), len(keys)),
            position_row=shown_row[placed],
            position=shown["position"][placed] if shown else _zeros(placed),
            shown=shown["n"][placed] if shown else _zeros(placed),
        )

    @property
    def _base(self) -> int:
        """The number of the first query in the range, or of the next one that is kept."""
        return int((self.queries.new[: self.first] >= 0).sum())

    def _table(self, table: str, columns: Sequence[str]) -> dict[str, Ints]:
        """Rows of queries that are kept, under the final numbers."""
        block = self.work.arrays(
            f"SELECT q, d, {', '.join(columns)} FROM {table} WHERE q >= {self.first} AND q < {self.last}"
        )
        kept = self.queries.new[block["q"]] >= 0
        block = {name: values[kept].astype(np.int64) for name, values in block.items()}
        return block | {"q": self.queries.new[block["q"]] - self._base, "d": self.docs.new[block["d"]]}

    def _key(self, block: dict[str, Ints]) -> Ints:
        pair = block["q"].astype(np.int64) * self.docs.size + block["d"]
        return pair * self.days + block["day"] - self.first_day

    def _clickers(self, pair_keys: Ints) -> Ints:
        block = self._table("clickers", ["users"])
        keys = block["q"].astype(np.int64) * self.docs.size + block["d"]
        return _placed(np.searchsorted(pair_keys, keys), block["users"], len(pair_keys))


def _distinct(ascending: Ints) -> Ints:
    """Without repetitions; np.unique would hash, which takes ten times as long."""
    return ascending[np.diff(ascending, prepend=-1) != 0]


def _summed(rows: Ints, counts: Ints, size: int) -> Ints:
    """Add up counts by row; exact, for no sum comes near 2^53."""
    return np.bincount(rows, weights=counts, minlength=size).astype(np.int64)


def _placed(rows: Ints, values: NDArray[Number], size: int) -> NDArray[Number]:
    """The values at their rows, 0 elsewhere."""
    placed = np.zeros(size, values.dtype)
    placed[rows] = values
    return placed


def _zeros(like: NDArray[np.generic]) -> Ints:
    return np.zeros(len(like), np.int64)
