"""`Content`: what a search engine gets of a model, the vectors of its documents and of queries.

Vectors of words have a token for each column, the word's commonest surface form, which is what
`coclick expand` prints. Images of projections are rows in which every column has a value. A score is the dot
product of both sides in any case, so that every engine computes the same thing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from coclick.arrays.csr import Csr
from coclick.errors import UserError
from coclick.graph.click_graph import ClickGraph
from coclick.models.base import Model
from coclick.models.projection._base import ProjectionModel
from coclick.models.registry import model_class, model_names
from coclick.models.sparse_vectors import VectorModel

_DOCS, _WEIGHTS = 1 << 13, 1 << 18  # of a block, at most; one document may have more weights


@dataclass(frozen=True)
class Content:
    """The vectors of a model, whatever it is."""

    model: VectorModel | ProjectionModel
    tokens: list[str]  # one a column; none of images

    @classmethod
    def of(cls, model: Model) -> Content:
        """Raises for a model that is not made of vectors, naming those that are."""
        if "export" in model.capabilities and isinstance(model, VectorModel):
            return cls(model, model.display_terms_.to_list())
        if "export" in model.capabilities and isinstance(model, ProjectionModel):
            return cls(model, [])
        able = [name for name in model_names() if "export" in model_class(name).capabilities]
        raise UserError(
            f"{model.name} cannot be exported: its scores are not products of two vectors",
            hint=f"models that can: {', '.join(able)}",
        )

    @property
    def graph(self) -> ClickGraph:
        """The graph that the model carries."""
        return self.model.trained_on

    @property
    def dense(self) -> bool:
        """Whether vectors are images, with a value in every column."""
        return isinstance(self.model, ProjectionModel)

    @property
    def columns(self) -> int:
        """How many dimensions the vectors have."""
        if isinstance(self.model, ProjectionModel):
            return self.model.doc_index_.vectors.shape[1]
        return self.model.doc_index_.vectors.columns

    def numbers(self) -> NDArray[np.int64]:
        """A number for each token, for engines that have no names."""
        return np.empty(0, np.int64) if isinstance(self.model, ProjectionModel) else self.model.term_numbers

    def documents(self, rows: NDArray[np.integer]) -> Csr:
        """The vectors of some documents."""
        if isinstance(self.model, ProjectionModel):
            return _images(self.model.doc_index_.vectors[rows])
        return self.model.doc_index_.vectors.take_checked(rows, "the vectors of documents")

    def queries(self, texts: Sequence[str]) -> Csr:
        """The vectors of normalised queries."""
        found = self.model.embed_queries(texts)
        return found if isinstance(found, Csr) else _images(found)

    def blocks(self) -> Iterator[NDArray[np.int64]]:
        """All documents, some thousands of rows at a time; fewer where vectors are long."""
        if isinstance(self.model, ProjectionModel):
            ends = np.arange(len(self.graph.docs) + 1) * self.columns
        else:
            ends = self.model.doc_index_.vectors.indptr
        first, count = 0, len(self.graph.docs)
        while first < count:
            fitting = int(np.searchsorted(ends, ends[first] + _WEIGHTS, side="right")) - 1
            last = min(max(fitting, first + 1), first + _DOCS, count)
            yield np.arange(first, last)
            first = last

    def largest(self) -> float:
        """The largest weight of any document."""
        vectors = self.model.doc_index_.vectors
        return float((vectors.data if isinstance(vectors, Csr) else vectors).max(initial=0))


def _images(images: NDArray[np.float32]) -> Csr:
    """Dense rows as sparse ones; those that are all zero have no entries."""
    there = images.any(axis=1)
    dim = images.shape[1]
    indptr = np.concatenate([[0], np.cumsum(there * dim)])
    indices = np.tile(np.arange(dim, dtype=np.int32), int(there.sum()))
    return Csr(indptr, indices, np.ascontiguousarray(images[there]).ravel(), dim)
