"""Score given pairs on Spark with models that were trained there, for example as ranking features."""

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
from coclick.models.base import Model
from coclick.models.click_graph.rw import RandomWalk
from coclick.models.persistence import with_saved_parameters
from coclick.models.propagation.iterations import row_dots
from coclick.models.registry import model_class
from coclick.spark.graph import read_table
from coclick.spark.numbering import assign_ids
from coclick.spark.rw import Walks
from coclick.spark.session import coclick_session, default_n_parts
from coclick.spark.storage import HadoopDir, WorkDir, read_manifest_at, scratch_table
from coclick.text.normalise import normalise_batch

_PAIR_SCHEMA = "query string, doc string, normal string"


def score(spark: SparkSession, models: str | Sequence[str], pairs: DataFrame, out: str) -> DataFrame:
    """Score pairs (query, doc) with each model; the score columns are named after the models.

    The result is written as Parquet to the new directory `out` and read back. Scores are those of
    `Model.score`. An unknown document scores 0, and so does an unknown query with `rw`. Vector models return
    null for a query outside the graph: only the local engine can score those.
    """
    for name in ("query", "doc"):
        if name not in pairs.columns:
            raise UserError(
                f"the pairs have no column {name!r}",
                hint=f"their columns are {', '.join(map(repr, pairs.columns))}",
            )
    session = coclick_session(spark)
    with scratch_table(session, out, "scores") as (path, work):
        texts = pairs.select(F.col("query").cast("string"), F.col("doc").cast("string"))
        answers = work.checkpoint("pairs", texts.mapInArrow(_normalise, _PAIR_SCHEMA))
        columns: list[str] = []
        for directory in [models] if isinstance(models, str) else models:
            opened = _OpenModel.open(session, directory)
            name = opened.model.name
            columns.append(name if name not in columns else f"{name}_{len(columns)}")
            answers = opened.score(answers, columns[-1], work)
        answers.select("query", "doc", *columns).write.parquet(path)
    return spark.read.parquet(path)


@dataclass(frozen=True)
class _OpenModel:
    """A model on disk and its tables."""

    spark: SparkSession
    path: str
    manifest: dict[str, Any]
    model: Model

    @classmethod
    def open(cls, spark: SparkSession, path: str) -> _OpenModel:
        directory = HadoopDir(spark, path)
        manifest = read_manifest_at(directory)
        if manifest["kind"] != "model" or manifest.get("layout") != "parquet":
            raise UserError(
                "this is not a model trained on Spark",
                where=path,
                hint="train it with coclick train --engine spark",
            )
        model = with_saved_parameters(model_class(manifest["model"]), manifest["parameters"])
        return cls(spark, directory.path, manifest, model)

    def table(self, name: str) -> DataFrame:
        return read_table(self.spark, self.path, self.manifest, name)

    def score(self, pairs: DataFrame, column: str, work: WorkDir) -> DataFrame:
        """Add a column with the scores of this model."""
        queries = self.table("queries").select(F.col("text").alias("normal"), F.col("id").alias("q"))
        docs = self.table("docs").select(F.col("name").alias("doc"), F.col("id").alias("d"))
        known = pairs.join(queries, "normal", "left").join(docs, "doc", "left")
        known = work.checkpoint("known", known)
        by_walks = self.model.name == "rw"
        scored = self._score_by_walks(known, work) if by_walks else self._score_by_vectors(known)
        return scored.withColumnRenamed("score", column).drop("q", "d")

    def _score_by_vectors(self, known: DataFrame) -> DataFrame:
        """Score by dot products of vectors."""
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

    def _score_by_walks(self, known: DataFrame, work: WorkDir) -> DataFrame:
        """Score by random walks from the queries."""
        queries = known.filter("q IS NOT NULL").select(F.col("q").alias("node")).distinct()
        starts, count = assign_ids(queries, ["node"], work, "walk-starts")
        starts = starts.select("node", F.col("id").alias("walk"))
        sums = self.table("query_clicks"), self.table("doc_clicks")
        sizes = self.manifest["sizes"]
        assert isinstance(self.model, RandomWalk)
        counts = sizes["queries"], sizes["docs"], sizes["edges"]
        walks = Walks(self.spark, self.model, self.table("edges"), sums, *counts)
        n_parts = default_n_parts(self.spark, sizes["edges"])
        found = walks.run(starts, count, n_parts, work).join(starts, "walk")
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
    """Add the dot products of two columns of sparse vectors."""

    kept: list[str]

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            left, right = (_rows(batch, key) for key in ("q", "d"))
            scores = row_dots(left, right).astype(np.float32)
            yield batch.select(self.kept).append_column("score", pa.array(scores))


def _rows(batch: pa.RecordBatch, key: str) -> Csr:
    """A column of vectors as a matrix; a null is an empty row."""
    columns, values = batch[f"{key}_c"], batch[f"{key}_v"]
    lengths = columns.value_lengths().fill_null(0).to_numpy(zero_copy_only=False)
    indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    indices = np.array(columns.flatten().to_numpy(zero_copy_only=False), np.int32)
    return Csr(indptr, indices, np.array(values.flatten().to_numpy(zero_copy_only=False), np.float32), 0)
