"""Parse the rows of a log into typed fields: DuckDB runs the local engine's SQL on each Arrow batch.

`coclick.logs.typed_fields` alone defines numbers, times, missing values and invalid rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame

from coclick.logs.duckdb_session import literal
from coclick.logs.files import LogFile
from coclick.logs.format import Format
from coclick.logs.privacy import Privacy
from coclick.logs.record_sql import format_fields, plain_fields
from coclick.logs.schema import action_names
from coclick.logs.times import TimeFormat
from coclick.logs.typed_fields import BLANK_QUERY, BLANK_SCRUBBED, typed, typed_columns
from coclick.logs.user_hash import hash_names
from coclick.text.normalise import normalise_batch

_TYPES = dict.fromkeys(
    ("query", "doc", "action", "usr", "session", "event_id", "query_id", "date_text"), "string"
)
_TYPES |= dict.fromkeys(("dwell", "results"), "double")
_TYPES |= dict.fromkeys(("ts", "clicks", "impressions", "users"), "bigint") | {"position": "int"}
_EXTRA_COLUMNS = ", error string, spelt string, scrubbed int, raw string"
_KINDS = {"string": "VARCHAR", "binary": "BLOB"}


def connect_in_memory() -> duckdb.DuckDBPyConnection:
    """Open an in-memory database for one task, with the settings of a local build."""
    settings = {"threads": 1, "autoinstall_known_extensions": False}
    connection = duckdb.connect(":memory:", config=settings)  # type: ignore[arg-type]
    connection.execute("SET TimeZone = 'UTC'")  # before 2.0 DuckDB knows this setting only once connected
    return connection


def as_log_file(frame: DataFrame, what: str) -> LogFile:
    """Describe a DataFrame as a Parquet file, so that the local code can recognise its columns."""
    kinds = tuple(_KINDS.get(kind, kind.upper()) for _, kind in frame.dtypes)
    return LogFile(Path(what), "parquet", False, tuple(frame.columns), kinds)


@dataclass(frozen=True)
class FieldParser:
    """Convert batches of a log's columns to batches of typed fields.

    `error` is the reason why a row is invalid, `spelt` the original query if normalisation changed it,
    `scrubbed` which kinds of personal data were removed, and `raw` the original fields of an invalid row.
    Nothing leaves the worker as it was before it is scrubbed or hashed. The key reaches the workers inside
    this object, which Spark sends them pickled: it is in no query, setting or file.
    """

    format: Format
    columns: list[str]
    fields: set[str]
    field_columns: dict[str, int] | None = None  # field → column, of a plain log
    privacy: Privacy = field(default_factory=Privacy)
    times: TimeFormat = field(default_factory=TimeFormat)

    @property
    def names(self) -> list[str]:
        """The typed fields."""
        names = typed_columns(self.format.rows, self.fields)
        return [*names, "date_text"] if "ts" in names and self.times.undecided else names

    @property
    def schema(self) -> str:
        """The Spark schema of the result."""
        return ", ".join(f"{name} {_TYPES[name]}" for name in self.names) + _EXTRA_COLUMNS

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Convert batches; for `mapInArrow`."""
        with connect_in_memory() as connection:
            for batch in batches:
                if batch.num_rows:
                    yield from self._typed(connection, pa.Table.from_batches([batch]))

    def _typed(self, connection: Any, table: pa.Table) -> Iterator[pa.RecordBatch]:
        renamed = table.rename_columns([f"c{i}" for i in range(table.num_columns)])
        connection.register("batch", renamed)
        kinds = {name: kind for name, kind, *_ in connection.execute("DESCRIBE batch").fetchall()}
        types = tuple(kinds[f"c{i}"] for i in range(len(self.columns)))
        file = LogFile(Path("batch"), "parquet", False, tuple(self.columns), types)
        if self.field_columns is not None:
            record = plain_fields(file, self.field_columns)
        else:
            record = format_fields(self.format, file)
            record.complete(self.fields)
        rows = record.expand("SELECT *, NULL::VARCHAR AS parse_error FROM batch")
        searches = action_names(self.format.actions)["search"]
        source = typed(self.format.rows, record.columns, rows, self.times, searches=searches)
        casts = ", ".join(f"CAST({name} AS {_sql(_TYPES[name])}) AS {name}" for name in self.names)
        found = connection.sql(f"SELECT {casts}, error FROM ({source})").to_arrow_table()
        found = _normalised(self._with_hashed_users(found), self.privacy)
        raw = self._raw(connection, renamed, record.used, found["error"])
        yield from found.append_column("raw", raw).to_batches()

    def _with_hashed_users(self, table: pa.Table) -> pa.Table:
        """Replace the ids of users and sessions by digests."""
        if self.privacy.key is None:
            return table
        for name in {"usr", "session"} & set(table.column_names):
            names = _encoded(table[name])
            digests = pa.array(hash_names(names.dictionary.to_pylist(), self.privacy.key), pa.string())
            at = table.schema.get_field_index(name)
            table = table.set_column(at, name, digests.take(names.indices))
        return table

    def _raw(self, connection: Any, table: pa.Table, used: Sequence[int], error: pa.ChunkedArray) -> pa.Array:
        """The original fields of invalid rows as JSON; null for valid rows."""
        if self.privacy.hides_rows:
            return pa.nulls(table.num_rows, pa.string())
        invalid = pc.is_valid(error).combine_chunks()
        found = pa.array([], pa.string())
        if invalid.true_count:
            connection.register("invalid", table.filter(invalid))
            fields = ", ".join(f"{literal(self.columns[i])}, c{i}" for i in used)
            rows = connection.sql(f"SELECT json_object({fields})::VARCHAR AS raw FROM invalid")
            found = rows.to_arrow_table()["raw"].combine_chunks()
        rows_of = pc.subtract(pc.cumulative_sum(invalid.cast(pa.int64())), 1)
        return found.take(pc.if_else(invalid, rows_of, pa.scalar(None, pa.int64())))


def _sql(kind: str) -> str:
    return "VARCHAR" if kind == "string" else kind


def _encoded(column: pa.ChunkedArray) -> pa.DictionaryArray:
    """A column as indices into its distinct values."""
    encoded = column.combine_chunks().dictionary_encode()
    return encoded.combine_chunks() if isinstance(encoded, pa.ChunkedArray) else encoded


def _normalised(table: pa.Table, privacy: Privacy) -> pa.Table:
    """Normalise and scrub the queries; a row whose query becomes empty is invalid."""
    raw = _encoded(table["query"])
    texts, kinds = privacy.scrub_batch(normalise_batch(raw.dictionary.to_pylist()))
    queries = pa.array(texts, pa.string()).take(raw.indices)
    scrubbed = pc.fill_null(pa.array(kinds.astype(np.int32)).take(raw.indices), 0)
    blank = pc.and_(pc.fill_null(pc.equal(queries, ""), False), pc.is_null(table["error"]))
    reason = pc.if_else(pc.equal(scrubbed, 0), pa.scalar(BLANK_QUERY), pa.scalar(BLANK_SCRUBBED))
    error = pc.if_else(blank, reason, table["error"])
    at = table.schema.get_field_index
    hidden = pc.or_(pc.equal(queries, table["query"]), pc.not_equal(scrubbed, 0))
    spelt = pc.if_else(hidden, pa.scalar(None, pa.string()), table["query"])
    table = table.set_column(at("query"), "query", queries).set_column(at("error"), "error", error)
    return table.append_column("spelt", spelt).append_column("scrubbed", scrubbed)
