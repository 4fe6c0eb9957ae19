"""The units of texts on Spark: n-grams of words, which of them are units, and which text holds which.

A part finds the n-grams of its own texts. Added up, those in enough texts are the units; the numbers of the
units that a part's texts hold travel back to it, as those of words did.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from coclick.kernels.threads import set_threads
from coclick.ngrams import WordUnits
from coclick.spark.numbering import numbered
from coclick.spark.payload import cells, column, pack, unpack
from coclick.spark.storage import Work
from coclick.spark.words import tokens_of
from coclick.text import Analyzer, Tokens

GRAM = ["g1", "g2", "g3"]
_TOKENS = "part int, tokens binary"
_FOUND = "part int, g1 int, g2 int, g3 int, texts long"
_HELD = "text long, unit long, whole boolean"


def token_blocks(texts: DataFrame, known: DataFrame, analyzer: Analyzer, parts: int) -> DataFrame:
    """Blocks of texts (id, text, part) as sequences of terms, with the texts' ids."""

    def tokens(key: tuple[pa.Scalar, ...], table: pa.Table, terms: pa.Table) -> pa.Table:
        set_threads(1)
        found = tokens_of(table, terms, analyzer)
        payload = pack([column(table, "id"), found.indptr, found.terms])
        return pa.table(
            {"part": pa.array([key[0].as_py()], pa.int32()), "tokens": pa.array([payload], pa.binary())}
        )

    own = known.repartitionById(parts, "part").groupBy("part")
    return texts.groupBy("part").cogroup(own).applyInArrow(tokens, _TOKENS)


def find_grams(tokens: DataFrame) -> DataFrame:
    """The distinct n-grams of each part, and how many of its texts hold each."""
    return tokens.mapInArrow(_find, _FOUND)


def units_of(grams: DataFrame, min_texts: int, work: Work) -> tuple[DataFrame, int]:
    """The n-grams that enough texts hold (id, g1, g2, g3, texts), by length, then by symbol."""
    counts = grams.groupBy(*GRAM).agg(F.sum("texts").alias("texts")).filter(F.col("texts") >= min_texts)
    size = F.lit(1) + (F.col("g2") >= 0).cast("int") + (F.col("g3") >= 0).cast("int")
    return numbered(counts.withColumn("size", size), ["size", *GRAM], work, "units")


def held_units(
    tokens: DataFrame, grams: DataFrame, units: DataFrame, parts: int, decompose: bool
) -> DataFrame:
    """Which text holds which unit (text, unit, whole); decomposed, only those that stand for it (§3.3)."""

    def hold(key: tuple[pa.Scalar, ...], table: pa.Table, known: pa.Table) -> pa.Table:
        set_threads(1)
        return _hold(table, known.sort_by("id"), decompose)

    own = grams.select("part", *GRAM).join(units.select("id", *GRAM), GRAM)
    known = own.repartitionById(parts, "part").groupBy("part")
    blocks = tokens.repartitionById(parts, "part").groupBy("part")
    return blocks.cogroup(known).applyInArrow(hold, _HELD)


def _find(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    set_threads(1)
    for batch in batches:
        for part, payload in zip(batch["part"].to_pylist(), cells(batch, "tokens"), strict=True):
            _, indptr, terms = unpack(payload)
            held = WordUnits.extract(Tokens(indptr, terms), 1)
            grams = held.table.grams()
            counts = np.bincount(held.units, minlength=len(grams)).astype(np.int64)
            symbols = {name: pa.array(grams[:, i]) for i, name in enumerate(GRAM)}
            owner = pa.array(np.full(len(grams), part, np.int32))
            yield pa.record_batch({"part": owner, **symbols, "texts": pa.array(counts)})


def _hold(table: pa.Table, known: pa.Table, decompose: bool) -> pa.Table:
    texts, units, whole = [np.empty(0, np.int64)], [np.empty(0, np.int64)], [np.empty(0, bool)]
    if len(known):
        grams = np.stack([column(known, name) for name in GRAM], axis=1).astype(np.int32)
        words, numbers = WordUnits.build(grams), column(known, "id")
        for payload in cells(table, "tokens"):
            ids, indptr, terms = unpack(payload)
            tokens = Tokens(indptr, terms)
            found = words.decompose(tokens) if decompose else words.incidence(tokens)
            lengths = np.diff(found.indptr)
            texts.append(np.repeat(ids, lengths))
            units.append(numbers[found.units])
            whole.append(np.repeat(found.whole, lengths) == found.units)
    return pa.table(
        {
            "text": pa.array(np.concatenate(texts)),
            "unit": pa.array(np.concatenate(units)),
            "whole": pa.array(np.concatenate(whole)),
        }
    )
