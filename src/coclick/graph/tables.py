"""Tables in memory: pandas and polars frames, Arrow tables, and anything with the Arrow PyCapsule interface.

pandas, polars and pyarrow are not dependencies: a table is converted with the library that it came from.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from coclick.errors import UserError
from coclick.graph.columns import (
    CLICK_ACTIONS,
    DOC_COLUMNS,
    REQUIRED,
    canonical_name,
    match_columns,
    missing_column_error,
    rename_hint,
)

_WHERE = "the table"


def is_table(value: Any) -> bool:
    """Return whether a value is a table in memory."""
    return hasattr(value, "__arrow_c_stream__") or _library(value) in ("pandas", "polars", "duckdb")


def click_rows(table: Any) -> Iterator[tuple[str, str, float]]:
    """Yield (query, doc, clicks) of each row; without a column of clicks, every row is one click.

    Raises for a log of events that has other actions than clicks.
    """
    columns = table_columns(table)
    names = list(columns)
    found = match_columns(names)
    for field in REQUIRED["events"]:
        if field not in found:
            error = missing_column_error(field, "clicks", names, _WHERE)
            error.hint = rename_hint(field, names)
            raise error
    name = names[found["action"]] if "action" in found and "clicks" not in found else None
    if name and not {canonical_name(str(action)) for action in set(columns[name])} <= set(CLICK_ACTIONS):
        raise UserError(
            f"this table has a column {name!r}: it is a log of events, not of clicks",
            hint=f"use coclick.build(table, docs, out), or filter it: table[table.{name} == 'click']",
        )
    queries, docs = (columns[names[found[field]]] for field in REQUIRED["events"])
    clicks = columns[names[found["clicks"]]] if "clicks" in found else [1.0] * len(queries)
    for row, (query, doc, count) in enumerate(zip(queries, docs, clicks, strict=True), 1):
        if _is_missing(query) or _is_missing(doc) or _is_missing(count):
            raise UserError(
                "a query, a document or a number of clicks is missing",
                where=f"{_WHERE}, row {row}",
                hint="drop such rows, or use coclick.build, which counts and keeps rejected rows",
            )
        yield query if isinstance(query, str) else str(query), _text(doc), count


def check_rows(clicks: Any) -> list[tuple[str, str, float]]:
    """Return rows of (query, document, clicks) as a list; raise for the first that is something else."""
    hint = 'for example [("ny hotels", "d1", 3)], or a table with columns query, doc, clicks'
    if isinstance(clicks, str | bytes | Mapping) or not isinstance(clicks, Iterable):
        raise UserError(f"clicks must be rows of (query, document, clicks), not {clicks!r:.50}", hint=hint)
    rows = []
    for row in clicks:
        try:
            query, doc, count = row
            if isinstance(query, str) and isinstance(doc, str):
                rows.append((query, doc, float(count)))
                continue
        except (TypeError, ValueError):
            pass
        raise UserError(_row_defect(row, len(rows) + 1), hint=hint)
    return rows


def _row_defect(row: Any, place: int) -> str:
    """Say what is wrong with a row of clicks."""
    if isinstance(row, str | bytes) or not isinstance(row, Iterable):
        return f"row {place} is {row!r:.50}; each row must be (query, document, clicks)"
    values = list(row)
    if len(values) != 3:
        return f"row {place} has {len(values)} values; each row must be (query, document, clicks)"
    for value, name in zip(values[:2], ("query", "document"), strict=True):
        if value is None:
            return f"row {place}: the {name} is None"
        if not isinstance(value, str):
            return f"row {place}: the {name} must be a text, not {value!r}: convert ids with str(id)"
    return f"row {place}: the number of clicks is {values[2]!r}"


def doc_texts(table: Any) -> dict[str, dict[str, str]]:
    """Return the text fields of each document by its id; of several with one id the first is used."""
    columns = table_columns(table)
    names = list(columns)
    found = match_columns(names, DOC_COLUMNS)
    if "doc" not in found:
        raise UserError(
            "no column for 'doc': documents need an id",
            where=f"{_WHERE} of documents, whose columns are {', '.join(map(repr, names[:20]))}",
            hint="rename the column of ids to doc",
        )
    ids = columns.pop(names[found.pop("doc")])
    fields = {names[index]: field for field, index in found.items()}
    texts: dict[str, dict[str, str]] = {}
    for row, doc in enumerate(ids):
        values = {fields.get(name, canonical_name(name)): column[row] for name, column in columns.items()}
        given = {name: value for name, value in values.items() if isinstance(value, str)}
        texts.setdefault(_text(doc), given)
    return texts


def check_docs(docs: Any) -> Mapping[str, str | Mapping[str, str]]:
    """Return documents given as a mapping; raise if they are not {id: text} or {id: {field: text}}."""
    if not isinstance(docs, Mapping):
        raise UserError(
            f"docs must be a mapping from id to title or to fields, or a table, not {docs!r:.50}",
            hint='for example {"d1": "New York hotels"}; files are read by coclick.build',
        )
    for doc, text in docs.items():
        if not isinstance(doc, str):
            raise UserError(f"a document id must be a text, not {doc!r}", hint="convert ids with str(id)")
        if isinstance(text, str):
            continue
        if not isinstance(text, Mapping):
            raise UserError(
                f"the document {doc!r} must be a text or a mapping from fields to texts, not {text!r}"
            )
        for field, value in text.items():
            if not isinstance(field, str) or not isinstance(value, str):
                raise UserError(f"the field {field!r} of the document {doc!r} must be a text, not {value!r}")
    return docs


def write_parquet(table: Any, path: Path) -> None:
    """Write a table as a Parquet file."""
    library = _library(table)
    try:
        if library == "polars":
            table.write_parquet(path)
        elif library == "duckdb":
            table.write_parquet(str(path))
        elif library == "pandas":
            _write_pandas(table, path)
        else:
            importlib.import_module("pyarrow.parquet").write_table(_arrow(table), path)
    except UserError:
        raise
    except Exception as error:  # each library has its own errors for columns of mixed or nested types
        raise UserError(
            f"the table cannot be read: {str(error).splitlines()[0]}",
            hint="every column must hold one type: texts, numbers or timestamps",
        ) from error


def _write_pandas(frame: Any, path: Path) -> None:
    import duckdb

    with duckdb.connect() as connection:
        connection.from_df(frame.rename(columns=str)).write_parquet(str(path))


def table_columns(table: Any) -> dict[str, list[Any]]:
    """Return the values of each column."""
    library = _library(table)
    if library == "pandas":
        return {str(name): column.tolist() for name, column in table.items()}
    if library == "polars":
        table = table.collect() if hasattr(table, "collect") else table
        columns: dict[str, list[Any]] = table.to_dict(as_series=False)
        return columns
    if library == "duckdb":
        return dict(zip(table.columns, map(list, zip(*table.fetchall(), strict=True)), strict=True))
    return dict(_arrow(table).to_pydict())


def _arrow(table: Any) -> Any:
    try:
        pyarrow = importlib.import_module("pyarrow")
    except ImportError:
        raise UserError("a table of this kind needs pyarrow", hint="pip install pyarrow") from None
    return pyarrow.table(table)


def _library(value: Any) -> str:
    """The library of a frame or relation, or "" for anything else."""
    module = type(value).__module__.partition(".")[0]
    frames = ("DataFrame", "LazyFrame", "DuckDBPyRelation")
    return module.lstrip("_") if type(value).__name__ in frames else ""


def _is_missing(value: Any) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))


def _text(value: Any) -> str:
    """An id as text: whole numbers without a fraction, as in files."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
