"""Weighted sums of sparse rows, pruned to the K largest entries and scaled to unit length."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from coclick.kernels.jit import jit
from coclick.kernels.threads import balanced_blocks, run_blocks, threads
from coclick.sparse import Csr


@jit
def _select(sums, touched, n, k, term_hash, out_i, out_d, base):  # type: ignore[no-untyped-def]
    terms = touched[:n]
    if n > k:
        values = np.empty(n, np.float32)
        for i in range(n):
            values[i] = sums[terms[i]]
        kth = np.partition(values, n - k)[n - k]
        above = 0
        ties = 0
        for i in range(n):
            above += values[i] > kth
            ties += values[i] == kth
        keep = np.empty(k, np.int32)
        m = 0
        room = k - above
        tied = np.empty(ties, np.int32)
        t = 0
        for i in range(n):
            if values[i] > kth:
                keep[m] = terms[i]
                m += 1
            elif values[i] == kth:
                tied[t] = terms[i]
                t += 1
        if room < ties:
            keys = np.empty(ties, np.int64)
            for i in range(ties):
                keys[i] = (np.int64(term_hash[tied[i]]) << 31) | np.int64(tied[i])
            tied = tied[np.argsort(keys)]
        for i in range(room):
            keep[m] = tied[i]
            m += 1
        chosen = np.sort(keep[:m])
    else:
        chosen = np.sort(terms)
    total = 0.0
    for i in range(len(chosen)):
        total += np.float64(sums[chosen[i]]) ** 2
    scale = 1.0 / np.sqrt(total) if total > 0 else 0.0
    count = 0
    for i in range(len(chosen)):
        if sums[chosen[i]] > 0:
            out_i[base + count] = chosen[i]
            out_d[base + count] = sums[chosen[i]] * scale
            count += 1
    for i in range(n):
        sums[touched[i]] = 0.0
    return count


@jit
def _rows(first, last, h_indptr, h_rows, two, w_indptr, w_indices, w_data, x_indptr, x_indices, x_data,
          k, term_hash, sums, touched, starts, counts, out_i, out_d):  # type: ignore[no-untyped-def]  # fmt: skip
    for row in range(first, last):
        n = 0
        a, b = (h_indptr[row], h_indptr[row + 1]) if two else (row, row + 1)
        for h in range(a, b):
            middle = h_rows[h] if two else h
            for p in range(w_indptr[middle], w_indptr[middle + 1]):
                other, weight = w_indices[p], w_data[p]
                for x in range(x_indptr[other], x_indptr[other + 1]):
                    term = x_indices[x]
                    if weight * x_data[x] <= 0.0:
                        continue
                    if sums[term] == 0.0:
                        touched[n] = term
                        n += 1
                    sums[term] += weight * x_data[x]
        counts[row] = _select(sums, touched, n, k, term_hash, out_i, out_d, starts[row])


def _run(holders, weights, rows, k, term_hash, done) -> Csr:  # type: ignore[no-untyped-def]
    two = holders is not None
    h_indptr, h_rows = holders if two else (np.zeros(1, np.int64), np.empty(0, np.int32))
    count = len(h_indptr) - 1 if two else weights.rows
    if two:
        work = np.concatenate([[0], np.cumsum(np.diff(weights.indptr)[h_rows])])[h_indptr]
    else:
        work = weights.indptr
    starts = np.arange(count, dtype=np.int64) * k
    counts = np.zeros(count, np.int64)
    out_i, out_d = np.empty(count * k, np.int32), np.empty(count * k, np.float32)

    def block(first: int, last: int) -> None:
        sums, touched = np.zeros(rows.columns, np.float32), np.empty(rows.columns + 1, np.int32)
        _rows(first, last, h_indptr, h_rows, two, weights.indptr, weights.indices, weights.data,
              rows.indptr, rows.indices, rows.data, k, term_hash, sums, touched, starts, counts, out_i, out_d)  # fmt: skip

    run_blocks(block, balanced_blocks(work, 8 * threads()), done)
    indptr = np.concatenate([[0], np.cumsum(counts)])
    kept = (np.arange(k)[None, :] < counts[:, None]).ravel()
    return Csr(indptr, out_i[kept], out_d[kept], rows.columns)


def half_step(
    weights: Csr, rows: Csr, k: int, term_hash: NDArray[np.uint32], done: Callable[[int], None] | None = None
) -> Csr:
    """norm(top_K(W X))."""
    return _run(None, weights, rows, k, term_hash, done)


def two_hops(
    holder_indptr: NDArray[np.int64],
    holder_rows: NDArray[np.int32],
    weights: Csr,
    rows: Csr,
    k: int,
    term_hash: NDArray[np.uint32],
    done: Callable[[int], None] | None = None,
) -> Csr:
    """norm(top_K(Bᵀ W X)) without Bᵀ W."""
    return _run((holder_indptr, holder_rows), weights, rows, k, term_hash, done)
