"""The projections learned from pairs, by loops over dense rows in float64, on recorded random choices.

Nothing of the package is used but `Sampler`, whose choices are recorded while our model trains: which pairs
are held out, which negatives are drawn, the order of steps and the initial values.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coclick.solvers.sampling import Sampler

Floats = NDArray[np.float64]
Pairs = list[tuple[int, int]]
Preference = tuple[int, int, int]  # query, better document, worse document


class RecordingSampler(Sampler):
    """Keeps everything that it returns."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.held: list[bool] = []
        self.negatives: list[list[list[int]]] = []  # by draw: for each pair its negatives
        self.orders: list[list[int]] = []
        self.normals: list[Floats] = []

    def hold_out(self, *given: Any) -> Any:
        held = super().hold_out(*given)
        self.held = held.tolist()
        return held

    def draw_unclicked(self, *given: Any) -> Any:
        drawn = super().draw_unclicked(*given)
        self.negatives.append(drawn.tolist())
        return drawn

    def order(self, *given: Any) -> Any:
        drawn = super().order(*given)
        self.orders.append(drawn.tolist())
        return drawn

    def normal(self, *given: Any) -> Any:
        drawn = super().normal(*given)
        self.normals.append(drawn.astype(np.float64))
        return drawn


def early_stop(
    step: Callable[[], None],
    validate: Callable[[], float],
    parameters: list[Floats],
    iterations: int,
    patience: int,
) -> tuple[list[Floats], list[float]]:
    """The parameters with the smallest validation loss, and all validation losses after the start."""
    lowest, waited = validate(), 0
    best = [part.copy() for part in parameters]
    curve: list[float] = []
    for _ in range(iterations):
        step()
        curve.append(validate())
        waited += 1
        if curve[-1] < lowest:
            lowest, waited = curve[-1], 0
            best = [part.copy() for part in parameters]
        if waited >= patience:
            break
    return best, curve


class ReferenceSSI:
    """f(q, d) = qᵀ (U Vᵀ + I) d with the hinge loss: Bai et al. 2009, one preference at a time."""

    def __init__(self, queries: Floats, docs: Floats, maps: tuple[Floats, Floats], rate: float) -> None:
        self.queries, self.docs, self.rate = queries, docs, rate
        self.u, self.v = maps

    def loss(self, preference: Preference) -> float:
        query, better, worse = preference
        q, z = self.queries[query], self.docs[better] - self.docs[worse]
        return max(0.0, 1 - (q @ self.u) @ (z @ self.v) - q @ z)

    def step(self, preference: Preference) -> None:
        query, better, worse = preference
        q, z = self.queries[query], self.docs[better] - self.docs[worse]
        if self.loss(preference) > 0:
            to_u, to_v = np.outer(q, z @ self.v), np.outer(z, q @ self.u)
            self.u += self.rate * to_u
            self.v += self.rate * to_v


