"""Exact top-10 search over propagated document vectors, one thread, one query at a time.

Peers, on the same lists of postings:
- scipy: the query's row times the transposed matrix, given in the format that makes this fastest, then
  argpartition;
- bm25s (numba, one thread): documents whose tokens are the words of our vectors, so that a query has exactly
  as many postings there as here. Its scores are BM25's, hence two rows: our search of the vectors beside its
  search for the same words, and our search of its own matrix, whose results must be the same.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Sequence

import bm25s
import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from benchmarks._shapes import named_graph
from coclick.arrays.csr import Csr
from coclick.jit.threads import set_threads
from coclick.kernels.blocks import build_blocks
from coclick.kernels.search import Scratch, search
from coclick.models.propagation.rounds import Propagation
from coclick.progress import quiet
from coclick.text.analyzer import Tokens
from coclick.text.term_matrix import count_terms, unit_rows

K = 20  # words of a vector
TOP = 10
QUERIES = 2000
THEIR_QUERIES = 200
RUNS = 3
TOLERANCE = 1e-6

Query = tuple[NDArray[np.int32], NDArray[np.float32]]
TopK = tuple[NDArray[np.int32], NDArray[np.float32]]


def rows(shape: str, threads: int) -> list[dict]:
    set_threads(threads)  # for what comes before the searches, which use one
    queries, short, docs = _vectors(shape)
    ours = _searcher(docs)
    rows = [
        _row(shape, "scipy", "queries of 20 words", queries, ours, _scipy_searcher(docs), docs),
        _row(shape, "scipy", "queries of 1–4 words", short, ours, _scipy_searcher(docs), docs),
    ]
    theirs, matrix = _bm25s_searcher(docs)
    counted = [(terms, np.ones(len(terms), np.float32)) for terms, _ in queries]
    in_their_matrix = _searcher(matrix)
    by_words = _row(shape, "bm25s", "our vectors, its BM25, same words", counted, ours, theirs, docs, queries)
    by_words["check"] = "same lists of postings; weights differ by nature"
    same_matrix = _row(shape, "bm25s", "its BM25 matrix in both", counted, in_their_matrix, theirs, docs)
    return [*rows, by_words, same_matrix]


def _vectors(shape: str) -> tuple[list[Query], list[Query], Csr]:
    """Queries after one round of propagation, queries as typed (1–4 words), and the documents."""
    drawn = named_graph(shape)
    start = unit_rows(count_terms(Tokens(*drawn.query_words), drawn.words))
    texts, docs, _ = next(Propagation(drawn.clicks, K).rounds(start, quiet))
    chosen = np.random.default_rng(1).permutation(texts.rows)
    few_words = chosen[start.row_nnz()[chosen] <= 4]
    long_queries = [texts.row(row) for row in chosen[:QUERIES]]
    short_queries = [start.row(row) for row in few_words[:QUERIES]]
    return long_queries, short_queries, docs


def _searcher(docs: Csr) -> Callable[[Query], TopK]:
    forward = docs.indptr, docs.indices, docs.data
    index = build_blocks(*forward, docs.columns)
    scratch = Scratch(docs.rows, docs.columns)
    return lambda query: search(*index, *forward, *query, TOP, scratch)


def _scipy_searcher(docs: Csr) -> Callable[[Query], TopK]:
    by_term = docs.to_scipy().T.tocsr()

    def find(query: Query) -> TopK:
        terms, weights = query
        row = scipy.sparse.csr_array((weights, terms, [0, len(terms)]), shape=(1, docs.columns))
        product = row @ by_term
        return _best(product.indices, product.data)

    return find


def _bm25s_searcher(docs: Csr) -> tuple[Callable[[Query], TopK], Csr]:
    """Its search, and its matrix of scores. The matrix is put together here, because its own builder is a
    loop in Python that takes minutes for a million documents."""
    retriever = bm25s.BM25(backend="numba")
    lengths = docs.row_nnz()
    frequency = np.bincount(docs.indices, minlength=docs.columns)
    rarity = np.log1p((docs.rows - frequency + 0.5) / (frequency + 0.5))
    saturation = 1 + retriever.k1 * (1 - retriever.b + retriever.b * lengths / lengths.mean())
    weights = rarity[docs.indices] / np.repeat(saturation, lengths)
    matrix = docs.with_data(weights.astype(np.float32))
    lists = matrix.transpose()
    retriever.scores = {
        "data": lists.data,
        "indices": lists.indices,
        "indptr": lists.indptr,
        "num_docs": docs.rows,
    }
    retriever.nonoccurrence_array = None
    retriever.vocab_dict = {str(word): word for word in range(docs.columns)}
    retriever.unique_token_ids_set = set(retriever.vocab_dict.values())

    def find(query: Query) -> TopK:
        found = retriever.retrieve([query[0].tolist()], k=TOP, n_threads=1, show_progress=False)
        positive = found.scores[0] > 0
        return found.documents[0][positive], found.scores[0][positive]

    return find, matrix


def _best(found: NDArray[np.int32], scores: NDArray[np.float32]) -> TopK:
    if len(scores) > TOP:
        chosen = np.argpartition(-scores, TOP)[:TOP]
        found, scores = found[chosen], scores[chosen]
    order = np.argsort(-scores)
    return found[order], scores[order]


def _row(
    shape: str,
    peer: str,
    kind: str,
    queries: list[Query],
    ours: Callable[[Query], TopK],
    theirs: Callable[[Query], TopK],
    docs: Csr,
    our_queries: list[Query] | None = None,
) -> dict:
    our_queries = our_queries or queries
    same = sum(_same(ours(query), theirs(query)) for query in queries[:THEIR_QUERIES])  # compiles, too
    our_times, their_times = _times(ours, our_queries), _times(theirs, queries[:THEIR_QUERIES])
    our_median, their_median = np.median(our_times), np.median(their_times)
    lengths = np.bincount(docs.indices, minlength=docs.columns)
    postings = int(np.median([lengths[terms].sum() for terms, _ in queries]))
    p99 = float(np.percentile(our_times, 99))
    return {
        "name": "search",
        "shape": shape,
        "params": f"{kind}, {postings:,} postings (median), k={TOP}, best of {RUNS}, p99 {p99:.3f}",
        "threads": 1,
        "peer": peer,
        "ours": float(our_median),
        "theirs": float(their_median),
        "ratio": float(their_median / our_median),
        "unit": "ms (median)",
        "check": f"{'same' if same == len(queries[:THEIR_QUERIES]) else 'DIFFERENT'} top {TOP} up to ties: "
        f"{same} of {len(queries[:THEIR_QUERIES])} queries",
        "p99": p99,
        "their_p99": float(np.percentile(their_times, 99)),
    }


def _times(find: Callable[[Query], TopK], queries: Sequence[Query]) -> NDArray[np.float64]:
    """Milliseconds of each query, the best of some runs over all of them: other processes interrupt."""
    best = np.full(len(queries), np.inf)
    for _ in range(RUNS):
        for i, query in enumerate(queries):
            started = time.perf_counter()
            find(query)
            best[i] = min(best[i], 1000 * (time.perf_counter() - started))
    return best


def _same(ours: TopK, theirs: TopK) -> bool:
    """The same scores, and the same rows apart from those that tie with the last."""
    if len(ours[0]) != len(theirs[0]):
        return False
    if not len(ours[0]):
        return True
    tolerance = TOLERANCE * max(1.0, float(ours[1][0]))
    if np.abs(ours[1] - theirs[1]).max() > tolerance:
        return False
    certain = ours[1] > ours[1][-1] + tolerance
    return set(ours[0][certain]) <= set(theirs[0].tolist())


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--shape", default="S")
    for row in rows(parser.parse_args().shape, len(os.sched_getaffinity(0))):
        print(row)
