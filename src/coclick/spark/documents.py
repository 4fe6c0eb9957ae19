"""Read documents on Spark: one text field per column, by the rules of the local engine."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from coclick.errors import UserError
from coclick.logs.documents import DUPLICATE_ID, MISSING_ID, field_names
from coclick.logs.typed_fields import Column
from coclick.logs.validation import no_overlap_error
from coclick.spark.storage import WorkDir
from coclick.spark.typed_fields import as_log_file, connect_in_memory

TOO_LONG = "_too_long"  # column with the raw record where it has too many cells
LONG = "|wrong number of columns"


@dataclass(frozen=True)
class _Texts:
    """Convert batches of a document table to (name, text_<field> …)."""

    fields: dict[int, str]  # column index → field; "doc" is the id

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        with connect_in_memory() as connection:
            for batch in batches:
                if batch.num_rows:
                    yield from self._texts(connection, batch)

    def _texts(self, connection: Any, batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        table = pa.Table.from_batches([batch])
        connection.register("batch", table.rename_columns([f"c{i}" for i in range(table.num_columns)]))
        kinds = {name: kind for name, kind, *_ in connection.execute("DESCRIBE batch").fetchall()}
        chosen = []
        for column, name in self.fields.items():
            text = Column(f"c{column}", kinds[f"c{column}"]).text()
            chosen.append(f"{text} AS name" if name == "doc" else f"coalesce({text}, '') AS text_{name}")
        yield from connection.sql(f"SELECT {', '.join(chosen)} FROM batch").to_arrow_table().to_batches()


@dataclass(frozen=True)
class DocumentTable:
    """The document table (name, text_<field> …), its fields and the rejected rows."""

    table: DataFrame
    fields: list[str]
    rejected: dict[str, int]  # by "field|reason"
    rejects: DataFrame | None  # error, raw


def read(docs: DataFrame, work: WorkDir) -> DocumentTable:
    """Read a DataFrame of documents.

    Of several documents with one id, keep the one whose texts sort first: a DataFrame has no row order.
    """
    long = None
    if TOO_LONG in docs.columns:
        marked = work.checkpoint("documents-read", docs)  # Spark cannot read the corrupt-record column alone
        long = marked.filter(F.col(TOO_LONG).isNotNull()).select(F.lit(LONG).alias("error"), F.col(TOO_LONG))
        docs = marked.filter(F.col(TOO_LONG).isNull()).drop(TOO_LONG)
    fields = field_names(as_log_file(docs, "the documents"))
    texts = [name for name in fields.values() if name != "doc"]
    schema = ", ".join("name string" if name == "doc" else f"text_{name} string" for name in fields.values())
    rows = docs.mapInArrow(_Texts(fields), schema)
    columns = [f"text_{name}" for name in texts]
    smallest = F.min(F.struct(F.lit(""), *columns))  # the literal keeps the struct valid without text fields
    grouped = rows.groupBy("name").agg(smallest.alias("texts"), F.count("*").alias("rows"))
    saved = work.checkpoint("documents", grouped)
    missing, again = saved.agg(
        F.sum(F.expr("if(name IS NULL, rows, 0)")), F.sum(F.expr("if(name IS NULL, 0, rows - 1)"))
    ).collect()[0]
    counts = {LONG: long.count() if long else 0, MISSING_ID: missing, DUPLICATE_ID: again}
    rejected = {reason: count for reason, count in counts.items() if count}
    rejects = _rejects(rows, columns, [docs.columns[column] for column in fields]) if rejected else None
    if rejects is not None and long is not None:
        rejects = rejects.union(long)
    known = saved.filter("name IS NOT NULL")
    table = known.select("name", *(F.col(f"texts.{column}").alias(column) for column in columns))
    return DocumentTable(table, texts, rejected, rejects)


def _rejects(rows: DataFrame, texts: list[str], names: list[str]) -> DataFrame:
    """The rows without an id and the duplicates, as JSON with their original column names."""
    named = (F.col(column).alias(name) for column, name in zip(rows.columns, names, strict=True))
    raw = F.to_json(F.struct(*named), {"ignoreNullFields": "false"})
    missing = rows.filter("name IS NULL").select(F.lit(MISSING_ID).alias("error"), raw.alias("raw"))
    order = Window.partitionBy("name").orderBy(F.lit(""), *texts)
    ranked = rows.filter("name IS NOT NULL").withColumn("rank", F.row_number().over(order))
    return missing.union(ranked.filter("rank > 1").select(F.lit(DUPLICATE_ID), raw))


def overlap(names: DataFrame, documents: DataFrame) -> dict[str, int]:
    """Count the documents of the log that are missing; raise if none is there."""
    known_names = documents.select("name", F.lit(1).alias("there"))
    every, known = names.join(known_names, "name", "left").agg(F.count("*"), F.count("there")).collect()[0]
    if not known:
        if documents.isEmpty():
            raise UserError("the table of documents is empty")
        in_log, in_docs = (
            [row[0] for row in frame.select("name").sort("name").limit(3).collect()]
            for frame in (names, documents)
        )
        raise no_overlap_error(in_log, in_docs)
    return {"docs_in_log": every, "docs_missing": every - known}


def without_text(docs: DataFrame, fields: list[str]) -> int:
    """Count the documents without text in the most complete field."""
    filled = [F.count_if(F.col(f"text_{name}") != "") for name in fields]
    every, *texts = docs.agg(F.count("*"), *filled).collect()[0]
    return int(every - max(texts))
