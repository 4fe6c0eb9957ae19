"""Read graphs and models that Spark wrote: Parquet tables become the arrays that everything else works on.

A graph or model from Spark has the same manifest, but partitioned tables instead of arrays. Opening reads
them whole with DuckDB, which takes time and as much memory as the arrays. A table has one row for each id
0 … n − 1, in any order; the content of a file is checked before it is used.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coclick.arrays.csr import Csr, check_count
from coclick.arrays.strings import Strings, Vocab
from coclick.errors import ArtefactError
from coclick.storage.artefact import Artefact
from coclick.storage.manifest import DTYPES, MANIFEST

_COLUMN = re.compile(r"[a-z0-9_]+")
_SORTED_BY = {  # tables that are not sorted by id
    "edges": "q, d",
    "pairs": "q, d",
    "daily": "q, d, day",
    "skips": "q, clicked, skipped",
    "searches": "q",
    "followups": "q, next",
    "variants": "id, spelling",
    "unit_texts": "unit, text",
}
_KINDS = {"clicks": "iuf", "weights": "iuf", "value": "iuf", "spelling": "O"}  # others are whole numbers
_TEXTS_PER_FETCH = 100_000
_DAILY_COLUMNS = ("impressions", "users", "sessions", "navigational", "position_indptr", "position", "shown")


def is_parquet(source: Artefact) -> bool:
    """Return whether an artefact consists of tables instead of arrays."""
    return source.manifest.get("layout") == "parquet"


def text_fields(source: Artefact) -> list[str]:
    """Return the names of the text fields of the documents."""
    found = source.manifest.get("texts", [])
    if not isinstance(found, list) or not all(isinstance(name, str) for name in found):
        raise ArtefactError("the manifest has no valid list of texts", where=str(source.path / MANIFEST))
    return sorted(found)


def columns(source: Artefact, table: str, select: str, order: str = "") -> dict[str, NDArray[Any]]:
    """Read columns, in the order of the ids unless `order` says otherwise.

    Nulls are an error, and so are other types: times and lists would fail in what works with numbers.
    """
    order = order or _SORTED_BY.get(table, "id")
    found = _run(source, table, f"SELECT {select} FROM (SELECT * FROM read_parquet($paths) ORDER BY {order})")
    for name, values in found.items():
        has_nulls = np.ma.isMaskedArray(values) and values.mask.any()
        if has_nulls or values.dtype.kind not in _KINDS.get(name, "iu"):
            raise _table_error(source, table)
    return {name: np.asarray(values) for name, values in found.items()}


def _run(source: Artefact, table: str, sql: str, fetch: Callable[[Any], Any] | None = None) -> Any:
    """Run SQL on the files of a table (`$paths`); returns arrays, or the result of `fetch`."""
    import duckdb  # deferred: importing it takes longer than opening arrays

    paths = [str(path) for path in source.table(table)]
    if not paths:
        raise ArtefactError(f"{source.kind} has no table {table!r}", where=str(source.path))
    try:
        with duckdb.connect(config={"autoinstall_known_extensions": False}) as connection:
            result = connection.execute(sql, {"paths": paths})
            return fetch(result) if fetch else result.fetchnumpy()
    except duckdb.Error as error:
        raise ArtefactError(f"the table {table!r} cannot be read: {error}", where=str(source.path)) from None


def read_strings(source: Artefact, table: str, column: str) -> Strings:
    """Read a column of texts."""
    text = _column(source, column)
    _check_ids(source, table, columns(source, table, "id")["id"])
    missing = f"SELECT count(*) AS texts FROM read_parquet($paths) WHERE {text} IS NULL"
    if _run(source, table, missing)["texts"][0]:
        raise _table_error(source, table)
    sql = f"SELECT {text}::VARCHAR FROM read_parquet($paths) ORDER BY id"
    return Strings.joined(_run(source, table, sql, _fetch_strings))  # after DuckDB has freed its memory


def _fetch_strings(result: Any) -> list[Strings]:
    """The texts of a result, packed in chunks: Python strings take more memory."""
    parts = []
    while rows := result.fetchmany(_TEXTS_PER_FETCH):
        parts.append(Strings.from_list(text for (text,) in rows))
    return parts


def read_vocab(source: Artefact, table: str, column: str) -> Vocab:
    """Read a column of distinct texts in any order."""
    strings = read_strings(source, table, column)
    sql = f"SELECT id FROM read_parquet($paths) ORDER BY {_column(source, column)}::VARCHAR, id"
    order = _run(source, table, sql)["id"]  # DuckDB compares texts by their bytes
    if np.array_equal(order, np.arange(len(order))):
        return Vocab(strings.offsets, strings.data)
    return Vocab(strings.offsets, strings.data, order.astype(np.int32))


def read_array(source: Artefact, table: str, column: str, dtype: str) -> NDArray[Any]:
    """Read a column of numbers."""
    if dtype not in DTYPES:
        raise ArtefactError(f"there is no type {dtype!r}", where=str(source.path))
    key = "" if table in _SORTED_BY else "id, "
    found = columns(source, table, f"{key}{_column(source, column)} AS value")
    if key:
        _check_ids(source, table, found["id"])
    return (_int32(source, table, found, "value") if dtype == "<i4" else found)["value"].astype(dtype)


def read_pointers(source: Artefact, table: str, column: str, rows: int) -> NDArray[np.int64]:
    """Return where the rows of each number begin in a table that is sorted by that column."""
    numbers = columns(source, table, f"{_column(source, column)} AS value")["value"]
    return _row_pointers(source, table, numbers, rows)


def _row_pointers(source: Artefact, table: str, numbers: NDArray[Any], rows: int) -> NDArray[np.int64]:
    """Where the rows of each number begin; the numbers ascend."""
    if len(numbers) and not (numbers[0] >= 0 and numbers[-1] < rows):
        raise _table_error(source, table)
    return np.searchsorted(numbers, np.arange(rows + 1)).astype(np.int64)


def read_grams(source: Artefact, table: str) -> NDArray[np.int32]:
    """Read rows of symbols (g1, g2, g3), padded with −1."""
    found = columns(source, table, "id, g1, g2, g3")
    _check_ids(source, table, found["id"])
    return np.stack(list(_int32(source, table, found, "g1", "g2", "g3").values()), axis=1)


def read_csr(source: Artefact, table: str, rows: int, width: int) -> Csr:
    """Read sparse rows, stored as (id, columns, values) with two lists per row."""
    sizes = columns(source, table, 'id, len("columns") AS terms, len("values") AS weights')
    _check_ids(source, table, sizes["id"])
    flat = columns(source, table, 'unnest("columns") AS terms, unnest("values") AS weights')
    indptr = np.concatenate([[0], np.cumsum(sizes["terms"])]).astype(np.int64)
    terms = _int32(source, table, flat, "terms")["terms"]
    matrix = Csr(indptr, terms, flat["weights"].astype(np.float32), width)
    if matrix.rows != rows or not np.array_equal(sizes["terms"], sizes["weights"]):
        raise _table_error(source, table)
    return matrix.checked(f"the rows of {table!r}")


def read_edges(source: Artefact, queries: int, docs: int) -> Csr:
    """Read the click matrix."""
    found = columns(source, "edges", "q, d, clicks")
    return _by_query(source, "edges", found, queries, docs, found["clicks"].astype(np.float32))


def read_pairs(source: Artefact, queries: int, docs: int) -> dict[str, NDArray[Any]]:
    """Read the columns of the table of pairs, if there is one."""
    if not source.table("pairs"):
        return {}
    counts_of = ("impressions", "users", "sessions", "navigational")
    present = _column_names(source, "pairs")
    found = columns(source, "pairs", ", ".join(["q", "d", *(name for name in counts_of if name in present)]))
    rows = _by_query(source, "pairs", found, queries, docs, np.ones(len(found["q"]), np.float32))
    counts = _int32(source, "pairs", found, *(name for name in found if name not in ("q", "d")))
    return {"indptr": rows.indptr, "docs": rows.indices, **counts}


def read_daily(source: Artefact, pairs: dict[str, NDArray[Any]]) -> dict[str, Any]:
    """Read the columns of the table of days, if there is one; None for columns that the log did not have."""
    if not source.table("daily") or not pairs:
        return {}
    present = _column_names(source, "daily")
    counts = [name for name in ("impressions", "users", "sessions", "navigational") if name in present]
    found = columns(source, "daily", ", ".join(["q", "d", "day", "clicks", *counts]))
    daily: dict[str, Any] = dict.fromkeys(_DAILY_COLUMNS)
    daily["indptr"] = _days_of_pairs(source, found["q"], found["d"], pairs)
    daily["clicks"] = found["clicks"].astype(np.float32)
    daily |= _int32(source, "daily", found, "day", *counts)
    if "positions" in present:
        sizes = columns(source, "daily", "len(positions) AS size")["size"]
        flat = columns(source, "daily", "unnest(positions, recursive := true)")
        daily["position_indptr"] = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        daily |= _int32(source, "daily", flat, "position", "shown")
    return daily


def _days_of_pairs(
    source: Artefact, query: NDArray[Any], doc: NDArray[Any], pairs: dict[str, NDArray[Any]]
) -> NDArray[np.int64]:
    """Where the days of each pair begin; every pair has at least one."""
    width = 1 + max(pairs["docs"].max(initial=0), doc.max(initial=0))
    owner = query.astype(np.int64) * width + doc
    pair_query = np.repeat(np.arange(len(pairs["indptr"]) - 1), np.diff(pairs["indptr"]))
    first = np.flatnonzero(np.diff(owner, prepend=-1))
    if not np.array_equal(owner[first], pair_query * width + pairs["docs"]):
        raise _table_error(source, "daily")
    return np.append(first, len(owner)).astype(np.int64)


def read_skips(source: Artefact, queries: int, docs: int) -> dict[str, NDArray[Any]]:
    """Read the columns of the table of skips, if there is one."""
    if not source.table("skips"):
        return {}
    found = columns(source, "skips", "q, clicked, skipped, count")
    for side in ("clicked", "skipped"):
        ends = {"q": found["q"], "d": found[side]}
        rows = _by_query(source, "skips", ends, queries, docs, np.ones(len(found["q"]), np.float32))
    return {"indptr": rows.indptr, **_int32(source, "skips", found, "clicked", "skipped", "count")}


def read_searches(source: Artefact, queries: int) -> dict[str, Any]:
    """Read the columns of the table of searches, if there is one."""
    if not source.table("searches"):
        return {}
    present = _column_names(source, "searches")
    names = ["searches", "without_clicks", *(name for name in ("day", "without_results") if name in present)]
    found = columns(source, "searches", ", ".join(["q", *names]), "q, day" if "day" in present else "q")
    counts = _int32(source, "searches", found, *names)
    return {"indptr": _row_pointers(source, "searches", found["q"], queries), **counts}


def read_followups(source: Artefact, queries: int) -> dict[str, Any]:
    """Read the columns of the table of follow-ups, if there is one."""
    if not source.table("followups"):
        return {}
    found = columns(source, "followups", "q, next, count, users")
    following = found["next"]
    if len(following) and not (following.min() >= 0 and following.max() < queries):
        raise _table_error(source, "followups")
    counts = _int32(source, "followups", found, "next", "count", "users")
    return {"indptr": _row_pointers(source, "followups", found["q"], queries), **counts}


def _column_names(source: Artefact, table: str) -> set[str]:
    described = _run(source, table, "DESCRIBE SELECT * FROM read_parquet($paths)")
    return set(described["column_name"].tolist())


def read_variants(source: Artefact) -> list[tuple[int, str, int]]:
    """Read (query, spelling, rows) of every spelling that normalisation merged."""
    if not source.table("variants"):
        return []
    found = columns(source, "variants", "id, spelling::VARCHAR AS spelling, count")
    return list(zip(*(found[name].tolist() for name in ("id", "spelling", "count")), strict=True))


def read_rejects(source: Artefact) -> list[tuple[str | None, int | None, str, str, str]]:
    """Read the rejected rows, a Parquet table in both layouts; rows from Spark have no file and line."""
    if not source.table("rejects"):
        return []
    names = ("file", "line", "field", "reason", "raw")
    found = _run(source, "rejects", f"SELECT {', '.join(names)} FROM read_parquet($paths) ORDER BY ALL")
    return list(zip(*(found[name].tolist() for name in names), strict=True))


def _by_query(
    source: Artefact, table: str, found: dict[str, NDArray[Any]], rows: int, width: int, data: NDArray[Any]
) -> Csr:
    query, doc = found["q"], found["d"]
    for ids, size in ((query, rows), (doc, width)):
        if len(ids) and not (ids.min() >= 0 and ids.max() < size):
            raise _table_error(source, table)
    indptr = np.searchsorted(query, np.arange(rows + 1)).astype(np.int64)
    return Csr(indptr, doc.astype(np.int32), data, width)


def _int32(source: Artefact, table: str, found: dict[str, NDArray[Any]], *names: str) -> dict[str, Any]:
    """Convert columns of integers to 32 bits, or raise."""
    for name in names:
        values = found.get(name)
        if values is None or values.dtype.kind not in "iu" or values.min(initial=0) < np.iinfo(np.int32).min:
            raise _table_error(source, table)
        check_count(int(values.max(initial=0)), table, name, str(source.path))
    return {name: found[name].astype(np.int32) for name in names}


def _column(source: Artefact, name: str) -> str:
    """A quoted column name. The manifest is untrusted, so anything but a plain name is refused."""
    if not _COLUMN.fullmatch(str(name)):
        raise ArtefactError(f"there is no column {name!r}", where=str(source.path))
    return f'"{name}"'


def _check_ids(source: Artefact, table: str, ids: NDArray[Any]) -> None:
    if not np.array_equal(ids, np.arange(len(ids))):
        raise _table_error(source, table)


def _table_error(source: Artefact, table: str) -> ArtefactError:
    what, hint = f"the table {table!r} is damaged", "make the artefact again"
    return ArtefactError(what, where=str(source.path), hint=hint)
