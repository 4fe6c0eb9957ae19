"""S2Net: one projection A of queries and documents, trained to rank clicks first (Gao et al. 2011, §4.2).

    s(q, d) = cos(Aᵀx, Aᵀy)        L = mean of ln(1 + exp(−γ (s(q, d⁺) − s(q, d⁻))))

over clicked pairs, each with some negative documents. By the chain rule (Eq. 31 has a wrong sign),

    ∂L/∂s⁺ = Σ −γ / (1 + exp(γΔ)) = −Σ ∂L/∂s⁻
    ∂s/∂A  = x ⊗ (ŷ − s x̂) / ‖Aᵀx‖ + y ⊗ (x̂ − s ŷ) / ‖Aᵀy‖        x̂, ŷ the unit embeddings

where ‖v‖ = √(v·v + ε²). The paper has ε = 0, but a text of rare words has a tiny embedding at the start of
training, and its gradient, of size 1/‖v‖, would dominate all others. A text whose embedding is zero then has
cosine 0 and no gradient.

The paper also suggests a term β/2 ‖A − A₀‖², with A₀ the projection at the start, for early stopping. Of it,
a step of AdaGrad takes the part of the words in its batch.

There are two optimisers. `fit_lbfgs`, as in the paper, uses the same negative documents in all iterations,
because its objective must not change. `fit_adagrad` draws them again in every epoch, and its steps update
only the rows of the words in a batch.

With C the sparse matrix of ∂L/∂s, queries × documents, the gradient takes six products of a sparse and a
dense matrix, however many pairs share a query or a document.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coclick.arrays.csr import Csr, vstack
from coclick.arrays.reorder import transpose
from coclick.kernels.products import dots_of_pairs, times_dense
from coclick.solvers.early_stopping import EarlyStop, train_epochs

Ints = NDArray[np.int32]
FloatArray = NDArray[Any]  # float32; float64 in tests


class LossOptions(NamedTuple):
    """The constants of the loss."""

    gamma: float = 10.0  # γ
    epsilon: float = 0.1  # ε: rows of features have length 1, and no embedding is longer at the start
    l2_to_start: float = 0.0  # β


DEFAULTS = LossOptions()


@dataclass(frozen=True)
class RankingExamples:
    """Features of queries and documents, and comparisons by query: query `asked[i]`, documents `compared[i]`.

    The first of these documents is the clicked one, the others are negatives.
    """

    queries: Csr
    docs: Csr
    asked: Ints
    compared: Ints  # pairs × (1 + negatives)

    @cached_property
    def by_query(self) -> Csr:
        """The pattern of compared pairs, queries × documents, without data."""
        counts = np.bincount(self.asked, minlength=self.queries.rows) * self.compared.shape[1]
        indptr = np.concatenate([[0], np.cumsum(counts)])
        return Csr(indptr, self.compared.ravel(), np.empty(0, np.float32), self.docs.rows)

    @cached_property
    def by_doc(self) -> tuple[Csr, NDArray[np.int64]]:
        """The same pattern, documents × queries, and the position of each entry in `compared`."""
        order = np.argsort(self.compared.ravel(), kind="stable")
        counts = np.bincount(self.compared.ravel(), minlength=self.docs.rows)
        asked = np.repeat(self.asked, self.compared.shape[1])[order]
        indptr = np.concatenate([[0], np.cumsum(counts)])
        return Csr(indptr, asked, np.empty(0, np.float32), self.queries.rows), order

    @cached_property
    def transposed(self) -> tuple[Csr, Csr]:
        """For each word the queries, and the documents, that contain it."""
        return transpose(self.queries), transpose(self.docs)


def loss_and_gradient(
    projection: FloatArray, examples: RankingExamples, options: LossOptions = DEFAULTS
) -> tuple[float, FloatArray]:
    """Return the mean loss over all comparisons, and its gradient by the projection (words × dimensions)."""
    x, x_length = _unit_embeddings(examples.queries, projection, options.epsilon)
    y, y_length = _unit_embeddings(examples.docs, projection, options.epsilon)
    cosines = _cosines(x, y, examples)
    loss, slopes = _loss_and_slopes(cosines, options.gamma)
    flat, (by_doc, order) = slopes.ravel(), examples.by_doc
    radial = flat * cosines.ravel()
    to_query = times_dense(examples.by_query.with_data(flat), y)
    to_doc = times_dense(by_doc.with_data(flat[order]), x)
    asked = np.repeat(examples.asked, slopes.shape[1])
    _remove_radial(to_query, x, np.bincount(asked, radial, len(x)), x_length)
    _remove_radial(to_doc, y, np.bincount(examples.compared.ravel(), radial, len(y)), y_length)
    queries_by_word, docs_by_word = examples.transposed
    gradient = times_dense(queries_by_word, to_query)
    gradient += times_dense(docs_by_word, to_doc)
    return loss, gradient


def mean_loss(projection: FloatArray, examples: RankingExamples, options: LossOptions = DEFAULTS) -> float:
    """Return the loss alone; NaN without examples."""
    if not len(examples.asked):
        return float("nan")
    x, _ = _unit_embeddings(examples.queries, projection, options.epsilon)
    y, _ = _unit_embeddings(examples.docs, projection, options.epsilon)
    return _loss_and_slopes(_cosines(x, y, examples), options.gamma)[0]


def _unit_embeddings(rows: Csr, projection: FloatArray, epsilon: float) -> tuple[FloatArray, FloatArray]:
    embeddings = times_dense(rows, projection)
    squares = np.einsum("ij,ij->i", embeddings, embeddings)
    lengths = np.sqrt(squares + embeddings.dtype.type(epsilon**2))[:, None]
    lengths[lengths == 0] = np.inf
    embeddings /= lengths
    return embeddings, lengths


def _remove_radial(
    gradients: FloatArray, embeddings: FloatArray, radial: FloatArray, lengths: FloatArray
) -> None:
    """Subtract the component along the unit embedding, and divide by the length, in place."""
    embeddings *= radial.astype(embeddings.dtype)[:, None]
    gradients -= embeddings
    gradients /= lengths


def _cosines(x: FloatArray, y: FloatArray, examples: RankingExamples) -> FloatArray:
    asked = np.repeat(examples.asked, examples.compared.shape[1])
    return dots_of_pairs(x, y, (asked, examples.compared.ravel())).reshape(examples.compared.shape)


def _loss_and_slopes(cosines: FloatArray, gamma: float) -> tuple[float, FloatArray]:
    """The mean loss and its derivative by each cosine; the clicked document is in the first column."""
    exponents = -gamma * (cosines[:, :1].astype(np.float64) - cosines[:, 1:])
    loss = float(np.logaddexp(0, exponents).mean())
    slopes = np.empty(cosines.shape)
    slopes[:, 1:] = gamma / (1 + np.exp(-exponents)) / exponents.size
    slopes[:, 0] = -slopes[:, 1:].sum(axis=1)
    return loss, slopes.astype(cosines.dtype)


_LBFGS_MEMORY = 5  # iterations: each takes two copies of the projection in float64
_BATCH_PAIRS = 1024


def fit_lbfgs(
    start: FloatArray,
    examples: RankingExamples,
    options: LossOptions,
    validate: Callable[[FloatArray], float],
    iterations: int,
    patience: int,
    done: Callable[[int], None],
) -> EarlyStop:
    """Minimise the loss by L-BFGS until the validation loss, or the loss, stops falling."""
    from scipy.optimize import minimize

    stop = EarlyStop(patience, validate(start), (start,))

    def objective(flat: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        projection = flat.reshape(start.shape)
        loss, gradient = loss_and_gradient(projection.astype(start.dtype), examples, options)
        moved = projection - start
        loss += options.l2_to_start / 2 * float(np.vdot(moved, moved))
        return loss, (gradient + options.l2_to_start * moved).ravel()

    def after(intermediate_result: Any) -> None:
        projection = intermediate_result.x.reshape(start.shape).astype(start.dtype)
        finished = stop.update(float(intermediate_result.fun), validate(projection), (projection,))
        done(1)
        if finished:
            raise StopIteration

    minimize(objective, start.ravel().astype(np.float64), jac=True, method="L-BFGS-B", callback=after,
             options={"maxiter": iterations, "maxcor": _LBFGS_MEMORY})  # fmt: skip
    return stop


def fit_adagrad(
    start: FloatArray,
    queries: Csr,
    docs: Csr,
    asked: Ints,
    draw: Callable[[], Ints],
    options: LossOptions,
    validate: Callable[[FloatArray], float],
    epochs: int,
    patience: int,
    rate: float,
    order: Callable[[int], NDArray[np.int64]],
    done: Callable[[int], None],
) -> EarlyStop:
    """Minimise the loss by AdaGrad.

    `draw` returns the documents of each pair, the clicked one first; `order` returns the order of so many
    pairs.
    """
    projection, squares = start.copy(), np.zeros_like(start)

    def step() -> float:
        compared, pairs = draw(), order(len(asked))
        total = 0.0
        for first in range(0, len(pairs), _BATCH_PAIRS):
            batch = np.sort(pairs[first : first + _BATCH_PAIRS])
            words, examples = _compact(queries, docs, asked[batch], compared[batch])
            loss, gradient = loss_and_gradient(projection[words], examples, options)
            gradient += start.dtype.type(options.l2_to_start) * (projection[words] - start[words])
            total += loss * len(batch)
            squares[words] += gradient**2
            projection[words] -= rate * gradient / np.sqrt(squares[words] + 1e-12)
        return total / len(pairs)

    return train_epochs(step, lambda: validate(projection), (projection,), epochs, patience, done)


def _compact(queries: Csr, docs: Csr, asked: Ints, compared: Ints) -> tuple[Ints, RankingExamples]:
    """The words of a batch, and the batch with only its own queries, documents and words."""
    query_rows, new_asked = np.unique(asked, return_inverse=True)
    doc_rows, new_compared = np.unique(compared, return_inverse=True)
    rows = vstack(queries.take(query_rows), docs.take(doc_rows))
    words, indices = np.unique(rows.indices, return_inverse=True)
    compact = Csr(rows.indptr, indices.astype(np.int32), rows.data, len(words))
    examples = RankingExamples(
        compact.take(np.arange(len(query_rows))),
        compact.take(np.arange(len(query_rows), rows.rows)),
        new_asked.astype(np.int32),
        new_compared.reshape(compared.shape).astype(np.int32),
    )
    return words, examples
