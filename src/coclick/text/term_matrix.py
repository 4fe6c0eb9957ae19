"""Texts as sparse matrices of words: a row a text, a column a term."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coclick.arrays.csr import Csr
from coclick.arrays.strings import Strings, Vocab
from coclick.errors import UserError
from coclick.text.analyzer import Analyzer, TermIndex, Tokens


@dataclass(frozen=True)
class TermMatrix:
    """A collection cut into terms, with its vocabulary in canonical order."""

    tokens: Tokens
    terms: Vocab
    surfaces: Strings  # for each term its commonest surface form

    @classmethod
    def fit(cls, texts: Strings | Iterator[str], analyzer: Analyzer) -> TermMatrix:
        """Cut all texts; every term is kept."""
        seen = TermIndex()
        tokens = analyzer.analyze(texts if isinstance(texts, Iterator) else each_text(texts), seen)
        finished = seen.finish()
        packed = Strings.from_list(finished.terms)
        return cls(
            tokens.renumbered(finished.new_ids),
            Vocab(packed.offsets, packed.data),
            Strings.from_list(finished.surfaces),
        )

    def commonest(self, most: int | None) -> TermMatrix:
        """With only the terms that occur most often; of equals the first."""
        if most is None or len(self.terms) <= most:
            return self
        frequency = np.bincount(self.tokens.terms, minlength=len(self.terms))
        kept = np.sort(np.argsort(-frequency, kind="stable")[:most])
        new_ids = np.full(len(self.terms), -1, np.int32)
        new_ids[kept] = np.arange(most, dtype=np.int32)
        packed = self.terms.take(kept)
        terms = Vocab(packed.offsets, packed.data)
        return TermMatrix(self.tokens.renumbered(new_ids), terms, self.surfaces.take(kept))

    def by_hash(self) -> TermMatrix:
        """With terms numbered by the hash of their text, so that no letter is favoured by small numbers."""
        from coclick.arrays.kernels import hash_strings

        hashes = np.empty(len(self.terms), np.uint32)
        hash_strings(self.terms.offsets, self.terms.data, hashes)
        order = np.argsort(hashes, kind="stable").astype(np.int32)
        new_ids = np.empty_like(order)
        new_ids[order] = np.arange(len(order), dtype=np.int32)
        packed = self.terms.take(order)
        terms = Vocab(packed.offsets, packed.data, order=new_ids)
        return TermMatrix(self.tokens.renumbered(new_ids), terms, self.surfaces.take(order))

    def counts(self) -> Csr:
        """How often each term occurs in each text."""
        return count_terms(self.tokens, len(self.terms))


def choose_fields(texts: Mapping[str, Any], fields: str) -> list[str]:
    """The text fields meant by `"all"` or by names joined with `+`, such as `"title+body"`."""
    if not texts:
        raise UserError("the graph's documents have no texts", hint="build it with --docs")
    if fields == "all":
        return sorted(texts, key=lambda name: (name != "title", name))
    wanted = fields.split("+")
    for name in wanted:
        if name not in texts:
            raise UserError(f"the documents have no field {name!r}", hint=f"they have {', '.join(texts)}")
    return wanted


def document_texts(texts: Mapping[str, Strings], fields: str) -> Iterator[str]:
    """For each document all the text that is meant by `fields`."""
    return joined_fields(texts, choose_fields(texts, fields))


def short_field(names: Iterable[str]) -> str:
    """The field that stands for a document in few words: its title or, where there are none, the first by
    name, so that the order of the columns in a file does not matter."""
    return min(names, key=lambda name: (name != "title", name), default="title")


def titles(texts: Mapping[str, Strings]) -> Strings | None:
    """What stands for each document in few words."""
    return texts.get(short_field(texts))


def joined_fields(texts: Mapping[str, Strings], fields: list[str]) -> Iterator[str]:
    """For each document the chosen fields, one behind the other."""
    columns = [each_text(texts[name]) for name in fields]
    return columns[0] if len(columns) == 1 else map(" ".join, zip(*columns, strict=True))


def count_terms(tokens: Tokens, terms: int) -> Csr:
    """How often each known term occurs in each text."""
    rows = np.repeat(np.arange(len(tokens)), np.diff(tokens.indptr))
    known = tokens.terms >= 0
    ones = np.ones(int(known.sum()), np.float32)
    return Csr.from_triples(rows[known], tokens.terms[known], ones, (len(tokens), terms))


def inverse_frequency(matrix: Csr) -> NDArray[np.float32]:
    """For each term, how rare it is among the rows."""
    frequency = np.bincount(matrix.indices, minlength=matrix.columns)
    return np.log1p(matrix.rows / np.maximum(frequency, 1)).astype(np.float32)


def tf_idf(counts: Csr, idf: NDArray[np.float32], tf: str) -> Csr:
    """Counts c of terms, as they are ("count") or as 1 + ln c ("log"), times idf; rows of unit length."""
    frequency = 1 + np.log(counts.data) if tf == "log" else counts.data
    return unit_rows(counts.with_data(frequency * idf[counts.indices]))


def unit_rows(matrix: Csr) -> Csr:
    """Every row divided by its Euclidean length; empty rows stay empty."""
    lengths = np.sqrt(matrix.with_data(matrix.data * matrix.data).row_sums())
    scale = np.repeat(lengths, matrix.row_nnz())
    return matrix.with_data((matrix.data / np.maximum(scale, 1e-30)).astype(np.float32))


def each_text(texts: Strings) -> Iterator[str]:
    """One after the other, without all of them in memory as Python's own."""
    for chunk in texts.chunks():
        yield from chunk
