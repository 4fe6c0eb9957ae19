"""Where a word's weight in a vector comes from: the clicks behind it, with exact shares.

A propagated vector is a weighted sum of the vectors across its edges; a generated one is a weighted sum of
unit vectors, each of which is such a sum over the edges of the texts that hold the unit. So the weight of a
word, before pruning and normalisation, is a sum over edges, and every edge has its share of it.
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
    """The source of one vector's words."""

    def clicks(self, term: int, most: int | None) -> ClickEvidence:
        """The edges behind the word's weight, largest share first; over all edges the shares sum to 1."""

    def units(self, term: int, most: int | None) -> list[tuple[str, float, ClickEvidence]]:
        """(unit, its fraction of the word's weight, the clicks behind it), if it was made of units."""


class NoProvenance:
    """A vector that no click has shaped."""

    def clicks(self, term: int, most: int | None) -> ClickEvidence:
        """None."""
        return ClickEvidence([], 0)

    def units(self, term: int, most: int | None) -> list[tuple[str, float, ClickEvidence]]:
        """None."""
        return []


@dataclass(frozen=True)
class Side:
    """One side of the graph as the last half-step towards it saw the other.

    `edges` has a row for each node of this side, with click counts; `weigh` makes of counts the weights of
    the propagation; `read` are the vectors of the other side that were summed.
    """

    graph: ClickGraph
    is_query: bool
    edges: Csr
    weigh: Callable[[NDArray[np.float32]], NDArray[np.float32]]
    read: Csr

    def amounts(self, rows: Ints, term: int) -> tuple[Ints, NDArray[np.int64], NDArray[np.float64]]:
        """For all edges of some rows: the row, the edge's place, and how much of the word it brings."""
        lengths = self.edges.indptr[rows + 1] - self.edges.indptr[rows]
        row = np.repeat(rows, lengths)
        ends = np.cumsum(lengths)
        place = np.arange(ends[-1] if len(ends) else 0) + np.repeat(
            self.edges.indptr[rows] - (ends - lengths), lengths
        )
        other = np.ascontiguousarray(self.edges.indices[place])
        values = values_at(self.read.indptr, self.read.indices, self.read.data, other, term)
        return row, place, self.weigh(self.edges.data[place]).astype(np.float64) * values

    def describe(self, row: Ints, place: NDArray[np.int64], share: NDArray[np.float64]) -> list[Click]:
        """The edges as clicks, in the given order."""
        graph = self.graph
        other = self.edges.indices[place]
        queries, docs = (row, other) if self.is_query else (other, row)
        counts = self.edges.data[place]
        return [
            Click(graph.queries[q], graph.docs[d], c, s)
            for q, d, c, s in zip(
                queries.tolist(), docs.tolist(), counts.tolist(), share.tolist(), strict=True
            )
        ]


@dataclass(frozen=True)
class PropagatedProvenance:
    """A row of the graph whose vector came over its own edges."""

    side: Side
    row: int

    def clicks(self, term: int, most: int | None) -> ClickEvidence:
        """The row's edges."""
        rows, places, amounts = self.side.amounts(np.array([self.row], np.int32), term)
        return _largest(self.side, rows, places, amounts, most)

    def units(self, term: int, most: int | None) -> list[tuple[str, float, ClickEvidence]]:
        """None: it was not made of units."""
        return []


@dataclass(frozen=True)
class GeneratedProvenance:
    """A text whose vector is Σ w_u U_u over its units (Eq. 8); `holders` gives each unit's texts."""

    side: Side
    labels: Sequence[str]
    weights: NDArray[np.float64]
    vectors: Csr  # one row a unit
    holders: Sequence[Ints]  # for each unit, the rows of `side` whose text holds it

    def _amounts(self, term: int) -> NDArray[np.float64]:
        everything = np.arange(self.vectors.rows, dtype=np.int32)
        vectors = self.vectors
        return self.weights * values_at(vectors.indptr, vectors.indices, vectors.data, everything, term)

    def clicks(self, term: int, most: int | None) -> ClickEvidence:
        """The edges of all texts that hold any of the units; an edge behind several units adds up."""
        rows, places, shares = [], [], []
        whole = self._amounts(term)
        for unit, amount in enumerate(whole):
            if amount > 0 and len(self.holders[unit]):
                row, place, brought = self.side.amounts(self.holders[unit], term)
                rows.append(row)
                places.append(place)
                shares.append(amount * brought / brought.sum())
        if not rows:
            return ClickEvidence([], 0)
        place, first, group = np.unique(np.concatenate(places), return_index=True, return_inverse=True)
        row = np.concatenate(rows)[first]
        amounts = np.bincount(group, np.concatenate(shares)).astype(np.float64)
        return _largest(self.side, row, place, amounts, most, whole.sum())

    def units(self, term: int, most: int | None) -> list[tuple[str, float, ClickEvidence]]:
        """The units that hold the word, largest fraction first."""
        amounts = self._amounts(term)
        total = amounts.sum()
        found = []
        for unit in np.argsort(-amounts, kind="stable"):
            if amounts[unit] > 0:
                edges = self.side.amounts(self.holders[unit], term)
                found.append(
                    (self.labels[unit], float(amounts[unit] / total), _largest(self.side, *edges, most))
                )
        return found


def _largest(
    side: Side,
    rows: Ints,
    places: NDArray[np.int64],
    amounts: NDArray[np.float64],
    most: int | None,
    whole: float | None = None,
) -> ClickEvidence:
    """The edges with the largest amounts as clicks; shares are of the whole: all edges, shown or not, and
    what a text's own words bring."""
    order = np.argsort(-amounts, kind="stable")
    order = order[amounts[order] > 0]
    edges, order = len(order), order[:most]
    whole = amounts.sum() if whole is None else whole
    return ClickEvidence(side.describe(rows[order], places[order], amounts[order] / whole), edges)
