"""Sparse term matrices (a row per text, a column per term), and the text fields of documents."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coclick.arrays.csr import Csr
from coclick.arrays.strings import Strings, Vocab
from coclick.errors import UserError
from coclick.text.analyzer import Analyzer, Tokens, VocabularyBuilder, remembered_tokens

_MAX_SHARED = 4  # collections of texts


@dataclass(frozen=True)
class TermMatrix:
    """The terms of a collection of texts, with their vocabulary."""

    tokens: Tokens
    terms: Vocab
    display_terms: Strings  # for each term its most frequent surface form

    @classmethod
    def fit(cls, texts: Strings | Iterator[str], analyzer: Analyzer) -> TermMatrix:
        """Split all texts into terms; the vocabulary is sorted by UTF-8 bytes."""
        builder = VocabularyBuilder()
        tokens = analyzer.analyze(texts if isinstance(texts, Iterator) else each_text(texts), builder)
        vocabulary = builder.finish()
        packed = Strings.from_list(vocabulary.terms)
        return cls(
            tokens.renumbered(vocabulary.new_ids),
            Vocab(packed.offsets, packed.data),
            Strings.from_list(vocabulary.display_terms),
        )

    @classmethod
    def fit_collection(
        cls, queries: Strings | None, texts: Mapping[str, Strings], fields: list[str], analyzer: Analyzer
    ) -> TermMatrix:
        """Split queries, if any, and then the joined fields of documents into terms; see `shared_terms`."""
        columns = [texts[name] for name in fields] + ([] if queries is None else [queries])
        key = (*map(id, columns), queries is None, analyzer)
        shared = _shared.get()
        if key not in shared:
            docs = joined_fields(texts, fields)
            words = cls.fit(docs if queries is None else chain(each_text(queries), docs), analyzer)
            if shared is _NOT_SHARED:
                return words
            while len(shared) >= _MAX_SHARED:
                del shared[next(iter(shared))]  # the oldest
            shared[key] = columns, words  # while the texts are held, no others have their ids
        return shared[key][1]

    def most_frequent(self, max_terms: int | None) -> TermMatrix:
        """Keep only the `max_terms` most frequent terms; ties go to the smaller id."""
        if max_terms is None or len(self.terms) <= max_terms:
            return self
        frequency = np.bincount(self.tokens.terms, minlength=len(self.terms))
        kept = np.sort(np.argsort(-frequency, kind="stable")[:max_terms])
        new_ids = np.full(len(self.terms), -1, np.int32)
        new_ids[kept] = np.arange(max_terms, dtype=np.int32)
        packed = self.terms.take(kept)
        terms = Vocab(packed.offsets, packed.data)
        return TermMatrix(self.tokens.renumbered(new_ids), terms, self.display_terms.take(kept))

    def sorted_by_hash(self) -> TermMatrix:
        """Number the terms by the hash of their text, so that ties by id do not favour any letter."""
        from coclick.arrays.kernels import hash_strings

        hashes = np.empty(len(self.terms), np.uint32)
        hash_strings(self.terms.offsets, self.terms.data, hashes)
        order = np.argsort(hashes, kind="stable").astype(np.int32)
        new_ids = np.empty_like(order)
        new_ids[order] = np.arange(len(order), dtype=np.int32)
        packed = self.terms.take(order)
        terms = Vocab(packed.offsets, packed.data, order=new_ids)
        return TermMatrix(self.tokens.renumbered(new_ids), terms, self.display_terms.take(order))

    def counts(self) -> Csr:
        """Count how often each term occurs in each text."""
        return count_terms(self.tokens, len(self.terms))


_NOT_SHARED: dict[Any, Any] = {}
_shared: ContextVar[dict[Any, Any]] = ContextVar("shared", default=_NOT_SHARED)


@contextmanager
def shared_terms() -> Iterator[None]:
    """Split the same texts into terms only once, for several models that are trained one after the other."""
    before = _shared.set({} if _shared.get() is _NOT_SHARED else _shared.get())
    try:
        with remembered_tokens():
            yield
    finally:
        _shared.reset(before)


def choose_fields(texts: Mapping[str, Any], fields: str) -> list[str]:
    """Return the text fields for `"all"` or for names joined with `+`, such as `"title+body"`."""
    if not texts:
        raise UserError("the graph's documents have no texts", hint="build it with --docs")
    if fields == "all":
        return sorted(texts, key=lambda name: (name != "title", name))
    wanted = fields.split("+")
    for name in wanted:
        if name not in texts:
            raise UserError(f"the documents have no field {name!r}", hint=f"they have {', '.join(texts)}")
    return wanted


def short_field(names: Iterable[str]) -> str:
    """Return the field that is shown for a document: `title`, or the first by name where there is none.

    By name, because the order of columns in a file should not matter.
    """
    return min(names, key=lambda name: (name != "title", name), default="title")


def titles(texts: Mapping[str, Strings]) -> Strings | None:
    """Return the short field of all documents; None if they have no texts."""
    return texts.get(short_field(texts))


def joined_fields(texts: Mapping[str, Strings], fields: list[str]) -> Iterator[str]:
    """Yield for each document the text of the given fields, joined by spaces."""
    columns = [each_text(texts[name]) for name in fields]
    return columns[0] if len(columns) == 1 else map(" ".join, zip(*columns, strict=True))


def count_terms(tokens: Tokens, terms: int) -> Csr:
    """Count how often each known term occurs in each text."""
    rows = np.repeat(np.arange(len(tokens)), np.diff(tokens.indptr))
    known = tokens.terms >= 0
    ones = np.ones(int(known.sum()), np.float32)
    return Csr.from_triples(rows[known], tokens.terms[known], ones, (len(tokens), terms))


def inverse_frequency(matrix: Csr) -> NDArray[np.float32]:
    """Return ln(1 + rows / rows with the term) for each term."""
    frequency = np.bincount(matrix.indices, minlength=matrix.columns)
    return np.log1p(matrix.rows / np.maximum(frequency, 1)).astype(np.float32)


def tf_idf(counts: Csr, idf: NDArray[np.float32], tf: str) -> Csr:
    """Weigh counts c, as they are (`tf="count"`) or as 1 + ln c (`"log"`), by idf; rows get unit length."""
    frequency = 1 + np.log(counts.data) if tf == "log" else counts.data
    return unit_rows(counts.with_data(frequency * idf[counts.indices]))


def unit_rows(matrix: Csr) -> Csr:
    """Divide every row by its Euclidean length; empty rows stay empty."""
    lengths = np.sqrt(matrix.with_data(matrix.data * matrix.data).row_sums())
    scale = np.repeat(lengths, matrix.row_nnz())
    return matrix.with_data((matrix.data / np.maximum(scale, 1e-30)).astype(np.float32))


def each_text(texts: Strings) -> Iterator[str]:
    """Yield the texts chunk by chunk, so that they are not all Python strings at once."""
    for chunk in texts.chunks():
        yield from chunk
