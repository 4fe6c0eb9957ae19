"""`Limits` of an engine, and `VectorFilter`, which keeps vectors within them and counts what it drops."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from coclick.arrays.csr import Csr, vstack
from coclick.arrays.strings import Strings
from coclick.exporters.formatting import json_strings
from coclick.exporters.model_vectors import ModelVectors
from coclick.exporters.packed_rows import text_slice

Weights = NDArray[np.float32]
_PRINTABLE = ord(" "), ord("~")  # first and last character
_MIN_WEIGHT = float(np.finfo(np.float32).tiny)  # engines may read smaller float32 numbers as zero


@dataclass(frozen=True)
class Limits:
    """What an engine can store; None means no limit."""

    max_id_bytes: int | None = None
    max_token_bytes: int | None = None
    max_weights: int | None = None  # of a document
    max_dim: int | None = None  # of dense vectors
    forbidden: re.Pattern[str] | None = None  # characters that the engine allows in no text


@dataclass(frozen=True)
class DocBlock:
    """Some documents, with their vectors as the engine will store them."""

    packed_ids: Strings
    packed_titles: Strings
    vectors: Csr

    @classmethod
    def joined(cls, blocks: Sequence[DocBlock]) -> DocBlock:
        """Return the documents of some blocks, at least one."""
        if len(blocks) == 1:
            return blocks[0]
        return cls(
            Strings.joined([block.packed_ids for block in blocks]),
            Strings.joined([block.packed_titles for block in blocks]),
            vstack(*(block.vectors for block in blocks)),
        )

    @cached_property
    def ids(self) -> list[str]:
        """The ids as a list."""
        return self.packed_ids.to_list()

    @cached_property
    def titles(self) -> list[str]:
        """The titles as a list."""
        return self.packed_titles.to_list()

    def take(self, rows: NDArray[np.int64]) -> DocBlock:
        """Return some of the documents."""
        if len(rows) == self.vectors.rows:
            return self
        return DocBlock(self.packed_ids.take(rows), self.packed_titles.take(rows), self.vectors.take(rows))

    def rows(self, vectors: list[str]) -> Iterator[tuple[str, str, str]]:
        """Yield the id and title of each document as JSON strings, with the text of its vector."""
        return zip(json_strings(self.ids), json_strings(self.titles), vectors, strict=True)


@dataclass
class VectorFilter:
    """Fits vectors to an engine: drops what exceeds its limits and rounds weights as it does.

    `round_weights` returns the weights that the engine stores, possibly scaled; `Exporter.score_unit` undoes
    the scale. `left_out` counts the documents and weights that were dropped, by reason.
    """

    source: ModelVectors
    limits: Limits
    tokens: list[str]  # encoded for the engine
    round_weights: Callable[[Weights], Weights]
    left_out: Counter[str] = field(default_factory=Counter)
    n_docs: int = 0
    n_weights: int = 0

    def __post_init__(self) -> None:
        limit = self.limits.max_token_bytes
        self._token_fits = None
        if limit is not None and self.tokens:
            self._token_fits = np.array([0 < len(token.encode()) <= limit for token in self.tokens])

    def filter_doc_vectors(self, rows: Csr) -> tuple[Csr, Counter[str]]:
        """Return document vectors as the engine stores them, and the number of dropped weights by reason."""
        dropped: Counter[str] = Counter()
        if self.source.dense:
            return rows, dropped
        if self._token_fits is not None:
            rows = _keep(rows, self._token_fits[rows.indices], dropped, "weights of words that are too long")
        if (limit := self.limits.max_weights) is not None:
            rows = _keep(rows, _heaviest(rows, limit), dropped, "weights above the maximum per document")
        rows = rows.with_data(self.round_weights(rows.data))
        if not _all_positive(rows.data):
            rows = _keep(rows, _positive(rows.data), dropped, "weights that round to zero")
        return rows, dropped

    def filter_query_vectors(self, queries: Csr, rounded: Weights) -> Csr:
        """Drop query weights of tokens that no document can have, and those that round to zero."""
        kept = _positive(rounded)
        if self._token_fits is not None:
            kept &= self._token_fits[queries.indices]
        return _keep(queries, kept, Counter(), "")

    def doc_blocks(self, done: Callable[[int], None]) -> Iterator[DocBlock]:
        """Yield all documents that the engine can store; `done` is called with the rows of each block."""
        graph = self.source.graph
        titles = graph.texts.get("title")
        for first, last in self.source.row_blocks():
            vectors, dropped = self.filter_doc_vectors(self.source.doc_range(first, last))
            ids = text_slice(graph.docs, first, last)
            shown = text_slice(titles, first, last) if titles else Strings.from_list([""] * len(ids))
            has_vector, has_valid_id = vectors.row_nnz() > 0, self._accepts(ids)
            dropped["documents without a vector"] = int((~has_vector).sum())
            dropped["documents with an id that the engine does not accept"] = int(
                (has_vector & ~has_valid_id).sum()
            )
            self.left_out.update(dropped)
            block = DocBlock(ids, self._without_forbidden(shown), vectors)
            block = block.take(np.flatnonzero(has_vector & has_valid_id))
            self.n_docs += len(block.packed_ids)
            self.n_weights += block.vectors.nnz
            if len(block.packed_ids):
                yield block
            done(last - first)

    def accepts_ids(self, ids: list[str]) -> NDArray[np.bool_]:
        """Mark the ids that the engine accepts."""
        return self._accepts(Strings.from_list(ids))

    def _accepts(self, ids: Strings) -> NDArray[np.bool_]:
        good = np.ones(len(ids), bool)
        if (limit := self.limits.max_id_bytes) is not None:
            lengths = np.diff(ids.offsets)
            good &= (lengths > 0) & (lengths <= limit)
        if (forbidden := self.limits.forbidden) is not None and _contain(ids, forbidden):
            good &= np.fromiter((forbidden.search(doc) is None for doc in ids), bool, len(ids))
        return good

    def _without_forbidden(self, titles: Strings) -> Strings:
        forbidden = self.limits.forbidden
        if forbidden is None or not _contain(titles, forbidden):
            return titles
        return Strings.from_list(forbidden.sub(" ", title) for title in titles)


def _contain(texts: Strings, forbidden: re.Pattern[str]) -> bool:
    """Return whether a text has a forbidden character; no engine forbids the printable ones of ASCII."""
    data = texts.data
    if data.min(initial=_PRINTABLE[0]) >= _PRINTABLE[0] and data.max(initial=0) <= _PRINTABLE[1]:
        return False
    return forbidden.search(data.tobytes().decode()) is not None


def _all_positive(weights: Weights) -> bool:
    """Return whether `_positive` is true for all weights, in less time; NaN is never within bounds."""
    return bool(weights.min(initial=1) >= _MIN_WEIGHT and weights.max(initial=1) < np.inf)


def _positive(weights: Weights) -> NDArray[np.bool_]:
    return np.isfinite(weights) & (weights >= _MIN_WEIGHT)


def _keep(rows: Csr, kept: NDArray[np.bool_], dropped: Counter[str], reason: str) -> Csr:
    """Keep the marked entries and count the others."""
    gone = len(kept) - int(kept.sum())
    if not gone:
        return rows
    dropped[reason] += gone
    before = np.concatenate([[0], np.cumsum(kept)])
    return Csr(before[rows.indptr], rows.indices[kept], rows.data[kept], rows.columns)


def _heaviest(rows: Csr, limit: int) -> NDArray[np.bool_]:
    """Mark the `limit` heaviest entries of each row."""
    lengths = rows.row_nnz()
    if lengths.max(initial=0) <= limit:
        return np.ones(rows.nnz, bool)
    row_of = np.repeat(np.arange(rows.rows), lengths)
    order = np.lexsort((-rows.data, row_of))
    kept = np.empty(rows.nnz, bool)
    kept[order] = np.arange(rows.nnz) - rows.indptr[row_of] < limit
    return kept
