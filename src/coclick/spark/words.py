"""The words of texts on Spark: one vocabulary of all parts, and each text as a sparse row over it.

A part counts its own words; added up, they are the vocabulary. Then the numbers of its own words, and no
others, travel back to each part. Terms are numbered by their hash: where vectors are pruned, ties go to the
smaller hash (`coclick.propagation.term_hash`), and so to the smaller number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from coclick.kernels.strings import hashes
from coclick.kernels.threads import set_threads
from coclick.spark.numbering import numbered
from coclick.spark.parts import Nodes
from coclick.spark.payload import pack_csr
from coclick.spark.storage import Work
from coclick.sparse import Csr
from coclick.strings import Strings
from coclick.text import Analyzer, TermIndex, Tokens
from coclick.views import count_terms

BLOCK = "part int, vectors binary"
_COUNTED = "part int, term string, surface string, n long, texts long"


@dataclass(frozen=True)
class Vocabulary:
    """Terms with numbers, and for each part the numbers of the terms that its texts hold."""

    terms: DataFrame  # id, text, surface, hash, texts: how many hold the term
    size: int
    by_part: DataFrame  # part, term, id


def in_parts(texts: DataFrame, nodes: Nodes) -> DataFrame:
    """Texts (id, text) with the part that each is in, every part on one executor."""
    part = (F.col("id") % nodes.parts).cast("int").alias("part")
    return texts.select("id", "text", part).repartitionById(nodes.parts, "part")


def count_words(texts: DataFrame, analyzer: Analyzer, work: Work) -> Vocabulary:
    """The vocabulary of texts in parts; every term is kept."""

    def count(key: tuple[pa.Scalar, ...], table: pa.Table) -> pa.Table:
        return _count(key[0].as_py(), table["text"].to_pylist(), analyzer)

    counted = work.saved("words", texts.groupBy("part").applyInArrow(count, _COUNTED))
    forms = counted.groupBy("term", "surface").agg(F.sum("n").alias("n"), F.sum("texts").alias("texts"))
    # The commonest surface form, then the shorter, then by letter: as `TermIndex.finish` chooses.
    rank = F.struct(-F.col("n"), F.length("surface"), F.col("surface"))
    terms = forms.groupBy(F.col("term").alias("text")).agg(
        F.min_by("surface", rank).alias("surface"), F.sum("texts").alias("texts")
    )
    hashed = terms.mapInArrow(_add_hashes, "text string, surface string, texts long, hash long")
    terms, size = numbered(hashed, ["hash", "text"], work, "terms")
    places = counted.select("part", "term").distinct()
    by_part = places.join(terms.select(F.col("text").alias("term"), "id"), "term")
    return Vocabulary(terms, size, work.saved("terms-by-part", by_part.select("part", "term", "id")))


def rows_of_words(
    texts: DataFrame,
    vocabulary: Vocabulary,
    analyzer: Analyzer,
    nodes: Nodes,
    make_rows: Callable[[Csr], Csr],
) -> DataFrame:
    """Blocks of texts as rows of words: `make_rows` of the counts of their terms."""
    size = vocabulary.size

    def rows(key: tuple[pa.Scalar, ...], table: pa.Table, known: pa.Table) -> pa.Table:
        set_threads(1)
        part = key[0].as_py()
        tokens = tokens_of(table, known, analyzer)
        if len(tokens) != nodes.rows(part):
            raise RuntimeError("the texts of a part are not complete")
        return pa.table(
            {
                "part": pa.array([part], pa.int32()),
                "vectors": pa.array([pack_csr(make_rows(count_terms(tokens, size)))], pa.binary()),
            }
        )

    own = vocabulary.by_part.repartitionById(nodes.parts, "part").groupBy("part")
    return texts.groupBy("part").cogroup(own).applyInArrow(rows, BLOCK)


def tokens_of(texts: pa.Table, known: pa.Table, analyzer: Analyzer) -> Tokens:
    """The terms of a part's texts, in the order of their ids, by the numbers that are known."""
    ordered = texts.sort_by("id")["text"].to_pylist()
    seen = TermIndex()
    tokens = analyzer.analyze(ordered, seen)
    places = pc.index_in(pa.array(seen.terms, pa.string()), value_set=known["term"].combine_chunks())
    numbers = pc.fill_null(known["id"].combine_chunks().take(places), -1)
    return tokens.renumbered(numbers.to_numpy(zero_copy_only=False).astype(np.int32))


def _count(part: int, texts: list[str], analyzer: Analyzer) -> pa.Table:
    """A part's surface forms with their terms, how often each occurs, and how many texts hold the term."""
    set_threads(1)
    seen = TermIndex()
    tokens = analyzer.analyze(texts, seen)
    rows = np.repeat(np.arange(len(tokens)), np.diff(tokens.indptr))
    distinct = np.unique(tokens.terms.astype(np.int64) * len(tokens) + rows) // max(len(tokens), 1)
    texts_with = np.bincount(distinct, minlength=len(seen.terms))
    surfaces, term_of, counts = seen.forms()
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
        hashes(terms.offsets, terms.data, found)
        yield batch.append_column("hash", pa.array(found.astype(np.int64)))
