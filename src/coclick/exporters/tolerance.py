"""`Tolerance`: documents whose vectors moved little stay in the engine as they are.

After another training nearly all vectors differ, most of them by next to nothing, because most models use the
frequency of words in all documents. The movement of a document is the length of the difference of its two
vectors, as the engine stores them, divided by the length of the older one. So the score of a document that
stays is off by at most movement × the lengths of both vectors (Cauchy–Schwarz).

An export has only digests of its vectors. So the older ones come from the model that it was written from. A
document that stayed before may be older than that model: what it had moved already is added, which is never
less than the true movement (triangle inequality).
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from coclick.arrays.csr import Csr
from coclick.arrays.strings import Strings
from coclick.exporters.base import Exporter

Movements = NDArray[np.float32]


class Tolerance:
    """The largest movement of documents that stay, and the vectors that the engine has."""

    def __init__(self, limit: float, exporter: Exporter, previous: Exporter) -> None:
        """Take the exporter of the new model, and that of the model of the base, with the base's unit."""
        self.limit, self._exporter, self._previous = limit, exporter, previous

    def movements(self, ids: Strings, titles: Strings | None, vectors: Csr) -> Movements:
        """Return how far documents moved; infinite if they are not in the base, or must be written.

        A document with another title must be written, and so must the results of sample queries, by which
        `check` compares the scores of the engine.
        """
        source = self._previous.source
        rows = source.graph.docs.lookup(ids.to_list())
        found = np.full(len(rows), np.inf, np.float32)
        written = np.fromiter((doc in self._written for doc in ids), bool, len(rows))
        places = np.flatnonzero(self._same_titles(rows, titles) & ~written)
        before = self._previous.filter.filter_doc_vectors(source.doc_vectors(rows[places]))[0]
        old = _to_scipy(before, self._columns[before.indices], self._width)
        taken = vectors.take(places)
        difference = _to_scipy(taken, taken.indices, self._width) - old
        with np.errstate(divide="ignore", invalid="ignore"):
            found[places] = _lengths(difference) / _lengths(old)
        found[np.isnan(found)] = np.inf
        return found

    def _same_titles(self, rows: NDArray[np.int32], titles: Strings | None) -> NDArray[np.bool_]:
        known = self._previous.source.graph.texts.get("title")
        if known is None or titles is None:
            return rows >= 0
        before = known.take(np.maximum(rows, 0)).to_list()
        pairs = zip(before, titles.to_list(), strict=True)
        return (rows >= 0) & np.fromiter((old == new for old, new in pairs), bool, len(rows))

    @cached_property
    def _written(self) -> frozenset[str]:
        return frozenset(row["doc"] for sample in self._exporter.samples for row in sample.results)

    @cached_property
    def _columns(self) -> NDArray[np.int32]:
        """For each column of the older vectors the one of the new; further ones for words that are gone."""
        if self._exporter.source.dense:
            return np.arange(self._exporter.source.dim, dtype=np.int32)
        numbers = {token: column for column, token in enumerate(self._exporter.tokens)}
        found = [numbers.setdefault(token, len(numbers)) for token in self._previous.tokens]
        return np.array(found, np.int32)

    @cached_property
    def _width(self) -> int:
        return max(self._exporter.source.dim, int(self._columns.max(initial=-1)) + 1)


def _to_scipy(rows: Csr, columns: NDArray[np.int32], width: int) -> scipy.sparse.csr_array:
    entries = rows.data.astype(np.float64), columns, rows.indptr
    return scipy.sparse.csr_array(entries, shape=(rows.rows, width))


def _lengths(rows: scipy.sparse.csr_array) -> NDArray[np.float64]:
    return np.sqrt(np.asarray(rows.multiply(rows).sum(axis=1)).ravel())
