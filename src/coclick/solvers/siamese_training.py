"""Two ways to the projection of `siamese`: L-BFGS over all pairs, AdaGrad over batches of them.

L-BFGS is what paper 001 used: every round sees all pairs with the same other documents, drawn once, because
the objective must not change between rounds. AdaGrad draws them afresh in every round, and its steps touch
only the rows of words that a batch holds.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coclick.arrays.csr import Csr, stack
from coclick.solvers.early_stopping import EarlyStop, train_rounds
from coclick.solvers.siamese import Examples, Floats, Ints, loss_and_gradient

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
    rows = stack(queries.take(query_rows), docs.take(doc_rows))
    words, indices = np.unique(rows.indices, return_inverse=True)
    compact = Csr(rows.indptr, indices.astype(np.int32), rows.data, len(words))
    examples = Examples(
        compact.take(np.arange(len(query_rows))),
        compact.take(np.arange(len(query_rows), rows.rows)),
        new_asked.astype(np.int32),
        new_compared.reshape(compared.shape).astype(np.int32),
    )
    return words, examples
