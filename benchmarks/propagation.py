"""One iteration of propagation (two half-steps), compared with sparse_dot_topn.

Both use the same matrices and threads. Our time includes renumbering, transposing, packing, normalising and
unpacking; theirs includes the normalisation but not the transpose. Neither allocates fresh memory after its
first run (see `_allocator`).
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse
from sparse_dot_topn import sp_matmul_topn

from benchmarks._allocator import keep_freed_memory
from benchmarks._row import make_row
from benchmarks._shapes import named_graph
from coclick.arrays.csr import Csr
from coclick.jit.threads import set_threads
from coclick.models.propagation.iterations import Propagation
from coclick.progress import quiet
from coclick.text.analyzer import Tokens
from coclick.text.term_matrix import count_terms, unit_rows

K = 20
RUNS = 9  # other virtual machines on the host disturb memory for seconds


def rows(shape: str, threads: int) -> list[dict]:
    set_threads(threads)
    keep_freed_memory()
    drawn = named_graph(shape)
    start = unit_rows(count_terms(Tokens(*drawn.query_words), drawn.words))
    clicks = drawn.clicks
    by_query, texts = _matrix(clicks), _matrix(start)
    by_doc = scipy.sparse.csr_matrix(by_query.T)

    def ours() -> tuple[Csr, Csr]:
        texts, others, _ = next(Propagation(clicks, K).iterations(start, quiet))
        return texts, others

    def theirs() -> tuple[scipy.sparse.csr_matrix, scipy.sparse.csr_matrix]:
        docs = _normalised(sp_matmul_topn(by_doc, texts, top_n=K, n_threads=threads, sort=False))
        return _normalised(sp_matmul_topn(by_query, docs, top_n=K, n_threads=threads, sort=False)), docs

    our_docs, their_docs = ours()[1], theirs()[1]  # compiles and warms the caches
    check = _same(our_docs, their_docs)
    best = {ours: np.inf, theirs: np.inf}
    for _ in range(RUNS):
        for action in best:
            best[action] = min(best[action], _seconds(action))
    return [
        make_row(
            name="propagation",
            shape=shape,
            params=f"one iteration, k={K}, best of {RUNS}",
            threads=threads,
            peer="sparse_dot_topn",
            ours=best[ours],
            theirs=best[theirs],
            unit="s",
            check=check,
        )
    ]


def _seconds(action: Callable[[], Any]) -> float:
    started = time.perf_counter()
    action()
    return time.perf_counter() - started


def _matrix(rows: Csr) -> scipy.sparse.csr_matrix:
    return scipy.sparse.csr_matrix(rows.to_scipy())


def _normalised(matrix: scipy.sparse.csr_matrix) -> scipy.sparse.csr_matrix:
    squares = np.add.reduceat(np.append(matrix.data**2, np.float32(0)), matrix.indptr[:-1])
    lengths = np.sqrt(np.where(np.diff(matrix.indptr) > 0, squares, 1))
    matrix.data /= np.repeat(lengths, np.diff(matrix.indptr)).astype(np.float32)
    return matrix


def _same(ours: Csr, theirs: scipy.sparse.csr_matrix) -> str:
    """Compare the first half-step row by row; values are sorted, because ties may keep other terms."""
    theirs.sort_indices()
    if not np.array_equal(ours.row_nnz(), np.diff(theirs.indptr)):
        return "DIFFERENT row lengths"
    row = np.repeat(np.arange(ours.rows), ours.row_nnz())
    mine = ours.data[np.lexsort((ours.data, row))]
    other = theirs.data[np.lexsort((theirs.data, row))]
    difference = float(np.abs(mine - other).max(initial=0))
    verdict = "same values" if difference < 1e-5 else "DIFFERENT values"
    tied = int(
        (np.add.reduceat(np.append(ours.indices != theirs.indices, False), ours.indptr[:-1]) > 0).sum()
    )
    return (
        f"{verdict}: {ours.rows:,} rows, max difference {difference:.0e}, {tied:,} rows keep other tied words"
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--shape", default="S")
    print(rows(parser.parse_args().shape, len(os.sched_getaffinity(0))))
