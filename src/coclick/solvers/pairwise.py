"""Stochastic gradient descent on pairs of sparse rows with a low-rank bilinear form.

    f(x, z) = (x L)·(z R)

with x a row of the queries, z a row of the documents, or the difference of two. One step after the other on
one thread: every step reads what the one before has written, so the result does not depend on the number of
threads. With a rate of 0 nothing changes: that is how held-out pairs are judged.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coclick.arrays.csr import Csr
from coclick.jit.compiler import jit

Ints = NDArray[np.int32]
Floats = NDArray[np.floating]


class Preferences(NamedTuple):
    """For query i, document `better[i]` is preferred to document `worse[i]`.

    It is here, not with what makes them: cached machine code names the home of every type it is for.
    """

    queries: Ints
    better: Ints
    worse: Ints


class Rows(NamedTuple):
    """The arrays of a `Csr`, as kernels take them."""

    indptr: NDArray[np.int64]
    indices: Ints
    data: NDArray[np.float32]


def rows_of(matrix: Csr) -> Rows:
    """The arrays of a matrix in memory of our own: kernels are compiled once, not for mapped files, too."""
    return Rows(np.array(matrix.indptr), np.array(matrix.indices), np.array(matrix.data))


@jit
def hinge_round(
    queries: Rows, docs: Rows, preferences: tuple[Ints, Ints, Ints], order: NDArray[np.int64],
    left: Floats, right: Floats, rate: float,
) -> float:  # fmt: skip
    """One step for each preference, in the given order; the mean hinge loss before each step.

    f(q, d) = (q L)·(d R) + q·d, queries and documents having the same columns. Where f(q, better) is less
    than 1 + f(q, worse), with z = better − worse and both images from old values:
    L += rate · q ⊗ (z R), R += rate · z ⊗ (q L).
    """
    width = left.shape[1]
    image, difference = np.empty(width, left.dtype), np.empty(width, left.dtype)
    words = np.zeros(left.shape[0], left.dtype)
    total = 0.0
    for i in order:
        query, better, worse = preferences[0][i], preferences[1][i], preferences[2][i]
        overlap = _overlap(queries, docs, query, better, worse, words)
        _images(queries, docs, query, better, worse, left, right, image, difference)
        loss = 1.0 - _dot(image, difference) - overlap
        if loss > 0.0:
            total += loss
            _add_outer(queries, query, rate, difference, left)
            _add_outer(docs, better, rate, image, right)
            _add_outer(docs, worse, -rate, image, right)
    return total / max(len(order), 1)


@jit
def logistic_round(
    queries: Rows, docs: Rows, preferences: tuple[Ints, Ints, Ints], order: NDArray[np.int64],
    left: Floats, right: Floats, doc_bias: Floats, rate: float, decay: float,
) -> float:  # fmt: skip
    """One step for each preference, in the given order; the mean loss before each step.

    Loss ln(1 + exp(−Δ)), Δ = (q L)·(z R) + b·z with z = better − worse. What a step reads shrinks by
    `decay` times the rate.
    """
    width = left.shape[1]
    image, difference = np.empty(width, left.dtype), np.empty(width, left.dtype)
    total = 0.0
    for i in order:
        query, better, worse = preferences[0][i], preferences[1][i], preferences[2][i]
        _images(queries, docs, query, better, worse, left, right, image, difference)
        ahead = _dot(image, difference) + _bias(docs, better, doc_bias) - _bias(docs, worse, doc_bias)
        total += _softplus(-ahead)
        push = rate / (1.0 + np.exp(ahead))
        shrink = 1.0 - rate * decay
        _shrink_and_add(queries, query, shrink, push, difference, left)
        _shrink_and_add(docs, better, shrink, push, image, right)
        _shrink_and_add(docs, worse, shrink, -push, image, right)
        _shrink_and_add_bias(docs, better, shrink, push, doc_bias)
        _shrink_and_add_bias(docs, worse, shrink, -push, doc_bias)
    return total / max(len(order), 1)


@jit
def squared_round(
    queries: Rows, docs: Rows, pairs: tuple[Ints, Ints], targets: Floats, order: NDArray[np.int64],
    left: Floats, right: Floats, query_bias: Floats, doc_bias: Floats, mean: float, rate: float, decay: float,
) -> float:  # fmt: skip
    """One step for each pair, in the given order; the mean of half the squared errors before each step.

    ŷ = mean + b_q·x + b_d·z + (x L)·(z R); every parameter that a step reads moves by `rate` times the error
    times its derivative, and shrinks by `decay` times the rate.
    """
    width = left.shape[1]
    image, other = np.empty(width, left.dtype), np.empty(width, left.dtype)
    total = 0.0
    for i in order:
        query, doc = pairs[0][i], pairs[1][i]
        _image(queries, query, left, image)
        _image(docs, doc, right, other)
        guess = mean + _bias(queries, query, query_bias) + _bias(docs, doc, doc_bias) + _dot(image, other)
        error = targets[i] - guess
        total += 0.5 * error * error
        shrink, push = 1.0 - rate * decay, rate * error
        _shrink_and_add(queries, query, shrink, push, other, left)
        _shrink_and_add(docs, doc, shrink, push, image, right)
        _shrink_and_add_bias(queries, query, shrink, push, query_bias)
        _shrink_and_add_bias(docs, doc, shrink, push, doc_bias)
    return total / max(len(order), 1)


@jit
def _images(
    queries: Rows, docs: Rows, query: int, better: int, worse: int, left: Floats, right: Floats,
    image: Floats, difference: Floats,
) -> None:  # fmt: skip
    """x L into `image`, (better − worse) R into `difference`."""
    _image(queries, query, left, image)
    _image(docs, better, right, difference)
    for at in range(docs.indptr[worse], docs.indptr[worse + 1]):
        value, source = docs.data[at], right[docs.indices[at]]
        for j in range(len(difference)):
            difference[j] -= value * source[j]


@jit
def _image(rows: Rows, row: int, mapping: Floats, out: Floats) -> None:
    for j in range(len(out)):
        out[j] = 0.0
    for at in range(rows.indptr[row], rows.indptr[row + 1]):
        value, source = rows.data[at], mapping[rows.indices[at]]
        for j in range(len(out)):
            out[j] += value * source[j]


@jit
def _dot(one: Floats, other: Floats) -> float:
    total = 0.0
    for j in range(len(one)):
        total += one[j] * other[j]
    return total


@jit
def _overlap(queries: Rows, docs: Rows, query: int, better: int, worse: int, words: Floats) -> float:
    """query·(better − worse); `words` is all zeros before and after."""
    for at in range(queries.indptr[query], queries.indptr[query + 1]):
        words[queries.indices[at]] = queries.data[at]
    total = 0.0
    for at in range(docs.indptr[better], docs.indptr[better + 1]):
        total += docs.data[at] * words[docs.indices[at]]
    for at in range(docs.indptr[worse], docs.indptr[worse + 1]):
        total -= docs.data[at] * words[docs.indices[at]]
    for at in range(queries.indptr[query], queries.indptr[query + 1]):
        words[queries.indices[at]] = 0.0
    return total


@jit
def _bias(rows: Rows, row: int, bias: Floats) -> float:
    total = 0.0
    for at in range(rows.indptr[row], rows.indptr[row + 1]):
        total += rows.data[at] * bias[rows.indices[at]]
    return total


@jit
def _add_outer(rows: Rows, row: int, factor: float, image: Floats, mapping: Floats) -> None:
    """mapping += factor · row ⊗ image."""
    for at in range(rows.indptr[row], rows.indptr[row + 1]):
        value, target = mapping.dtype.type(factor * rows.data[at]), mapping[rows.indices[at]]
        for j in range(len(image)):
            target[j] += value * image[j]


@jit
def _shrink_and_add(
    rows: Rows, row: int, shrink: float, factor: float, image: Floats, mapping: Floats
) -> None:
    """The mapping's rows that the row reads, times `shrink`, plus factor · row ⊗ image."""
    keep = mapping.dtype.type(shrink)
    for at in range(rows.indptr[row], rows.indptr[row + 1]):
        value, target = mapping.dtype.type(factor * rows.data[at]), mapping[rows.indices[at]]
        for j in range(len(image)):
            target[j] = keep * target[j] + value * image[j]


@jit
def _shrink_and_add_bias(rows: Rows, row: int, shrink: float, factor: float, bias: Floats) -> None:
    for at in range(rows.indptr[row], rows.indptr[row + 1]):
        column = rows.indices[at]
        bias[column] = shrink * bias[column] + factor * rows.data[at]


@jit
def _softplus(value: float) -> float:
    """ln(1 + exp(value)), without overflow."""
    return max(value, 0.0) + np.log1p(np.exp(-abs(value)))
