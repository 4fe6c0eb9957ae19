"""Vocabulary and tokens on Spark: one vocabulary for all parts, and each text as a sequence of term ids.

Each part counts its words; the sum is the vocabulary. Each part then receives the ids of its own words only
and tokenizes its texts. Term ids are ordered by hash, as in `TermMatrix.sorted_by_hash`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from coclick.arrays.csr import Csr
from coclick.arrays.kernels import hash_strings
from coclick.arrays.strings import Strings
from coclick.spark.numbering import assign_ids
from coclick.spark.partitioning import NodeSet, apply_to_parts, by_part
from coclick.spark.serialization import map_parts, pack, pack_csr, part_row, to_numpy, unpack
from coclick.spark.storage import WorkDir
from coclick.text.analyzer import Analyzer, Tokens, VocabularyBuilder

BLOCK_SCHEMA = "part int, vectors binary"
_TOKEN_SCHEMA = "part int, tokens binary"
_COUNT_SCHEMA = "part int, term string, surface string, n long, texts long"


@dataclass(frozen=True)
class Vocabulary:
    """Terms with ids."""

    terms: DataFrame  # id, text, surface, hash, texts (the number that contain the term)
    size: int

    @classmethod
    def from_counts(cls, counted: DataFrame, work: WorkDir) -> Vocabulary:
        """Build the vocabulary of all counted terms."""
        forms = counted.groupBy("term", "surface").agg(F.sum("n").alias("n"), F.sum("texts").alias("texts"))
        terms = forms.groupBy(F.col("term").alias("text")).agg(
            most_frequent_surface(), F.sum("texts").alias("texts")
        )
        hashed = terms.mapInArrow(_add_hashes, "text string, surface string, texts long, hash long")
        return cls(*assign_ids(hashed, ["hash", "text"], work, "terms"))

    def ids_by_part(self, counted: DataFrame) -> DataFrame:
        """Return the ids of the terms in each part's texts: (part, term, id)."""
        words = counted.select("part", "term").distinct()
        return words.join(self.terms.select(F.col("text").alias("term"), "id"), "term")


def most_frequent_surface() -> Column:
    """Choose the most frequent surface form of a term, then the shorter, then the alphabetically first.

    `VocabularyBuilder.finish` chooses in the same way.
    """
    rank = F.struct(-F.col("n"), F.length("surface"), F.col("surface"))
    return F.min_by("surface", rank).alias("surface")


def inverse_frequency(n_texts: int, doc_frequency: str) -> Column:
    """Return the idf as `term_matrix.inverse_frequency` does; `doc_frequency` is a column name."""
    return F.log1p(F.lit(float(n_texts)) / F.greatest(doc_frequency, F.lit(1))).cast("float")


def join_fields(names: Sequence[str]) -> Column:
    """Concatenate the chosen text fields."""
    return F.concat_ws(" ", *(F.col(f"text_{name}") for name in names)).alias("text")


def assign_parts(texts: DataFrame, nodes: NodeSet) -> DataFrame:
    """Add the part of each text (id, text) and place each part on one executor."""
    part = (F.col("id") % nodes.n_parts).cast("int").alias("part")
    return texts.select("*", part).repartitionById(nodes.n_parts, "part")


def count_words(texts: DataFrame, analyzer: Analyzer, work: WorkDir, name: str = "words") -> DataFrame:
    """Count the words of each part: occurrences, and texts that contain the term."""
    counts = apply_to_parts(partial(_count, analyzer), _COUNT_SCHEMA, texts.groupBy("part"))
    return work.checkpoint(name, counts)


def token_blocks(texts: DataFrame, known: DataFrame, analyzer: Analyzer, n_parts: int) -> DataFrame:
    """Tokenize texts (id, text, clicked, part) into blocks of term sequences, ordered by id."""

    def tokens(part: int, table: pa.Table, terms: pa.Table) -> pa.Table:
        table = table.sort_by("id")
        found = tokenize_part(table, terms, analyzer)
        clicked = to_numpy(table, "clicked").astype(np.uint8)
        payload = pack([to_numpy(table, "id"), clicked, found.indptr, found.terms])
        return part_row(part, tokens=payload)

    return apply_to_parts(tokens, _TOKEN_SCHEMA, texts.groupBy("part"), by_part(known, n_parts))


def unpack_tokens(payload: pa.Buffer) -> tuple[NDArray[np.int64], NDArray[np.bool_], Tokens]:
    """Return a block's text ids, whether each text has clicks, and the tokens."""
    ids, clicked, indptr, terms = unpack(payload)
    return ids, clicked.astype(bool), Tokens(indptr, terms)


def vector_blocks(tokens: DataFrame, nodes: NodeSet, make_rows: Callable[[Tokens], Csr]) -> DataFrame:
    """Convert blocks of tokens to blocks of vectors with `make_rows`."""

    def block(part: int, payload: pa.Buffer) -> list[pa.RecordBatch]:
        _, _, found = unpack_tokens(payload)
        if len(found) != nodes.n_rows(part):
            raise RuntimeError("the texts of a part are not complete")
        return part_row(part, vectors=pack_csr(make_rows(found))).to_batches()

    return tokens.mapInArrow(map_parts(block, "tokens"), BLOCK_SCHEMA)


def tokenize_part(texts: pa.Table, known: pa.Table, analyzer: Analyzer) -> Tokens:
    """Tokenize a part's texts with the known term ids; unknown terms get −1."""
    seen = VocabularyBuilder()
    tokens = analyzer.analyze(texts["text"].to_pylist(), seen)
    positions = pc.index_in(pa.array(seen.terms, pa.string()), value_set=known["term"].combine_chunks())
    numbers = pc.fill_null(known["id"].combine_chunks().take(positions), -1)
    return tokens.renumbered(numbers.to_numpy(zero_copy_only=False).astype(np.int32))


def _count(analyzer: Analyzer, part: int, table: pa.Table) -> pa.Table:
    """A part's surface forms with their terms, occurrences, and texts that contain the term."""
    seen = VocabularyBuilder()
    tokens = analyzer.analyze(table["text"].to_pylist(), seen)
    rows = np.repeat(np.arange(len(tokens)), np.diff(tokens.indptr))
    distinct = np.unique(tokens.terms.astype(np.int64) * len(tokens) + rows) // max(len(tokens), 1)
    texts_with = np.bincount(distinct, minlength=len(seen.terms))
    surfaces, term_of, counts = seen.surface_forms()
    first = np.zeros(len(term_of), bool)  # count the texts of a term once, not with each of its surface forms
    first[np.unique(term_of, return_index=True)[1]] = True
    return pa.table(
        {
            "part": np.full(len(surfaces), part, np.int32),
            "term": pa.array(seen.terms, pa.string()).take(pa.array(term_of)),
            "surface": pa.array(surfaces, pa.string()),
            "n": counts,
            "texts": np.where(first, texts_with[term_of], 0).astype(np.int64),
        }
    )


def _add_hashes(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        terms = Strings.from_list(batch["text"].to_pylist())
        found = np.empty(len(terms), np.uint32)
        hash_strings(terms.offsets, terms.data, found)
        yield batch.append_column("hash", pa.array(found.astype(np.int64)))
