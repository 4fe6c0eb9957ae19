"""DOCS on Spark: the documents' texts, one field a column, read by the rules of the local engine."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from coclick.errors import UserError
from coclick.logs.documents import field_names
from coclick.logs.fields import Column
from coclick.spark.storage import Work
from coclick.spark.typed import described, in_memory


@dataclass(frozen=True)
class _Texts:
    """From batches of a table of documents to (name, text_<field> …)."""

    fields: dict[int, str]  # column → field, "doc" being the id

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        with in_memory() as connection:
            for batch in batches:
                if batch.num_rows:
                    yield from self._texts(connection, batch)

    def _texts(self, connection: Any, batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        table = pa.Table.from_batches([batch])
        connection.register("batch", table.rename_columns([f"c{i}" for i in range(table.num_columns)]))
        kinds = {name: kind for name, kind, *_ in connection.execute("DESCRIBE batch").fetchall()}
        chosen = []
        for place, name in self.fields.items():
            text = Column(f"c{place}", kinds[f"c{place}"]).text()
            chosen.append(f"{text} AS name" if name == "doc" else f"coalesce({text}, '') AS text_{name}")
        yield from connection.sql(f"SELECT {', '.join(chosen)} FROM batch").to_arrow_table().to_batches()


def read(docs: DataFrame, work: Work) -> tuple[DataFrame, list[str]]:
    """Table (name, text_<field> …), and its fields. Of several documents with one id the first counts by its
    texts: a DataFrame has no first row."""
    fields = field_names(described(docs, "the documents"))
    texts = [name for name in fields.values() if name != "doc"]
    schema = ", ".join("name string" if name == "doc" else f"text_{name} string" for name in fields.values())
    rows = docs.mapInArrow(_Texts(fields), schema).filter("name IS NOT NULL")
    columns = [f"text_{name}" for name in texts]
    if columns:
        chosen = rows.groupBy("name").agg(F.min(F.struct(*columns)).alias("texts"))
        rows = chosen.select("name", *(F.col(f"texts.{column}").alias(column) for column in columns))
    else:
        rows = rows.distinct()
    return work.saved("documents", rows), texts


def overlap(names: DataFrame, documents: DataFrame) -> dict[str, int]:
    """How many of the log's documents are missing; a log of which none is there belongs to something else."""
    there = documents.select("name", F.lit(1).alias("there"))
    every, known = names.join(there, "name", "left").agg(F.count("*"), F.count("there")).collect()[0]
    if not known:
        if documents.isEmpty():
            raise UserError("there is no document among the documents")
        examples = [
            ", ".join(repr(row[0]) for row in frame.select("name").sort("name").limit(3).collect())
            for frame in (names, documents)
        ]
        raise UserError(
            "none of the log's documents is among the documents",
            hint=f"compare the ids: the log has {examples[0]}; the documents have {examples[1]}",
        )
    return {"docs_missing": every - known}
