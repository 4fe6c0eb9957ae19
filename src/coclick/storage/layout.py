"""Declarations of stored arrays: what their sizes are and what their entries mean.

A stored class or a model declares its arrays by annotations. The gate (`coclick.storage.gate`) enforces them:

    indptr: Annotated[NDArray[np.int64], Pointers("terms", "postings")]
    places: Annotated[NDArray[np.int32], Shape("postings"), Index("docs")]
    weights: Annotated[NDArray[np.float32], Shape("postings")]
    vectors: Annotated[Csr, Shape("docs", "terms")]

Names of dimensions are free. Within a class, a model or a graph the same name is the same size. `queries` and
`docs` are those of the graph. A stored class lists the dimensions that it shares with its owner in
`dimensions`; the owner gives their names in the same order: `Annotated[VectorIndex, Shape("docs", "terms")]`.
"""

from __future__ import annotations

from dataclasses import dataclass


class Shape:
    """The dimensions of an array, matrix or list of texts; floating-point entries are finite numbers."""

    def __init__(self, *dimensions: str | int) -> None:
        self.dimensions = dimensions


@dataclass(frozen=True)
class Index:
    """Entries are numbers from `lowest` up to, not including, the size of a dimension."""

    into: str
    lowest: int = 0


@dataclass(frozen=True)
class Pointers:
    """One more entry than `rows`; entries ascend from 0 to the size of `entries`."""

    rows: str
    entries: str


class NotNegative:
    """Entries are 0 or more: 0 too, because a small number may have been rounded to it."""


class MayBeMissing:
    """Entries may be infinite, or NaN for a missing value."""
