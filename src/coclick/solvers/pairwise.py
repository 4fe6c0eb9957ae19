"""Stochastic gradient descent on pairs of sparse rows with a low-rank bilinear form.

    f(x, z) = (x L)·(z R)

with x a row of the queries, z a row of the documents, or the difference of two. Steps run one after the other
on one thread, so the result does not depend on the number of threads. With a rate of 0 nothing changes: this
computes the validation loss.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coclick.arrays.csr import Csr
from coclick.jit.compiler import jit

Ints = NDArray[np.int32]
FloatArray = NDArray[Any]  # float32; float64 in tests


class Preferences(NamedTuple):
    """For query i, document `better[i]` is preferred to document `worse[i]`.

    Defined beside the kernels, because cached machine code refers to the module of its argument types.
    """

    queries: Ints
    better: Ints
    worse: Ints


class CsrArrays(NamedTuple):
    """The arrays of a `Csr`, as arguments of kernels."""

    indptr: NDArray[np.int64]
    indices: Ints
    data: NDArray[np.float32]


def csr_arrays(matrix: Csr) -> CsrArrays:
    """Copy the arrays of a matrix: kernels are then compiled once, not also for read-only mapped arrays."""
    return CsrArrays(np.array(matrix.indptr), np.array(matrix.indices), np.array(matrix.data))


@jit
def hinge_epoch(
    queries: CsrArrays, docs: CsrArrays, preferences: tuple[Ints, Ints, Ints], order: NDArray[np.int64],
    left: FloatArray, right: FloatArray, rate: float,
) -> float:  # fmt: skip
    """Take one step for each preference, in the given order; return the mean hinge loss before each step.

    f(q, d) = (q L)·(d R) + q·d, where queries and documents have the same columns. Where f(q, better) is less
    than 1 + f(q, worse), with z = better − worse and both embeddings from the old values:
    L += rate · q ⊗ (z R), R += rate · z ⊗ (q L).
    """
    width = left.shape[1]
    embedding, difference = np.empty(width, left.dtype), np.empty(width, left.dtype)
    words = np.zeros(left.shape[0], left.dtype)
    total = 0.0
    for i in order:
        query, better, worse = preferences[0][i], preferences[1][i], preferences[2][i]
        overlap = _overlap(queries, docs, query, better, worse, words)
        _embed_preference(queries, docs, query, better, worse, left, right, embedding, difference)
        loss = 1.0 - _dot(embedding, difference) - overlap
        if loss > 0.0:
            total += loss
            _add_outer(queries, query, rate, difference, left)
            _add_outer(docs, better, rate, embedding, right)
            _add_outer(docs, worse, -rate, embedding, right)
    return total / max(len(order), 1)


@jit
def logistic_epoch(
    queries: CsrArrays, docs: CsrArrays, preferences: tuple[Ints, Ints, Ints], order: NDArray[np.int64],
    left: FloatArray, right: FloatArray, doc_bias: FloatArray, rate: float, decay: float,
) -> float:  # fmt: skip
    """Take one step for each preference, in the given order; return the mean loss before each step.

    Loss ln(1 + exp(−Δ)), Δ = (q L)·(z R) + b·z with z = better − worse. The parameters that a step reads
    shrink by `decay` times the rate.
    """
    width = left.shape[1]
    embedding, difference = np.empty(width, left.dtype), np.empty(width, left.dtype)
    total = 0.0
    for i in order:
        query, better, worse = preferences[0][i], preferences[1][i], preferences[2][i]
        _embed_preference(queries, docs, query, better, worse, left, right, embedding, difference)
        margin = _dot(embedding, difference) + _bias(docs, better, doc_bias) - _bias(docs, worse, doc_bias)
        total += _softplus(-margin)
        step = rate / (1.0 + np.exp(margin))
        shrink = 1.0 - rate * decay
        _shrink_and_add(queries, query, shrink, step, difference, left)
        _shrink_and_add(docs, better, shrink, step, embedding, right)
        _shrink_and_add(docs, worse, shrink, -step, embedding, right)
        _shrink_and_add_bias(docs, better, shrink, step, doc_bias)
        _shrink_and_add_bias(docs, worse, shrink, -step, doc_bias)
    return total / max(len(order), 1)


@jit
def squared_epoch(
    queries: CsrArrays, docs: CsrArrays, pairs: tuple[Ints, Ints], targets: FloatArray,
    order: NDArray[np.int64], left: FloatArray, right: FloatArray, query_bias: FloatArray,
    doc_bias: FloatArray, mean: float, rate: float, decay: float,
) -> float:  # fmt: skip
    """Take one step for each pair, in the given order; return the mean of half the squared errors.

    ŷ = mean + b_q·x + b_d·z + (x L)·(z R); every parameter that a step reads moves by `rate` times the error
    times its derivative, and shrinks by `decay` times the rate.
    """
    width = left.shape[1]
    embedding, other = np.empty(width, left.dtype), np.empty(width, left.dtype)
    total = 0.0
    for i in order:
        query, doc = pairs[0][i], pairs[1][i]
        _embed(queries, query, left, embedding)
        _embed(docs, doc, right, other)
        guess = mean + _bias(queries, query, query_bias) + _bias(docs, doc, doc_bias) + _dot(embedding, other)
        error = targets[i] - guess
        total += 0.5 * error * error
        shrink, step = 1.0 - rate * decay, rate * error
        _shrink_and_add(queries, query, shrink, step, other, left)
        _shrink_and_add(docs, doc, shrink, step, embedding, right)
        _shrink_and_add_bias(queries, query, shrink, step, query_bias)
        _shrink_and_add_bias(docs, doc, shrink, step, doc_bias)
    return total / max(len(order), 1)


@jit
def _embed_preference(
    queries: CsrArrays, docs: CsrArrays, query: int, better: int, worse: int, left: FloatArray,
    right: FloatArray, embedding: FloatArray, difference: FloatArray,
) -> None:  # fmt: skip
    """Write x L to `embedding`, (better − worse) R to `difference`."""
    _embed(queries, query, left, embedding)
    _embed(docs, better, right, difference)
    for at in range(docs.indptr[worse], docs.indptr[worse + 1]):
        value, source = docs.data[at], right[docs.indices[at]]
        for j in range(len(difference)):
            difference[j] -= value * source[j]


@jit
def _embed(rows: CsrArrays, row: int, mapping: FloatArray, out: FloatArray) -> None:
    for j in range(len(out)):
        out[j] = 0.0
    for at in range(rows.indptr[row], rows.indptr[row + 1]):
        value, source = rows.data[at], mapping[rows.indices[at]]
        for j in range(len(out)):
            out[j] += value * source[j]


@jit
def _dot(one: FloatArray, other: FloatArray) -> float:
    total = 0.0
    for j in range(len(one)):
        total += one[j] * other[j]
    return total


@jit
def _overlap(
    queries: CsrArrays, docs: CsrArrays, query: int, better: int, worse: int, words: FloatArray
) -> float:
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
def _bias(rows: CsrArrays, row: int, bias: FloatArray) -> float:
    total = 0.0
    for at in range(rows.indptr[row], rows.indptr[row + 1]):
        total += rows.data[at] * bias[rows.indices[at]]
    return total


@jit
def _add_outer(rows: CsrArrays, row: int, factor: float, embedding: FloatArray, mapping: FloatArray) -> None:
    """mapping += factor · row ⊗ embedding."""
    for at in range(rows.indptr[row], rows.indptr[row + 1]):
        value, target = mapping.dtype.type(factor * rows.data[at]), mapping[rows.indices[at]]
        for j in range(len(embedding)):
            target[j] += value * embedding[j]


@jit
def _shrink_and_add(
    rows: CsrArrays, row: int, shrink: float, factor: float, embedding: FloatArray, mapping: FloatArray
) -> None:
    """mapping = shrink · mapping + factor · row ⊗ embedding, where the row is not zero."""
    keep = mapping.dtype.type(shrink)
    for at in range(rows.indptr[row], rows.indptr[row + 1]):
        value, target = mapping.dtype.type(factor * rows.data[at]), mapping[rows.indices[at]]
        for j in range(len(embedding)):
            target[j] = keep * target[j] + value * embedding[j]


@jit
def _shrink_and_add_bias(rows: CsrArrays, row: int, shrink: float, factor: float, bias: FloatArray) -> None:
    for at in range(rows.indptr[row], rows.indptr[row + 1]):
        column = rows.indices[at]
        bias[column] = shrink * bias[column] + factor * rows.data[at]


@jit
def _softplus(value: float) -> float:
    """ln(1 + exp(value)), without overflow."""
    return max(value, 0.0) + np.log1p(np.exp(-abs(value)))
