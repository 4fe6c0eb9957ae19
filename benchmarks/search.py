"""Exact top-10 search over propagated document vectors, one thread, one query at a time.

Peers, on the same postings lists:
- scipy: the query row times the transposed matrix, in the format that is fastest for it, then argpartition;
- bm25s (numba, one thread): documents whose tokens are the words of our vectors, so that a query has the same
  number of postings on both sides. It scores by BM25, hence two rows: our search over the vectors against its
  search for the same words, and our search over its matrix, whose results must be the same.
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

from benchmarks._row import make_row
from benchmarks._shapes import named_graph
from coclick.arrays.csr import Csr
from coclick.jit.threads import set_threads
from coclick.kernels.blocks import build_blocks
from coclick.kernels.search import Scratch, search
from coclick.models.propagation.iterations import Propagation
from coclick.progress import quiet
from coclick.text.analyzer import Tokens
from coclick.text.term_matrix import count_terms, unit_rows

K = 20  # words of a vector
N_RESULTS = 10
QUERIES = 2000
THEIR_QUERIES = 200
RUNS = 3
TOLERANCE = 1e-6

Query = tuple[NDArray[np.int32], NDArray[np.float32]]
TopK = tuple[NDArray[np.int32], NDArray[np.float32]]


def rows(shape: str, threads: int) -> list[dict]:
    set_threads(threads)  # for the preparation; searches use one thread
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
    by_words["check"] = "same postings lists; weights differ by design"
    same_matrix = _row(shape, "bm25s", "its BM25 matrix in both", counted, in_their_matrix, theirs, docs)
    return [*rows, by_words, same_matrix]


def _vectors(shape: str) -> tuple[list[Query], list[Query], Csr]:
    """Queries after one iteration of propagation, original queries of 1–4 words, and the documents."""
    drawn = named_graph(shape)
    start = unit_rows(count_terms(Tokens(*drawn.query_words), drawn.words))
    texts, docs, _ = next(Propagation(drawn.clicks, K).iterations(start, quiet))
    chosen = np.random.default_rng(1).permutation(texts.rows)
    few_words = chosen[start.row_nnz()[chosen] <= 4]
    long_queries = [texts.row(row) for row in chosen[:QUERIES]]
    short_queries = [start.row(row) for row in few_words[:QUERIES]]
    return long_queries, short_queries, docs


def _searcher(docs: Csr) -> Callable[[Query], TopK]:
    forward = docs.indptr, docs.indices, docs.data
    index = *build_blocks(*forward, docs.columns), *forward
    scratch = Scratch(docs.rows, docs.columns)
    return lambda query: search(*index, *query, N_RESULTS, scratch)


def _scipy_searcher(docs: Csr) -> Callable[[Query], TopK]:
    by_term = docs.to_scipy().T.tocsr()

    def find(query: Query) -> TopK:
        terms, weights = query
        row = scipy.sparse.csr_array((weights, terms, [0, len(terms)]), shape=(1, docs.columns))
        product = row @ by_term
        return _best(product.indices, product.data)

    return find


def _bm25s_searcher(docs: Csr) -> tuple[Callable[[Query], TopK], Csr]:
    """Its search and its score matrix, built here because its own Python loop takes minutes at shape M."""
    retriever = bm25s.BM25(backend="numba")
    lengths = docs.row_nnz()
    frequency = np.bincount(docs.indices, minlength=docs.columns)
    idf = np.log1p((docs.rows - frequency + 0.5) / (frequency + 0.5))
    saturation = 1 + retriever.k1 * (1 - retriever.b + retriever.b * lengths / lengths.mean())
    weights = idf[docs.indices] / np.repeat(saturation, lengths)
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
        found = retriever.retrieve([query[0].tolist()], k=N_RESULTS, n_threads=1, show_progress=False)
        positive = found.scores[0] > 0
        return found.documents[0][positive], found.scores[0][positive]

    return find, matrix


def _best(found: NDArray[np.int32], scores: NDArray[np.float32]) -> TopK:
    if len(scores) > N_RESULTS:
        chosen = np.argpartition(-scores, N_RESULTS)[:N_RESULTS]
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
    compared = queries[:THEIR_QUERIES]
    same = sum(_same(ours(query), theirs(query)) for query in compared)  # also compiles
    our_times, their_times = _times(ours, our_queries), _times(theirs, compared)
    our_median, their_median = np.median(our_times), np.median(their_times)
    lengths = np.bincount(docs.indices, minlength=docs.columns)
    postings = int(np.median([lengths[terms].sum() for terms, _ in queries]))
    p99 = float(np.percentile(our_times, 99))
    return make_row(
        name="search",
        shape=shape,
        params=f"{kind}, {postings:,} postings (median), k={N_RESULTS}, best of {RUNS}, p99 {p99:.3f}",
        threads=1,
        peer=peer,
        ours=float(our_median),
        theirs=float(their_median),
        unit="ms (median)",
        check=f"{'same' if same == len(compared) else 'DIFFERENT'} top {N_RESULTS} up to ties: "
        f"{same} of {len(compared)} queries",
        p99=p99,
        their_p99=float(np.percentile(their_times, 99)),
    )


def _times(find: Callable[[Query], TopK], queries: Sequence[Query]) -> NDArray[np.float64]:
    """Milliseconds of each query; the best of several runs, because other processes interrupt."""
    best = np.full(len(queries), np.inf)
    for _ in range(RUNS):
        for i, query in enumerate(queries):
            started = time.perf_counter()
            find(query)
            best[i] = min(best[i], 1000 * (time.perf_counter() - started))
    return best


def _same(ours: TopK, theirs: TopK) -> bool:
    """Whether scores and rows agree, except for rows that tie with the last."""
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