class ReferenceSVDFeature:
    """ŷ = μ + b_q·x + b_d·z + (Pᵀx)·(Rᵀz) by gradient descent with weight decay: Chen et al. 2012."""

    def __init__(
        self, x: Floats, z: Floats, maps: tuple[Floats, Floats], mean: float, rate: float, l2: float
    ) -> None:
        self.x, self.z, self.mean, self.rate, self.l2 = x, z, mean, rate, l2
        self.p, self.r = maps
        self.query_bias, self.doc_bias = np.zeros(x.shape[1]), np.zeros(z.shape[1])

    @property
    def parameters(self) -> list[Floats]:
        return [self.p, self.r, self.query_bias, self.doc_bias]

    def predict(self, query: int, doc: int) -> float:
        x, z = self.x[query], self.z[doc]
        return float(self.mean + x @ self.query_bias + z @ self.doc_bias + (x @ self.p) @ (z @ self.r))

    def squared_loss(self, query: int, doc: int, target: float) -> float:
        return (target - self.predict(query, doc)) ** 2 / 2

    def squared_step(self, query: int, doc: int, target: float) -> None:
        x, z = self.x[query], self.z[doc]
        error = target - self.predict(query, doc)
        in_query, in_doc = x @ self.p, z @ self.r
        for features, parameter, gradient in (
            (x, self.p, np.outer(x, in_doc)),
            (z, self.r, np.outer(z, in_query)),
            (x, self.query_bias, x),
            (z, self.doc_bias, z),
        ):
            self._move(features, parameter, error * gradient)

    def logistic_loss(self, preference: Preference) -> float:
        query, better, worse = preference
        return float(np.log1p(np.exp(self.predict(query, worse) - self.predict(query, better))))

    def logistic_step(self, preference: Preference) -> None:
        query, better, worse = preference
        x, better_z, worse_z = self.x[query], self.z[better], self.z[worse]
        slope = 1 / (1 + np.exp(self.predict(query, better) - self.predict(query, worse)))
        in_query, difference = x @ self.p, (better_z - worse_z) @ self.r
        self._move(x, self.p, slope * np.outer(x, difference))
        for z, sign in ((better_z, 1), (worse_z, -1)):
            self._move(z, self.r, sign * slope * np.outer(z, in_query))
            self._move(z, self.doc_bias, sign * slope * z)

    def _move(self, features: Floats, parameter: Floats, gradient: Floats) -> None:
        """Descend, and shrink the parameters of the features that are not zero."""
        used = features != 0
        parameter[used] *= 1 - self.rate * self.l2
        parameter += self.rate * gradient


class ReferenceS2Net:
    """The loss of Eq. 21 and its gradient by App. B, with the sign of Eq. 31 corrected."""

    def __init__(self, queries: Floats, docs: Floats, gamma: float, epsilon: float) -> None:
        self.queries, self.docs, self.gamma, self.epsilon = queries, docs, gamma, epsilon

    def similarity(self, projection: Floats, query: int, doc: int) -> tuple[float, Floats]:
        """cos(Aᵀq, Aᵀd) with lengths √(v·v + ε²), and its gradient by A (Eq. 33–36)."""
        q, d = self.queries[query], self.docs[doc]
        q_hat, d_hat = q @ projection, d @ projection
        if self.epsilon == 0 and not (q_hat.any() and d_hat.any()):  # the length is zero
            return 0.0, np.zeros_like(projection)
        a = q_hat @ d_hat
        b, c = (1 / np.sqrt(v @ v + self.epsilon**2) for v in (q_hat, d_hat))
        gradient = -a * b * c**3 * np.outer(d, d_hat) - a * c * b**3 * np.outer(q, q_hat)
        gradient += b * c * (np.outer(q, d_hat) + np.outer(d, q_hat))
        return float(a * b * c), gradient

    def loss(self, projection: Floats, examples: list[tuple[int, list[int]]]) -> tuple[float, Floats]:
        """The mean over all comparisons of (query, [clicked document, others …]), and its gradient."""
        total, gradient, count = 0.0, np.zeros_like(projection), 0
        for query, (clicked, *others) in examples:
            positive, to_positive = self.similarity(projection, query, clicked)
            for other in others:
                negative, to_negative = self.similarity(projection, query, other)
                delta = self.gamma * (positive - negative)
                total += float(np.log1p(np.exp(-delta)))
                gradient -= self.gamma / (1 + np.exp(delta)) * (to_positive - to_negative)
                count += 1
        return total / count, gradient / count


def cosines(queries: Floats, docs: Floats) -> Floats:
    """Cosines of all rows, 0 where negative or where a row is zero."""
    units = [
        rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12) for rows in (queries, docs)
    ]
    return np.maximum(units[0] @ units[1].T, 0)


def leading_eigenvectors(matrix: Floats, k: int) -> Floats:
    """The k eigenvectors of largest eigenvalue, which must be clearly separate from the others."""
    values, vectors = np.linalg.eigh(matrix)
    assert values[-k] - values[-k - 1] > 1e-3 * values[-1]
    return vectors[:, ::-1][:, :k]


def in_order(items: list[Any], orders: Iterator[list[int]]) -> Iterator[Any]:
    """The items in the next recorded order, which must be one of so many items."""
    order = next(orders)
    assert sorted(order) == list(range(len(items)))
    return (items[i] for i in order)
