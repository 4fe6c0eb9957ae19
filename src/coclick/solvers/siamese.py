"""One projection A for both sides, learned so that clicked documents are nearer than others (paper 001 §4.2).

    s(q, d) = cos(Aᵀx, Aᵀy)        L = mean of ln(1 + exp(−γ (s(q, d⁺) − s(q, d⁻))))

over clicked pairs, each with some other documents. By the chain rule (Eq. 31's exponent has the wrong sign),

    ∂L/∂s⁺ = Σ −γ / (1 + exp(γΔ)) = −Σ ∂L/∂s⁻
    ∂s/∂A  = x ⊗ (ŷ − s x̂) / ‖Aᵀx‖ + y ⊗ (x̂ − s ŷ) / ‖Aᵀy‖        x̂, ŷ the unit images

where ‖v‖ = √(v·v + ε²). The papers have ε = 0, but a text of rare words has nearly no image where training
starts, and its pull, 1/‖v‖, would drown those of all others.

`by_lbfgs` and `by_adagrad` are two ways to that projection: L-BFGS, which the paper used, sees all pairs
with the same other documents in every round, because its objective must not change. AdaGrad draws them
afresh in every round, and its steps touch only the rows of the words in a batch.

With C the sparse matrix of ∂L/∂s, queries × documents, the gradient takes six products of a sparse with a
dense matrix however many pairs share a query or a document.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coclick.arrays.csr import Csr, vstack
from coclick.arrays.reorder import transpose
from coclick.kernels.products import dots_of_pairs, times_dense
from coclick.solvers.early_stopping import EarlyStop, train_rounds

Ints = NDArray[np.int32]
Floats = NDArray[Any]  # float32; float64 where gradients are checked

GAMMA = 10.0
EPSILON = 0.1  # rows of features have length 1, and where training starts no image is longer


@dataclass(frozen=True)
class Examples:
    """Features of queries and documents, and pairs by query: `asked[i]` with the documents `compared[i]`.

    The first of those is the one that was clicked.
    """

    queries: Csr
    docs: Csr
    asked: Ints
    compared: Ints  # pairs × (1 + others)

    @cached_property
    def by_query(self) -> Csr:
        """Queries × documents: the pattern of what is compared, its data still empty."""
        counts = np.bincount(self.asked, minlength=self.queries.rows) * self.compared.shape[1]
        indptr = np.concatenate([[0], np.cumsum(counts)])
        return Csr(indptr, self.compared.ravel(), np.empty(0, np.float32), self.docs.rows)

    @cached_property
    def by_doc(self) -> tuple[Csr, NDArray[np.int64]]:
        """The same, documents × queries, and where in `compared` each entry stands."""
        order = np.argsort(self.compared.ravel(), kind="stable")
        counts = np.bincount(self.compared.ravel(), minlength=self.docs.rows)
        asked = np.repeat(self.asked, self.compared.shape[1])[order]
        indptr = np.concatenate([[0], np.cumsum(counts)])
        return Csr(indptr, asked, np.empty(0, np.float32), self.queries.rows), order

    @cached_property
    def transposed(self) -> tuple[Csr, Csr]:
        """For each word the queries, and the documents, that hold it."""
        return transpose(self.queries), transpose(self.docs)


def loss_and_gradient(projection: Floats, examples: Examples, gamma: float = GAMMA) -> tuple[float, Floats]:
    """The mean loss over all comparisons, and its derivatives by the projection (words × dimensions)."""
    x, x_length = _unit_images(examples.queries, projection)
    y, y_length = _unit_images(examples.docs, projection)
    cosines = _cosines(x, y, examples)
    loss, slopes = _loss_and_slopes(cosines, gamma)
    flat, (by_doc, order) = slopes.ravel(), examples.by_doc
    along = flat * cosines.ravel()
    to_query = times_dense(examples.by_query.with_data(flat), y)
    to_doc = times_dense(by_doc.with_data(flat[order]), x)
    asked = np.repeat(examples.asked, slopes.shape[1])
    _across(to_query, x, np.bincount(asked, along, len(x)), x_length)
    _across(to_doc, y, np.bincount(examples.compared.ravel(), along, len(y)), y_length)
    words_of_queries, words_of_docs = examples.transposed
    gradient = times_dense(words_of_queries, to_query)
    gradient += times_dense(words_of_docs, to_doc)
    return loss, gradient


def mean_loss(projection: Floats, examples: Examples, gamma: float = GAMMA) -> float:
    """The loss alone; NaN where there is nothing to compare."""
    if not len(examples.asked):
        return float("nan")
    x, _ = _unit_images(examples.queries, projection)
    y, _ = _unit_images(examples.docs, projection)
    return _loss_and_slopes(_cosines(x, y, examples), gamma)[0]


def _unit_images(rows: Csr, projection: Floats) -> tuple[Floats, Floats]:
    images = times_dense(rows, projection)
    lengths = np.sqrt(np.einsum("ij,ij->i", images, images) + images.dtype.type(EPSILON**2))[:, None]
    images /= lengths
    return images, lengths


def _across(pulls: Floats, images: Floats, along: Floats, lengths: Floats) -> None:
    """What of each pull is at right angles to the unit image, over the image's length; in place."""
    images *= along.astype(images.dtype)[:, None]
    pulls -= images
    pulls /= lengths


