"""Units of texts on Spark: count word n-grams, select the units, and find which text contains which unit.

Each part counts the n-grams of its texts. The n-grams that occur in enough texts overall are the units. Each
part then receives the ids of the units that its texts contain.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from coclick.spark.numbering import assign_ids
from coclick.spark.partitioning import apply_to_parts, by_part
from coclick.spark.serialization import buffers, map_parts, to_numpy
from coclick.spark.storage import WorkDir
from coclick.spark.vocabulary import unpack_tokens
from coclick.text.ngrams import WordUnits

GRAM_COLUMNS = ["g1", "g2", "g3"]
_NGRAM_SCHEMA = "part int, g1 int, g2 int, g3 int, texts long"
_INCIDENCE_SCHEMA = "text long, unit long, whole boolean"


def count_ngrams(tokens: DataFrame, clicked: bool) -> DataFrame:
    """Count in each part the texts that contain each n-gram, among texts with or without clicks."""

    def count(part: int, payload: pa.Buffer) -> Iterator[pa.RecordBatch]:
        _, are_clicked, found = unpack_tokens(payload)
        extracted = WordUnits.extract(found.only(are_clicked == clicked), 1)
        grams = extracted.table.grams()
        counts = np.bincount(extracted.units, minlength=len(grams)).astype(np.int64)
        symbols = {name: pa.array(grams[:, i]) for i, name in enumerate(GRAM_COLUMNS)}
        yield pa.record_batch({"part": np.full(len(grams), part, np.int32), **symbols, "texts": counts})

    return tokens.mapInArrow(map_parts(count, "tokens"), _NGRAM_SCHEMA)


def select_units(grams: DataFrame, min_texts: int, work: WorkDir) -> tuple[DataFrame, int]:
    """Select the n-grams that occur in at least `min_texts` texts (id, g1, g2, g3, texts).

    Ids are assigned by length, then by terms.
    """
    counts = grams.groupBy(*GRAM_COLUMNS).agg(F.sum("texts").alias("texts"))
    counts = counts.filter(F.col("texts") >= min_texts)
    size = F.lit(1) + (F.col("g2") >= 0).cast("int") + (F.col("g3") >= 0).cast("int")
    return assign_ids(counts.withColumn("size", size), ["size", *GRAM_COLUMNS], work, "units")


def unit_incidence(
    tokens: DataFrame, grams: DataFrame, units: DataFrame, n_parts: int, clicked: bool
) -> DataFrame:
    """Return which text contains which unit (text, unit, whole).

    Texts with clicks list all their units, texts without only the units they are decomposed into (Jiang et
    al. 2016 §3.3).
    """
    own = grams.select("part", *GRAM_COLUMNS).join(units.select("id", *GRAM_COLUMNS), GRAM_COLUMNS)
    found = partial(_incidence_of_part, clicked)
    return apply_to_parts(found, _INCIDENCE_SCHEMA, by_part(tokens, n_parts), by_part(own, n_parts))


def _incidence_of_part(clicked: bool, part: int, table: pa.Table, known: pa.Table) -> pa.Table:
    known = known.sort_by("id")
    texts, units, whole = [np.empty(0, np.int64)], [np.empty(0, np.int64)], [np.empty(0, bool)]
    if len(known):
        grams = np.stack([to_numpy(known, name) for name in GRAM_COLUMNS], axis=1).astype(np.int32)
        words, numbers = WordUnits.build(grams), to_numpy(known, "id")
        for payload in buffers(table, "tokens"):
            ids, are_clicked, tokens = unpack_tokens(payload)
            tokens = tokens.only(are_clicked == clicked)
            found = words.incidence(tokens) if clicked else words.decompose(tokens)
            lengths = np.diff(found.indptr)
            texts.append(np.repeat(ids, lengths))
            units.append(numbers[found.units])
            whole.append(np.repeat(found.whole, lengths) == found.units)
    columns = {"text": texts, "unit": units, "whole": whole}
    return pa.table({name: np.concatenate(pieces) for name, pieces in columns.items()})
