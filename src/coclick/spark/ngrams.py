"""The units of texts on Spark: n-grams of words, which of them are units, and which text holds which.

A part finds the n-grams of its own texts. Added up, those in enough texts are the units; the numbers of the
units that a part's texts hold travel back to it, as those of words did.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from coclick.jit.threads import set_threads
from coclick.spark.numbering import numbered
from coclick.spark.serialization import cells, column
from coclick.spark.storage import Work
from coclick.spark.vocabulary import read_tokens
from coclick.text.ngrams import WordUnits

GRAM = ["g1", "g2", "g3"]
_FOUND = "part int, g1 int, g2 int, g3 int, texts long"
_HELD = "text long, unit long, whole boolean"


def find_grams(tokens: DataFrame, clicked: bool) -> DataFrame:
    """The distinct n-grams of each part's texts with clicks, or without; how many texts hold each."""
    return tokens.mapInArrow(_Find(clicked), _FOUND)


def units_of(grams: DataFrame, min_texts: int, work: Work) -> tuple[DataFrame, int]:
    """The n-grams that enough texts hold (id, g1, g2, g3, texts), by length, then by symbol."""
    counts = grams.groupBy(*GRAM).agg(F.sum("texts").alias("texts")).filter(F.col("texts") >= min_texts)
    size = F.lit(1) + (F.col("g2") >= 0).cast("int") + (F.col("g3") >= 0).cast("int")
    return numbered(counts.withColumn("size", size), ["size", *GRAM], work, "units")


def held_units(tokens: DataFrame, grams: DataFrame, units: DataFrame, parts: int, clicked: bool) -> DataFrame:
    """Which text holds which unit (text, unit, whole): of texts with clicks all units, of those without only
    the units that stand for them (§3.3)."""

    def hold(key: tuple[pa.Scalar, ...], table: pa.Table, known: pa.Table) -> pa.Table:
        set_threads(1)
        return _hold(table, known.sort_by("id"), clicked)

    own = grams.select("part", *GRAM).join(units.select("id", *GRAM), GRAM)
    known = own.repartitionById(parts, "part").groupBy("part")
    blocks = tokens.repartitionById(parts, "part").groupBy("part")
    return blocks.cogroup(known).applyInArrow(hold, _HELD)


@dataclass(frozen=True)
class _Find:
    clicked: bool

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        set_threads(1)
        for batch in batches:
            for part, payload in zip(batch["part"].to_pylist(), cells(batch, "tokens"), strict=True):
                _, clicked, tokens = read_tokens(payload)
                held = WordUnits.extract(tokens.only(clicked == self.clicked), 1)
                grams = held.table.grams()
                counts = np.bincount(held.units, minlength=len(grams)).astype(np.int64)
                symbols = {name: pa.array(grams[:, i]) for i, name in enumerate(GRAM)}
                owner = pa.array(np.full(len(grams), part, np.int32))
                yield pa.record_batch({"part": owner, **symbols, "texts": pa.array(counts)})


def _hold(table: pa.Table, known: pa.Table, clicked: bool) -> pa.Table:
    texts, units, whole = [np.empty(0, np.int64)], [np.empty(0, np.int64)], [np.empty(0, bool)]
    if len(known):
        grams = np.stack([column(known, name) for name in GRAM], axis=1).astype(np.int32)
        words, numbers = WordUnits.build(grams), column(known, "id")
        for payload in cells(table, "tokens"):
            ids, are_clicked, tokens = read_tokens(payload)
            tokens = tokens.only(are_clicked == clicked)
            found = words.incidence(tokens) if clicked else words.decompose(tokens)
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
