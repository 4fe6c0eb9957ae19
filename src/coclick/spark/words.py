"""The words of texts on Spark: one vocabulary of all parts, and each text as a sparse row over it.

A part counts its own words; added up, they are the vocabulary. Then the numbers of its own words, and no
others, travel back to each part, whose texts become sequences of numbers. Terms are numbered by their hash,
as `Words.by_hash` does it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from coclick.arrays.csr import Csr
from coclick.arrays.kernels import hash_strings
from coclick.arrays.strings import Strings
from coclick.jit.threads import set_threads
from coclick.spark.numbering import numbered
from coclick.spark.parts import Nodes
from coclick.spark.payload import cells, column, pack, pack_csr, part_row, unpack
from coclick.spark.storage import Work
from coclick.text.analyzer import Analyzer, Tokens, VocabularyBuilder

BLOCK = "part int, vectors binary"
_TOKENS = "part int, tokens binary"
_COUNTED = "part int, term string, surface string, n long, texts long"


@dataclass(frozen=True)
class Vocabulary:
    """Terms with numbers."""

    terms: DataFrame  # id, text, surface, hash, texts: how many hold the term
    size: int

    @classmethod
    def of(cls, counted: DataFrame, work: Work) -> Vocabulary:
        """Every term that was counted."""
        forms = counted.groupBy("term", "surface").agg(F.sum("n").alias("n"), F.sum("texts").alias("texts"))
        terms = forms.groupBy(F.col("term").alias("text")).agg(
            commonest_surface(), F.sum("texts").alias("texts")
        )
        hashed = terms.mapInArrow(_add_hashes, "text string, surface string, texts long, hash long")
        return cls(*numbered(hashed, ["hash", "text"], work, "terms"))

    def known(self, counted: DataFrame) -> DataFrame:
        """For each part the numbers of the terms that its texts hold: (part, term, id)."""
        places = counted.select("part", "term").distinct()
        return places.join(self.terms.select(F.col("text").alias("term"), "id"), "term")


def commonest_surface() -> Column:
    """Of the forms (surface, n) of a term the commonest, then the shorter, then by letter: as
    `TermIndex.finish` chooses."""
    rank = F.struct(-F.col("n"), F.length("surface"), F.col("surface"))
    return F.min_by("surface", rank).alias("surface")


def inverse_frequency(texts: int, holders: str) -> Column:
    """How rare a term is among so many texts, as `views.inverse_frequency` has it; `holders` is the column
    that says how many hold it."""
    return F.log1p(F.lit(float(texts)) / F.greatest(holders, F.lit(1))).cast("float")


def joined_fields(names: Sequence[str]) -> Column:
    """For each document the chosen fields, one behind the other."""
    return F.concat_ws(" ", *(F.col(f"text_{name}") for name in names)).alias("text")


def in_parts(texts: DataFrame, nodes: Nodes) -> DataFrame:
    """Texts (id, text) with the part that each is in, every part on one executor."""
    part = (F.col("id") % nodes.parts).cast("int").alias("part")
    return texts.select("*", part).repartitionById(nodes.parts, "part")


def count_words(texts: DataFrame, analyzer: Analyzer, work: Work, name: str = "words") -> DataFrame:
    """The words of texts in parts, with how often each occurs and how many texts hold it."""

    def count(key: tuple[pa.Scalar, ...], table: pa.Table) -> pa.Table:
        return _count(key[0].as_py(), table["text"].to_pylist(), analyzer)

    return work.saved(name, texts.groupBy("part").applyInArrow(count, _COUNTED))


def token_blocks(texts: DataFrame, known: DataFrame, analyzer: Analyzer, parts: int) -> DataFrame:
    """Blocks of texts (id, text, clicked, part) as sequences of terms, in the order of their ids."""

    def tokens(key: tuple[pa.Scalar, ...], table: pa.Table, terms: pa.Table) -> pa.Table:
        set_threads(1)
        table = table.sort_by("id")
        found = tokens_of(table, terms, analyzer)
        clicked = column(table, "clicked").astype(np.uint8)
        payload = pack([column(table, "id"), clicked, found.indptr, found.terms])
        return part_row(key[0].as_py(), tokens=payload)

    own = known.repartitionById(parts, "part").groupBy("part")
    return texts.groupBy("part").cogroup(own).applyInArrow(tokens, _TOKENS)


def read_tokens(payload: pa.Buffer) -> tuple[NDArray[np.int64], NDArray[np.bool_], Tokens]:
    """Of a block: the texts' ids, whether each has clicks, and their terms."""
    ids, clicked, indptr, terms = unpack(payload)
    return ids, clicked.astype(bool), Tokens(indptr, terms)


@dataclass(frozen=True)
class Rows:
    """From blocks of all texts to blocks of rows: `make_rows` of their terms."""

    nodes: Nodes
    make_rows: Callable[[Tokens], Csr]

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """For `mapInArrow`."""
        set_threads(1)
        for batch in batches:
            for part, payload in zip(batch["part"].to_pylist(), cells(batch, "tokens"), strict=True):
                _, _, tokens = read_tokens(payload)
                if len(tokens) != self.nodes.rows(part):
                    raise RuntimeError("the texts of a part are not complete")
                yield from part_row(part, vectors=pack_csr(self.make_rows(tokens))).to_batches()


def tokens_of(texts: pa.Table, known: pa.Table, analyzer: Analyzer) -> Tokens:
    """The terms of a part's texts by the numbers that are known, −1 for others."""
    seen = VocabularyBuilder()
    tokens = analyzer.analyze(texts["text"].to_pylist(), seen)
    places = pc.index_in(pa.array(seen.terms, pa.string()), value_set=known["term"].combine_chunks())
    numbers = pc.fill_null(known["id"].combine_chunks().take(places), -1)
    return tokens.renumbered(numbers.to_numpy(zero_copy_only=False).astype(np.int32))


def _count(part: int, texts: list[str], analyzer: Analyzer) -> pa.Table:
    """A part's surface forms with their terms, how often each occurs, and how many texts hold the term."""
    set_threads(1)
    seen = VocabularyBuilder()
    tokens = analyzer.analyze(texts, seen)
    rows = np.repeat(np.arange(len(tokens)), np.diff(tokens.indptr))
    distinct = np.unique(tokens.terms.astype(np.int64) * len(tokens) + rows) // max(len(tokens), 1)
    texts_with = np.bincount(distinct, minlength=len(seen.terms))
    surfaces, term_of, counts = seen.surface_forms()
    first = np.zeros(len(term_of), bool)  # a term's texts are told once, not with each of its forms
    first[np.unique(term_of, return_index=True)[1]] = True
    return pa.table(
        {
            "part": pa.array(np.full(len(surfaces), part, np.int32)),
            "term": pa.array(seen.terms, pa.string()).take(pa.array(term_of)),
            "surface": pa.array(surfaces, pa.string()),
            "n": pa.array(counts),
            "texts": pa.array(np.where(first, texts_with[term_of], 0).astype(np.int64)),
        }
    )


def _add_hashes(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        terms = Strings.from_list(batch["text"].to_pylist())
        found = np.empty(len(terms), np.uint32)
        hash_strings(terms.offsets, terms.data, found)
        yield batch.append_column("hash", pa.array(found.astype(np.int64)))
