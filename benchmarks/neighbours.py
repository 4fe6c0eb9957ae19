"""The 100 nearest queries by text similarity (model `neighbours`): one thread, one query at a time.

The peer is scipy on the same TF-IDF vectors: the query row times the transposed matrix, then argpartition.
The queries are those of the log with one wrong character, so that no cache contains them. Both searches need
the query's n-grams and words first; the time of this tokenization is shown in the parameters.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from benchmarks._row import make_row
from benchmarks._saved_graphs import saved_graph
from coclick.arrays.csr import Csr
from coclick.graph.click_graph import ClickGraph
from coclick.index.sparse import VectorIndex
from coclick.jit.threads import set_threads
from coclick.models.click_graph.neighbours import Neighbours

N_NEIGHBOURS = 100
QUERIES = 200
RUNS = 3
TOLERANCE = 1e-5

TopK = tuple[NDArray[np.int32], NDArray[np.float32]]


def rows(shape: str, threads: int) -> list[dict]:
    set_threads(threads)  # for training; searches use one thread
    model = Neighbours(n_neighbours=N_NEIGHBOURS)
    model.fit(ClickGraph.open(saved_graph(shape)))
    set_threads(1)
    index, queries = model.index_, _misspelled_queries(model.graph_)
    vectors = [model.similarity_.vectors([query]) for query in queries]
    by_column = _short_indices(index.vectors.to_scipy().T.tocsr())

    def ours(query: Csr) -> TopK:
        [found], [scores] = index.search(query, N_NEIGHBOURS)
        return found[found >= 0], scores[found >= 0]

    def theirs(query: Csr) -> TopK:
        return _best(_short_indices(query.to_scipy()) @ by_column)

    same = sum(_same(ours(vector), theirs(vector)) for vector in vectors)  # also compiles
    check = f"{'same' if same == QUERIES else 'DIFFERENT'} neighbours up to ties: {same} of {QUERIES} queries"
    mine, other = _times(ours, vectors), _times(theirs, vectors)
    tokenizing = _times(lambda query: model.similarity_.vectors([query]), queries)
    scipy_bytes = by_column.data.nbytes + by_column.indices.nbytes + by_column.indptr.nbytes
    found = []
    for p in (50, 99):
        before = f"after {np.percentile(tokenizing, p):.2f} ms of tokenization"
        params = f"{index.vectors.rows:,} queries, {N_NEIGHBOURS} neighbours, p{p}, {before}, best of {RUNS}"
        of_p = float(np.percentile(mine, p)), float(np.percentile(other, p))
        found.append(_row(shape, params, *of_p, "ms per query", check))
    what = "memory of the index: vectors and postings; theirs: postings"
    entries = f"{index.vectors.nnz / index.vectors.rows:.0f} entries per query in both"
    return [*found, _row(shape, what, _bytes(index) / 1e9, scipy_bytes / 1e9, "GB", entries)]


def _misspelled_queries(graph: ClickGraph) -> list[str]:
    """A sample of the queries, each with one character replaced."""
    random = np.random.default_rng(0)
    found = []
    for row in random.integers(0, len(graph.queries), QUERIES):
        letters = list(graph.queries[int(row)])
        letters[random.integers(len(letters))] = "x"
        found.append("".join(letters))
    return found


def _short_indices(matrix: scipy.sparse.csr_array) -> scipy.sparse.csr_array:
    """Use 32-bit indices where they suffice, as scipy does by default: less memory to read."""
    kind = np.int32 if matrix.nnz < 2**31 else np.int64
    arrays = matrix.data, matrix.indices.astype(kind), matrix.indptr.astype(kind)
    return scipy.sparse.csr_array(arrays, shape=matrix.shape)


def _best(product: scipy.sparse.csr_array) -> TopK:
    found, scores = product.indices, product.data
    if len(scores) > N_NEIGHBOURS:
        chosen = np.argpartition(-scores, N_NEIGHBOURS)[:N_NEIGHBOURS]
        found, scores = found[chosen], scores[chosen]
    order = np.argsort(-scores)
    return found[order], scores[order]


def _same(ours: TopK, theirs: TopK) -> bool:
    """Whether similarities and rows agree, except for rows that tie with the last."""
    if len(ours[0]) != len(theirs[0]) or np.abs(ours[1] - theirs[1]).max(initial=0) > TOLERANCE:
        return False
    certain = ours[1] > ours[1].min(initial=1) + TOLERANCE
    return set(ours[0][certain].tolist()) <= set(theirs[0].tolist())


def _times(action: Callable[[Any], object], arguments: Sequence[Any]) -> NDArray[np.float64]:
    """Milliseconds of each call; the best of several runs, because other processes interrupt."""
    best = np.full(len(arguments), np.inf)
    for _ in range(RUNS):
        for i, argument in enumerate(arguments):
            started = time.perf_counter()
            action(argument)
            best[i] = min(best[i], 1000 * (time.perf_counter() - started))
    return best


def _bytes(index: VectorIndex) -> int:
    vectors = index.vectors
    postings = index.indptr, index.places, index.weights
    blocks = index.order, index.common, index.strips, index.blocks
    return sum(array.nbytes for array in (vectors.indptr, vectors.indices, vectors.data, *postings, *blocks))


def _row(shape: str, params: str, ours: float, theirs: float, unit: str, check: str) -> dict:
    return make_row("neighbours", shape, params, 1, "scipy", ours, theirs, unit, check)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--shape", default="S")
    for row in rows(parser.parse_args().shape, len(os.sched_getaffinity(0))):
        print(row)
