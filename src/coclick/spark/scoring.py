"""`score` on Spark: the scores of given pairs by models that were trained there, as columns of features."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from coclick.arrays.csr import Csr
from coclick.errors import UserError
from coclick.models.base import Model, model_class
from coclick.models.click_graph.rw import RandomWalk
from coclick.models.propagation.rounds import row_dots
from coclick.spark.engine import default_parts, ours
from coclick.spark.graph import table_of
from coclick.spark.numbering import numbered
from coclick.spark.rw import Walks
from coclick.spark.storage import Place, Work, read_manifest_at, scratch
from coclick.text.normalise import normalise_batch

_ASKED = "query string, doc string, normal string"


def score(spark: SparkSession, models: str | Sequence[str], pairs: DataFrame, out: str) -> DataFrame:
    """The pairs (query, doc), each with a column of scores for every model, named after it.

    They are written as Parquet to the new directory `out`, and read from there. Scores are those of
    `Model.score`. A document that a model does not know scores 0, and so does a query that `rw` does not
    know; for a query that is not in the graph, a model of vectors has null: that takes the local engine.
    """
    for name in ("query", "doc"):
        if name not in pairs.columns:
            raise UserError(
                f"the pairs have no column {name!r}", hint=f"they have {', '.join(map(repr, pairs.columns))}"
            )
    session = ours(spark)
    with scratch(session, out, "scores") as (path, work):
        asked = pairs.select(F.col("query").cast("string"), F.col("doc").cast("string"))
        answers = work.saved("pairs", asked.mapInArrow(_normalise, _ASKED))
        columns: list[str] = []
        for place in [models] if isinstance(models, str) else models:
            opened = _Opened.at(session, place)
            name = opened.model.name
            columns.append(name if name not in columns else f"{name}_{len(columns)}")
            answers = opened.score(answers, columns[-1], work)
        answers.select("query", "doc", *columns).write.parquet(path)
    return spark.read.parquet(path)


@dataclass(frozen=True)
class _Opened:
    """A model on disk, and its tables."""

    spark: SparkSession
    path: str
    manifest: dict[str, Any]
    model: Model

    @classmethod
    def at(cls, spark: SparkSession, path: str) -> _Opened:
        place = Place(spark, path)
        manifest = read_manifest_at(place)
        if manifest["kind"] != "model" or manifest.get("layout") != "parquet":
            raise UserError(
                "this is not a model that was trained on Spark",
                where=path,
                hint="coclick train --engine spark",
            )
        model = model_class(manifest["model"])(**manifest["parameters"])
        return cls(spark, place.path, manifest, model)

    def table(self, name: str) -> DataFrame:
        return table_of(self.spark, self.path, self.manifest, name)

    def score(self, asked: DataFrame, column: str, work: Work) -> DataFrame:
        """The same rows with one more column."""
        queries = self.table("queries").select(F.col("text").alias("normal"), F.col("id").alias("q"))
        docs = self.table("docs").select(F.col("name").alias("doc"), F.col("id").alias("d"))
        known = asked.join(queries, "normal", "left").join(docs, "doc", "left")
        known = work.saved("known", known)
        scored = self._walked(known, work) if self.model.name == "rw" else self._multiplied(known)
        return scored.withColumnRenamed("score", column).drop("q", "d")

    def _multiplied(self, known: DataFrame) -> DataFrame:
        """By the dot products of vectors."""
        for side, key in (("query", "q"), ("doc", "d")):
            vectors = self.table(f"{side}_vectors").select(
                F.col("id").alias(key), F.col("columns").alias(f"{key}_c"), F.col("values").alias(f"{key}_v")
            )
            known = known.join(vectors, key, "left")
        kept = [name for name in known.columns if name[-2:] not in ("_c", "_v")]
        schema = ", ".join(f"`{name}` {kind}" for name, kind in known.select(kept).dtypes)
        products = known.mapInArrow(_Products(kept), f"{schema}, score float")
        found = F.when(F.col("d").isNull(), F.lit(0.0)).otherwise(F.greatest("score", F.lit(0.0)))
        return products.withColumn("score", F.when(F.col("q").isNotNull(), found).cast("float"))

    def _walked(self, known: DataFrame, work: Work) -> DataFrame:
        """By walks from the queries."""
        queries = known.filter("q IS NOT NULL").select(F.col("q").alias("node")).distinct()
        starts, count = numbered(queries, ["node"], work, "walkers")
        starts = starts.select("node", F.col("id").alias("walk"))
        sums = self.table("query_clicks"), self.table("doc_clicks")
        sizes = self.manifest["sizes"]
        assert isinstance(self.model, RandomWalk)
        counts = sizes["queries"], sizes["docs"], sizes["edges"]
        walks = Walks(self.spark, self.model, self.table("edges"), sums, *counts)
        parts = default_parts(self.spark, sizes["edges"])
        found = walks.run(starts, count, parts, work).join(starts, "walk")
        scores = found.select(F.col("node").alias("q"), F.col("doc").alias("d"), "score")
        joined = known.join(scores, ["q", "d"], "left")
        return joined.withColumn("score", F.coalesce("score", F.lit(0.0)).cast("float"))


def _normalise(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        spelt = batch["query"].dictionary_encode()
        texts = pa.array(normalise_batch(spelt.dictionary.to_pylist()), pa.string())
        yield batch.append_column("normal", texts.take(spelt.indices))


@dataclass(frozen=True)
class _Products:
    """Of two columns of sparse vectors, the dot product of each row."""

    kept: list[str]

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            left, right = (_rows(batch, key) for key in ("q", "d"))
            scores = row_dots(left, right).astype(np.float32)
            yield batch.select(self.kept).append_column("score", pa.array(scores))


def _rows(batch: pa.RecordBatch, key: str) -> Csr:
    """A column of vectors, of which some may be missing."""
    columns, values = batch[f"{key}_c"], batch[f"{key}_v"]
    lengths = columns.value_lengths().fill_null(0).to_numpy(zero_copy_only=False)
    indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    indices = np.array(columns.flatten().to_numpy(zero_copy_only=False), np.int32)
    return Csr(indptr, indices, np.array(values.flatten().to_numpy(zero_copy_only=False), np.float32), 0)
