"""The clicks that a word's weight in a vector comes from, with exact shares.

A propagated vector is a weighted sum of the vectors across its edges. A generated vector is a weighted sum of
unit vectors, and each unit vector is such a sum over the edges of the texts that contain the unit. So the
weight of a word, before pruning and normalisation, is a sum over edges, and every edge has a share of it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from coclick.arrays.csr import Csr
from coclick.arrays.kernels import values_at
from coclick.graph.click_graph import ClickGraph
from coclick.results import Click, ClickEvidence

Ints = NDArray[np.int32]


class Provenance(Protocol):
    """The provenance of one vector."""

    def clicks(self, term: int, max_clicks: int | None) -> ClickEvidence:
        """Return the edges that a word's weight comes from, largest share first; all shares sum to 1."""

    def units(self, term: int, max_clicks: int | None) -> list[tuple[str, float, ClickEvidence]]:
        """Return (unit, fraction of the word's weight, clicks) for each unit that the vector has."""


class NoProvenance:
    """The provenance of a vector that does not depend on clicks."""

    def clicks(self, term: int, max_clicks: int | None) -> ClickEvidence:
        """Return no clicks."""
        return ClickEvidence([], 0)

    def units(self, term: int, max_clicks: int | None) -> list[tuple[str, float, ClickEvidence]]:
        """Return no units."""
        return []


@dataclass(frozen=True)
class Side:
    """One side of the graph, with the input of the last half-step towards it.

    `edges` has one row of click counts per node of this side; `weight_clicks` turns counts into the weights
    of the propagation; `previous` holds the vectors of the other side that were summed.
    """

    graph: ClickGraph
    is_query: bool
    edges: Csr
    weight_clicks: Callable[[NDArray[np.float32]], NDArray[np.float32]]
    previous: Csr

    def amounts(self, rows: Ints, term: int) -> tuple[Ints, NDArray[np.int64], NDArray[np.float64]]:
        """Return the row, the position and the part of the word's weight of all edges of some rows."""
        lengths = self.edges.indptr[rows + 1] - self.edges.indptr[rows]
        row = np.repeat(rows, lengths)
        ends = np.cumsum(lengths)
        entry = np.arange(ends[-1] if len(ends) else 0) + np.repeat(
            self.edges.indptr[rows] - (ends - lengths), lengths
        )
        other = np.ascontiguousarray(self.edges.indices[entry])
        values = values_at(self.previous.indptr, self.previous.indices, self.previous.data, other, term)
        return row, entry, self.weight_clicks(self.edges.data[entry]).astype(np.float64) * values

    def describe(self, row: Ints, entry: NDArray[np.int64], share: NDArray[np.float64]) -> list[Click]:
        """Return edges as clicks, in the given order."""
        graph = self.graph
        other = self.edges.indices[entry]
        queries, docs = (row, other) if self.is_query else (other, row)
        counts = self.edges.data[entry]
        return [
            Click(graph.queries[q], graph.docs[d], c, s)
            for q, d, c, s in zip(
                queries.tolist(), docs.tolist(), counts.tolist(), share.tolist(), strict=True
            )
        ]


@dataclass(frozen=True)
class PropagatedProvenance:
    """The provenance of a query or document whose vector was propagated over its own edges."""

    side: Side
    row: int

    def clicks(self, term: int, max_clicks: int | None) -> ClickEvidence:
        """Return the edges of the row."""
        rows, entries, amounts = self.side.amounts(np.array([self.row], np.int32), term)
        return _largest(self.side, rows, entries, amounts, max_clicks)

    def units(self, term: int, max_clicks: int | None) -> list[tuple[str, float, ClickEvidence]]:
        """Return nothing: the vector was not generated from units."""
        return []


@dataclass(frozen=True)
class GeneratedProvenance:
    """The provenance of a text whose vector is Σ w_u U_u over its units (Jiang et al. 2016, Eq. 8)."""

    side: Side
    labels: Sequence[str]
    weights: NDArray[np.float64]
    vectors: Csr  # one row per unit
    texts_of_unit: Sequence[Ints]  # for each unit, the rows of `side` whose text contains it

    def _amounts(self, term: int) -> NDArray[np.float64]:
        everything = np.arange(self.vectors.rows, dtype=np.int32)
        vectors = self.vectors
        return self.weights * values_at(vectors.indptr, vectors.indices, vectors.data, everything, term)

    def clicks(self, term: int, max_clicks: int | None) -> ClickEvidence:
        """Return the edges of all texts that contain a unit; an edge that several units share is summed."""
        rows, entries, shares = [], [], []
        whole = self._amounts(term)
        for unit, amount in enumerate(whole):
            if amount != 0 and len(self.texts_of_unit[unit]):
                row, entry, parts = self.side.amounts(self.texts_of_unit[unit], term)
                rows.append(row)
                entries.append(entry)
                shares.append(amount * parts / parts.sum())
        if not rows:
            return ClickEvidence([], 0)
        entry, first, group = np.unique(np.concatenate(entries), return_index=True, return_inverse=True)
        row = np.concatenate(rows)[first]
        amounts = np.bincount(group, np.concatenate(shares)).astype(np.float64)
        return _largest(self.side, row, entry, amounts, max_clicks, whole.sum())

    def units(self, term: int, max_clicks: int | None) -> list[tuple[str, float, ClickEvidence]]:
        """Return the units whose vectors have the word, largest fraction first."""
        amounts = self._amounts(term)
        total = amounts.sum()
        found = []
        for unit in np.argsort(-amounts, kind="stable"):
            if amounts[unit] != 0:
                edges = self.side.amounts(self.texts_of_unit[unit], term)
                found.append(
                    (self.labels[unit], float(amounts[unit] / total), _largest(self.side, *edges, max_clicks))
                )
        return found


def _largest(
    side: Side,
    rows: Ints,
    entries: NDArray[np.int64],
    amounts: NDArray[np.float64],
    max_clicks: int | None,
    whole: float | None = None,
) -> ClickEvidence:
    """The edges with the largest amounts as clicks.

    Shares are fractions of the whole: of all edges, shown or not, and of the text's own words. They are
    negative for edges of units with a negative weight.
    """
    order = np.argsort(-amounts, kind="stable")
    order = order[amounts[order] != 0]
    edges, order = len(order), order[:max_clicks]
    whole = amounts.sum() if whole is None else whole
    return ClickEvidence(side.describe(rows[order], entries[order], amounts[order] / whole), edges)
