"""Write the graph's arrays from sorted DuckDB tables, block by block: no table is held in memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coclick.arrays.csr import check_count
from coclick.arrays.strings import Strings
from coclick.logs.duckdb_session import DuckDBSession
from coclick.storage.artefact import ArtefactWriter

_BLOCK_BYTES = 16_000_000
_WRITERS = 4  # threads that hash and write columns
Longs = NDArray[np.int64]


@dataclass(frozen=True)
class IdMap:
    """Map from the ids during a build to the final ids in the graph, which have no gaps."""

    new: NDArray[np.int32]  # by old id; −1 if it is not in the graph
    size: int

    @classmethod
    def from_mask(cls, used: NDArray[np.bool_]) -> IdMap:
        """Assign ids to the used ones, in order."""
        new = np.where(used, np.cumsum(used) - 1, -1).astype(np.int32)
        return cls(new, int(used.sum()))


def id_mask(db: DuckDBSession, size: int, ids: str) -> NDArray[np.bool_]:
    """Return the mask, of length `size`, of the ids that an SQL query returns in the column `id`."""
    used = np.zeros(size, bool)
    used[db.fetch_arrays(ids)["id"]] = True
    return used


def write_strings(
    db: DuckDBSession, out: ArtefactWriter, name: str, source: str, column: str, ids: IdMap
) -> int:
    """Write a string column of `source`, which is sorted by `id`; return the number of non-empty strings.

    Ids without a row get an empty string.
    """
    lengths = np.zeros(ids.size, np.int64)
    with out.stream(f"{name}.data", np.uint8) as append:
        for old, sizes in _lengths(db, source, column):
            new = ids.new[old]
            lengths[new[new >= 0]] = sizes[new >= 0]
            for first, last in _byte_ranges(old, sizes):
                block = db.fetch_arrays(f"""
                    SELECT id, {column} AS text FROM {source}
                    WHERE id >= {first} AND id <= {last} ORDER BY id""")
                kept = block["text"][ids.new[block["id"]] >= 0]
                append(Strings.from_list(kept.tolist()).data)
    out.array(f"{name}.offsets", row_pointers(lengths))
    return int(np.count_nonzero(lengths))


def _lengths(db: DuckDBSession, source: str, column: str) -> Iterator[tuple[Longs, Longs]]:
    """Yield ids and byte lengths of a column."""
    for first, last in db.ranges(source, "id"):
        block = db.fetch_arrays(f"""
            SELECT id, strlen({column}) AS size FROM {source}
            WHERE id >= {first} AND id < {last} ORDER BY id""")
        yield block["id"], block["size"]


def _byte_ranges(ids: Longs, sizes: Longs) -> Iterator[tuple[int, int]]:
    """Yield ranges (first id, last id) of strings that fit into memory as Python objects."""
    weight = np.cumsum(sizes + 64) // _BLOCK_BYTES
    starts = np.flatnonzero(np.diff(weight, prepend=-1))
    for start, end in zip(starts, np.append(starts[1:], len(ids)), strict=True):
        yield int(ids[start]), int(ids[end - 1])


def write_edges(db: DuckDBSession, out: ArtefactWriter, queries: IdMap, docs: IdMap) -> None:
    """Write the click matrix and its transpose from the table `edge` (q, d, clicks), sorted by q and d."""
    _write_csr(db, out, "clicks", "edge", "q", "d", queries, docs)
    db.execute("CREATE TABLE edge_by_doc AS SELECT d, q, clicks FROM edge ORDER BY d, q")
    _write_csr(db, out, "clicks_by_doc", "edge_by_doc", "d", "q", docs, queries)


def _write_csr(
    db: DuckDBSession, out: ArtefactWriter, name: str, table: str, row: str, column: str,
    rows: IdMap, columns: IdMap,
) -> None:  # fmt: skip
    counts = np.zeros(rows.size, np.int64)
    with (
        out.stream(f"{name}.indices", np.int32) as append_indices,
        out.stream(f"{name}.data", np.float32) as append_data,
    ):
        for block in db.blocks(table, f"{row} AS r, {column} AS c, clicks"):
            add_counts(counts, rows.new[block["r"]])
            append_indices(columns.new[block["c"]])
            append_data(block["clicks"])
    out.array(f"{name}.indptr", row_pointers(counts))


def write_by_query(
    db: DuckDBSession,
    out: ArtefactWriter,
    name: str,
    source: str,
    documents: Mapping[str, str],
    counts: Mapping[str, str],
    queries: IdMap,
    docs: IdMap,
) -> None:
    """Write a table of the graph from one with the query in `q`, by which it is sorted.

    `documents` and `counts` map the arrays to columns: those of ids, which become final ids by `docs`, and
    those of numbers. Rows with an id that is not in the graph are left out.
    """
    columns = {**documents, **counts}
    per_query = np.zeros(queries.size, np.int64)
    with ColumnStreams(out, name, list(columns)) as streams:
        for block in db.blocks(source, ", ".join(["q", *columns.values()])):
            kept = queries.new[block["q"]] >= 0
            for column in documents.values():
                kept &= docs.new[block[column]] >= 0
            add_counts(per_query, queries.new[block["q"][kept]])
            values = {array: block[column][kept] for array, column in columns.items()}
            streams.append(**values | {array: docs.new[values[array]] for array in documents})
    out.array(f"{name}.indptr", row_pointers(per_query))


class ColumnStreams:
    """Arrays that grow block by block, one per column of a table; int32 unless `types` says otherwise.

    Columns are hashed and written side by side: both release the interpreter's lock.
    """

    def __init__(self, out: ArtefactWriter, table: str, columns: Sequence[str], **types: Any) -> None:
        self._table, self._types = table, types
        self._stack = ExitStack()
        self._pool = self._stack.enter_context(ThreadPoolExecutor(_WRITERS))
        self._append: dict[str, Any] = {}
        for column in columns:
            stream = out.stream(f"{table}.{column}", types.get(column, np.int32))
            self._append[column] = self._stack.enter_context(stream)

    def __enter__(self) -> ColumnStreams:
        return self

    def __exit__(self, *exception: Any) -> None:
        self._stack.__exit__(*exception)

    def append(self, **columns: NDArray[Any]) -> None:
        """Append to the columns that the table has. Raise for counts that overflow int32."""
        present = [column for column in self._append if column in columns]
        list(self._pool.map(lambda column: self._append_column(column, columns[column]), present))

    def _append_column(self, column: str, values: NDArray[Any]) -> None:
        if column not in self._types and len(values):
            check_count(int(values.max()), self._table, column)
        self._append[column](values)


def add_counts(counts: Longs, rows: NDArray[np.integer[Any]]) -> None:
    """Add the number of entries per row of a block. Rows ascend, so only their range is touched."""
    if len(rows):
        counts[rows[0] : rows[-1] + 1] += np.bincount(rows - rows[0])


def row_pointers(counts: Longs) -> Longs:
    """Return the CSR row pointers for the number of entries per row."""
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
