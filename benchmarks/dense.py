"""Top-10 search over many dense vectors: exact search and the approximate index.

The vectors resemble projected texts: mixtures of a few of 2,000 topics, with decreasing variance per
dimension and different lengths. The recall of an approximate index depends on the vectors; training a model
measures it on the model's own vectors.

Peers of the exact search, on the same vectors and threads:
- numpy: the full product, argpartition, and a sort of the ten;
- usearch: its exact search of an array.
Both return the scores of the matrix product. Ours rescores the results, so that a score does not depend on
the other vectors in the batch.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from usearch.index import MetricKind
from usearch.index import search as usearch_search

from benchmarks._row import make_row
from coclick.index.ann import ApproximateIndex
from coclick.index.dense import DenseIndex
from coclick.jit.threads import set_threads

ROWS = {"S": 200_000, "M": 1_000_000, "L": 4_000_000}
DIM = 300
TOPICS = 2000
QUERIES = 256  # their products with all rows of S take 200 MB
K = 10
RUNS = 3
TOLERANCE = 1e-4  # relative, for sums of 300 float32 products in another order

Floats = NDArray[np.float32]
TopK = tuple[NDArray[np.integer], Floats]


def rows(shape: str, threads: int) -> list[dict]:
    set_threads(threads)
    random = np.random.default_rng(0)
    topics = (random.normal(size=(TOPICS, DIM)) / np.sqrt(1 + np.arange(DIM))).astype(np.float32)
    vectors, queries = _random_vectors(ROWS[shape], topics, random), _random_vectors(QUERIES, topics, random)
    exact = DenseIndex.build(vectors)

    def ours() -> TopK:
        return exact.search(queries, K)

    def one_by_one() -> TopK:
        return _concatenate([exact.search(queries[i : i + 1], K) for i in range(QUERIES)])

    def by_numpy() -> TopK:
        return _best(queries @ vectors.T)

    def by_usearch() -> TopK:
        found = usearch_search(vectors, queries, K, MetricKind.IP, exact=True, threads=threads)
        return found.keys, 1 - found.distances  # usearch returns 1 − dot product

    peers = {"numpy": by_numpy, "usearch exact": by_usearch}
    found = [
        _row(shape, threads, peer, f"batch of {QUERIES}", ours, theirs) for peer, theirs in peers.items()
    ]
    started = time.perf_counter()
    index, stats = ApproximateIndex.build(exact, _random_vectors(QUERIES, topics, random))
    seconds = time.perf_counter() - started

    def approximate() -> TopK:
        return index.search(queries, K, exact)

    def approximate_one_by_one() -> TopK:
        return _concatenate([index.search(queries[i : i + 1], K, exact) for i in range(QUERIES)])

    built = f"expansion {stats['expansion']}, built in {seconds:.0f} s"
    for batch, search, exact_search in (
        (f"batch of {QUERIES}", approximate, ours),
        ("one query at a time", approximate_one_by_one, one_by_one),
    ):
        found.append(
            _row(shape, threads, "our exact", f"approximate, {batch}, {built}", search, exact_search)
        )
    return found


def _random_vectors(count: int, topics: Floats, random: np.random.Generator) -> Floats:
    chosen = random.integers(0, len(topics), (count, 2))
    vectors = topics[chosen[:, 0]] + topics[chosen[:, 1]] * np.float32(0.5)
    for start in range(0, count, 100_000):
        block = vectors[start : start + 100_000]
        block += 0.3 * random.standard_normal(block.shape, np.float32) / np.sqrt(1 + np.arange(DIM))
        block *= random.uniform(0.3, 1, (len(block), 1))
    return vectors


def _best(scores: Floats) -> TopK:
    found = np.argpartition(scores, -K, axis=1)[:, -K:]
    values = np.take_along_axis(scores, found, 1)
    order = np.argsort(-values, axis=1)
    return np.take_along_axis(found, order, 1), np.take_along_axis(values, order, 1)


def _concatenate(found: list[TopK]) -> TopK:
    return np.concatenate([rows for rows, _ in found]), np.concatenate([scores for _, scores in found])


def _row(
    shape: str, threads: int, peer: str, params: str, ours: Callable[[], TopK], theirs: Callable[[], TopK]
) -> dict:
    (found, scores), (wanted, best) = ours(), theirs()  # compiles and warms the caches
    recall = np.mean([np.isin(a, b).mean() for a, b in zip(wanted, found, strict=True)])
    if peer == "our exact":
        check = f"recall@{K} {recall:.3f}"
    else:
        same = np.allclose(scores, best, rtol=TOLERANCE, atol=TOLERANCE)
        check = f"same scores, {recall:.4f} of the rows" if same else "SCORES DIFFER"
    fastest = {ours: np.inf, theirs: np.inf}
    for _ in range(RUNS):
        for action in fastest:
            started = time.perf_counter()
            action()
            fastest[action] = min(fastest[action], time.perf_counter() - started)
    return make_row(
        name="dense",
        shape=f"{ROWS[shape]:,} × {DIM}",
        params=f"k={K}, {params}, best of {RUNS}",
        threads=threads,
        peer=peer,
        ours=1000 * fastest[ours] / QUERIES,
        theirs=1000 * fastest[theirs] / QUERIES,
        unit="ms per query",
        check=check,
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shape", default="S", choices=list(ROWS))
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    args = parser.parse_args()
    for row in rows(args.shape, args.threads):
        print(row)