def _cosines(x: Floats, y: Floats, examples: Examples) -> Floats:
    asked = np.repeat(examples.asked, examples.compared.shape[1])
    return dots_of_pairs(x, y, (asked, examples.compared.ravel())).reshape(examples.compared.shape)


def _loss_and_slopes(cosines: Floats, gamma: float) -> tuple[float, Floats]:
    """The mean loss and its derivative by each cosine; the clicked document is in the first column."""
    behind = -gamma * (cosines[:, :1].astype(np.float64) - cosines[:, 1:])
    loss = float(np.logaddexp(0, behind).mean())
    slopes = np.empty(cosines.shape)
    slopes[:, 1:] = gamma / (1 + np.exp(-behind)) / behind.size
    slopes[:, 0] = -slopes[:, 1:].sum(axis=1)
    return loss, slopes.astype(cosines.dtype)


_MEMORY = 5  # rounds that L-BFGS remembers: each costs two copies of the projection in float64
_BATCH = 1024  # pairs


def by_lbfgs(
    start: Floats,
    examples: Examples,
    gamma: float,
    validate: Callable[[Floats], float],
    rounds: int,
    patience: int,
    done: Callable[[int], None],
) -> EarlyStop:
    """Descend over all pairs until validation stops gaining, or no step gains."""
    from scipy.optimize import minimize

    stop = EarlyStop(patience, validate(start), (start,))

    def objective(flat: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        loss, gradient = loss_and_gradient(flat.reshape(start.shape).astype(start.dtype), examples, gamma)
        return loss, gradient.astype(np.float64).ravel()

    def after(intermediate_result: Any) -> None:
        projection = intermediate_result.x.reshape(start.shape).astype(start.dtype)
        finished = stop.saw(float(intermediate_result.fun), validate(projection), (projection,))
        done(1)
        if finished:
            raise StopIteration

    minimize(objective, start.ravel().astype(np.float64), jac=True, method="L-BFGS-B", callback=after,
             options={"maxiter": rounds, "maxcor": _MEMORY})  # fmt: skip
    return stop


def by_adagrad(
    start: Floats,
    queries: Csr,
    docs: Csr,
    asked: Ints,
    draw: Callable[[], Ints],
    gamma: float,
    validate: Callable[[Floats], float],
    rounds: int,
    patience: int,
    rate: float,
    random: np.random.Generator,
    done: Callable[[int], None],
) -> EarlyStop:
    """Descend batch by batch; `draw` gives what each pair is compared with, the clicked document first."""
    projection, squares = start.copy(), np.zeros_like(start)

    def step() -> float:
        compared, order = draw(), random.permutation(len(asked))
        total = 0.0
        for first in range(0, len(order), _BATCH):
            batch = np.sort(order[first : first + _BATCH])
            words, examples = _compact(queries, docs, asked[batch], compared[batch])
            loss, gradient = loss_and_gradient(projection[words], examples, gamma)
            total += loss * len(batch)
            squares[words] += gradient**2
            projection[words] -= rate * gradient / np.sqrt(squares[words] + 1e-12)
        return total / len(order)

    return train_rounds(step, lambda: validate(projection), (projection,), rounds, patience, done)


def _compact(queries: Csr, docs: Csr, asked: Ints, compared: Ints) -> tuple[Ints, Examples]:
    """The words that a batch holds, and the batch with only its own queries, documents and words."""
    query_rows, new_asked = np.unique(asked, return_inverse=True)
    doc_rows, new_compared = np.unique(compared, return_inverse=True)
    rows = vstack(queries.take(query_rows), docs.take(doc_rows))
    words, indices = np.unique(rows.indices, return_inverse=True)
    compact = Csr(rows.indptr, indices.astype(np.int32), rows.data, len(words))
    examples = Examples(
        compact.take(np.arange(len(query_rows))),
        compact.take(np.arange(len(query_rows), rows.rows)),
        new_asked.astype(np.int32),
        new_compared.reshape(compared.shape).astype(np.int32),
    )
    return words, examples
