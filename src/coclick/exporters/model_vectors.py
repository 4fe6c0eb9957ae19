"""`ModelVectors`: the document and query vectors of a model, in the form that all exporters read.

A sparse vector has one token for each column: the term's most frequent surface form, which is also what
`coclick expand` prints. A dense vector (an embedding of a projection model) has a value in every column. The
score is the dot product of both sides in either case, so every engine computes the same thing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from coclick.arrays.csr import Csr
from coclick.errors import UserError, corrupt_error
from coclick.graph.click_graph import ClickGraph
from coclick.models.base import Model
from coclick.models.projection._base import ProjectionModel
from coclick.models.registry import create, model_class, model_names
from coclick.models.sparse_vectors import SparseVectorModel

# Forms of models that engines take; the last one is described in `coclick.exporters.shipping.form`.
SPARSE, DENSE, SHIPPED = "sparse vectors", "dense vectors", "rankings and signals"
_MAX_DOCS, _MAX_WEIGHTS = 1 << 14, 1 << 19  # of a block; a single document may have more weights


def choose_form(model: Model, accepts: Collection[str]) -> str | None:
    """Return the first form of a model that is accepted: that of its vectors, then `SHIPPED`; or None."""
    forms = form_of(model), SHIPPED if can_ship(model) else None
    return next((form for form in forms if form in accepts), None)


def can_ship(model: Model) -> bool:
    """Return whether rankings and signals can replace a model: `ltr` has features that engines do not."""
    parts = [create(spec) for spec in getattr(model, "part_specs", [])]
    return model.name != "ltr" and all(map(can_ship, parts))


def form_of(model: Model) -> str | None:
    """Return the form of a model's vectors: `SPARSE`, `DENSE`, or None if it has none."""
    if "export" not in model.capabilities:
        return None
    if isinstance(model, SparseVectorModel):
        return SPARSE
    return DENSE if isinstance(model, ProjectionModel) else None


@dataclass(frozen=True)
class ModelVectors:
    """The vectors of a sparse or dense model."""

    model: SparseVectorModel | ProjectionModel
    tokens: list[str]  # one for each column; empty for dense vectors

    @classmethod
    def from_model(cls, model: Model) -> ModelVectors:
        """Wrap a model; raise for one without vectors, and name those that have them."""
        if form_of(model) == SPARSE and isinstance(model, SparseVectorModel):
            return cls(model, model.display_terms_.to_list())
        if form_of(model) == DENSE and isinstance(model, ProjectionModel):
            return cls(model, [])
        exportable = [name for name in model_names() if "export" in model_class(name).capabilities]
        raise UserError(
            f"{model.name} cannot be exported: its scores are not dot products of two vectors",
            hint=f"models that can be exported: {', '.join(exportable)}",
        )

    @property
    def graph(self) -> ClickGraph:
        """The graph that the model was trained on."""
        return self.model.trained_on

    @property
    def form(self) -> str:
        """`SPARSE` or `DENSE`."""
        return DENSE if self.dense else SPARSE

    @property
    def dense(self) -> bool:
        """Whether the vectors are dense."""
        return isinstance(self.model, ProjectionModel)

    @property
    def dim(self) -> int:
        """The number of dimensions."""
        if isinstance(self.model, ProjectionModel):
            return self.model.doc_index_.vectors.shape[1]
        return self.model.doc_index_.vectors.columns

    def term_ids(self) -> NDArray[np.int64]:
        """Return an integer id for each token, for engines whose sparse vectors have no names."""
        return np.empty(0, np.int64) if isinstance(self.model, ProjectionModel) else self.model.term_numbers

    def doc_vectors(self, rows: NDArray[np.integer]) -> Csr:
        """Return the vectors of some documents."""
        if isinstance(self.model, ProjectionModel):
            return _to_csr(self.model.doc_index_.vectors[rows])
        return self.model.doc_index_.vectors.take_checked(rows, "the vectors of documents")

    def doc_range(self, first: int, last: int) -> Csr:
        """Return the vectors of documents first … last − 1, without copying sparse ones."""
        if isinstance(self.model, ProjectionModel):
            return _to_csr(self.model.doc_index_.vectors[first:last])
        rows = self.model.doc_index_.vectors.row_slice(first, last)
        if rows.indptr[-1] != rows.nnz:
            raise corrupt_error("the vectors of documents are")
        return rows.checked("the vectors of documents")

    def query_vectors(self, texts: Sequence[str]) -> Csr:
        """Return the vectors of normalised queries."""
        found = self.model.embed_queries(texts)
        return found if isinstance(found, Csr) else _to_csr(found)

    def row_blocks(self) -> Iterator[tuple[int, int]]:
        """Yield the first row and the end of blocks of documents of bounded size."""
        if isinstance(self.model, ProjectionModel):
            ends = np.arange(len(self.graph.docs) + 1) * self.dim
        else:
            ends = self.model.doc_index_.vectors.indptr
        first, count = 0, len(self.graph.docs)
        while first < count:
            within = int(np.searchsorted(ends, ends[first] + _MAX_WEIGHTS, side="right")) - 1
            last = min(max(within, first + 1), first + _MAX_DOCS, count)
            yield first, last
            first = last

    @cached_property
    def queries_by_clicks(self) -> NDArray[np.intp]:
        """The rows of queries, most clicked first."""
        return np.argsort(-self.graph.clicks.row_sums(), kind="stable")

    def max_weight(self) -> float:
        """Return the largest weight of any document."""
        vectors = self.model.doc_index_.vectors
        return float((vectors.data if isinstance(vectors, Csr) else vectors).max(initial=0))


def _to_csr(embeddings: NDArray[np.float32]) -> Csr:
    """Dense rows as sparse ones; a row of zeros has no entries."""
    nonzero = embeddings.any(axis=1)
    dim = embeddings.shape[1]
    indptr = np.concatenate([[0], np.cumsum(nonzero * dim)])
    indices = np.tile(np.arange(dim, dtype=np.int32), int(nonzero.sum()))
    return Csr(indptr, indices, np.ascontiguousarray(embeddings[nonzero]).ravel(), dim)
