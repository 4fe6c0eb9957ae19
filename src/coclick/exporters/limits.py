"""What an engine can hold: `Limits`, and `Fitting`, which keeps a model's vectors inside them and counts."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from coclick.arrays.csr import Csr
from coclick.exporters.content import Content

Weights = NDArray[np.float32]
_SMALLEST = float(np.finfo(np.float32).tiny)  # of float32 numbers that every engine reads as they are


@dataclass(frozen=True)
class Limits:
    """None: as much as you like."""

    id_bytes: int | None = None
    token_bytes: int | None = None
    weights: int | None = None  # of a document
    columns: int | None = None
    unwritable: re.Pattern[str] | None = None  # characters that no text of the engine may have


@dataclass(frozen=True)
class Block:
    """Documents with the vectors that the engine will hold."""

    ids: list[str]
    titles: list[str]
    vectors: Csr


@dataclass
class Fitting:
    """Vectors as an engine will hold them: inside its limits, its weights rounded as it rounds them.

    `stored` gives the weights that the engine holds, which may be numbers of another size: its scores times
    `unit` are ours. `left_out` counts documents and weights that had to go, with the reason.
    """

    content: Content
    limits: Limits
    tokens: list[str]  # as they are written for the engine
    stored: Callable[[Weights], Weights]
    left_out: Counter[str] = field(default_factory=Counter)
    documents: int = 0
    weights: int = 0

    def __post_init__(self) -> None:
        most = self.limits.token_bytes
        self._usable = None
        if most is not None and self.tokens:
            self._usable = np.array([0 < len(token.encode()) <= most for token in self.tokens])

    def fit(self, rows: Csr) -> tuple[Csr, Counter[str]]:
        """Rows as the engine will hold them, and what of them it will not."""
        lost: Counter[str] = Counter()
        if self.content.dense:
            return rows, lost
        if self._usable is not None:
            rows = _only(rows, self._usable[rows.indices], lost, "weights of words with too long a name")
        if self.limits.weights is not None:
            rows = _only(
                rows, _heaviest(rows, self.limits.weights), lost, "weights beyond the most of a document"
            )
        rows = rows.with_data(self.stored(rows.data))
        return _only(rows, _positive(rows.data), lost, "weights that round to nothing"), lost

    def only_usable(self, queries: Csr, asked: Weights) -> Csr:
        """Vectors of queries without words that no document can have and weights that are nothing."""
        kept = _positive(asked)
        if self._usable is not None:
            kept &= self._usable[queries.indices]
        return _only(queries, kept, Counter(), "")

    def blocks(self, done: Callable[[int], None]) -> Iterator[Block]:
        """All documents that the engine can hold."""
        graph = self.content.graph
        titles = graph.texts.get("title")
        for rows in self.content.blocks():
            first, last = int(rows[0]), int(rows[-1]) + 1
            vectors, lost = self.fit(self.content.documents(rows))
            ids = graph.docs.to_list(first, last)
            shown = titles.to_list(first, last) if titles else [""] * len(ids)
            there, named = vectors.row_nnz() > 0, self.holds(ids)
            lost["documents without a vector"] = int((~there).sum())
            lost["documents with an id that it cannot hold"] = int((there & ~named).sum())
            self.left_out.update(lost)
            kept = np.flatnonzero(there & named)
            if len(kept) < len(ids):
                ids, shown = ([texts[i] for i in kept.tolist()] for texts in (ids, shown))
                vectors = vectors.take(kept)
            if unwritable := self.limits.unwritable:
                shown = [unwritable.sub(" ", title) for title in shown]
            self.documents += len(ids)
            self.weights += vectors.nnz
            if ids:
                yield Block(ids, shown, vectors)
            done(len(rows))

    def holds(self, ids: list[str]) -> NDArray[np.bool_]:
        """Which of these ids the engine can hold."""
        good = np.ones(len(ids), bool)
        if (most := self.limits.id_bytes) is not None:
            good &= np.fromiter((0 < len(doc.encode()) <= most for doc in ids), bool, len(ids))
        if (unwritable := self.limits.unwritable) is not None:
            good &= np.fromiter((unwritable.search(doc) is None for doc in ids), bool, len(ids))
        return good


def _positive(weights: Weights) -> NDArray[np.bool_]:
    return np.isfinite(weights) & (weights >= _SMALLEST)


def _only(rows: Csr, kept: NDArray[np.bool_], lost: Counter[str], reason: str) -> Csr:
    """Only some of the entries; the others are counted."""
    gone = len(kept) - int(kept.sum())
    if not gone:
        return rows
    lost[reason] += gone
    before = np.concatenate([[0], np.cumsum(kept)])
    return Csr(before[rows.indptr], rows.indices[kept], rows.data[kept], rows.columns)


def _heaviest(rows: Csr, most: int) -> NDArray[np.bool_]:
    """Which entries are among the `most` heaviest of their row."""
    lengths = rows.row_nnz()
    if lengths.max(initial=0) <= most:
        return np.ones(rows.nnz, bool)
    row_of = np.repeat(np.arange(rows.rows), lengths)
    order = np.lexsort((-rows.data, row_of))
    kept = np.empty(rows.nnz, bool)
    kept[order] = np.arange(rows.nnz) - rows.indptr[row_of] < most
    return kept
