"""`rmls` at 1000 dimensions: half-iterations against scipy, training against `pls`, ranking quality, memory.

A half-iteration is Qᵀ(W D)L for a map L of given density; ours also thresholds and scales the rows. scipy has
the same factors and threads, each of which multiplies a share of the rows. Shapes M and L measure memory
only, with 100 dimensions; shape S includes the row of M.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import islice, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from benchmarks._allocator import keep_freed_memory
from benchmarks._peak_memory import peak_of
from benchmarks._row import make_row
from benchmarks._saved_graphs import saved_graph
from coclick import train
from coclick.arrays.csr import Csr
from coclick.arrays.reorder import transpose
from coclick.evaluation.judgments import read_judgments
from coclick.evaluation.protocol import Protocol, evaluate_model
from coclick.graph.click_graph import ClickGraph
from coclick.jit.threads import balanced_blocks, set_threads
from coclick.kernels.sparse_products import times
from coclick.kernels.thresholded import thresholded_product
from coclick.models.projection.pls import PLS
from coclick.models.projection.rmls import RMLS
from coclick.progress import quiet
from coclick.solvers.rmls import Penalty, RmlsSolver
from coclick.solvers.svd import truncated_svd

DIM = 1000
ENTRIES = (1, 4, 10, 20, 50)  # per row of the map
ITERATIONS = 10
MEMORY_LIMIT = {"M": 2.0, "L": 12.0}  # GB
RUNS = 3
_row = partial(make_row, "rmls")


def rows(shape: str, threads: int) -> list[dict]:
    set_threads(threads)
    if shape in MEMORY_LIMIT:
        return [_memory(shape, threads)]
    keep_freed_memory()
    graph = ClickGraph.open(saved_graph(shape))
    model = RMLS()
    queries, docs = model._build_features(graph, model.views, quiet)
    edges = model._edge_weights(graph)
    joined = thresholded_product(edges, docs, np.zeros(edges.rows, np.float32)).rows
    found = []
    for count in sorted({1, threads}):
        found += _half_iterations(shape, count, transpose(queries), joined)
    found.append(_training(shape, threads, queries, edges, docs, transpose(PLS()._edge_weights(graph))))
    return [*found, *_quality(threads), _memory("M", threads)]


def _half_iterations(shape: str, threads: int, queries: Csr, joined: Csr) -> list[dict]:
    set_threads(threads)
    factors = _matrix(queries), _matrix(joined)
    unknown, nothing = np.full(queries.rows, -1, np.float32), np.zeros(queries.rows, np.float32)
    found = []
    for entries in ENTRIES:
        learned = _random_map(joined.columns, entries)
        theirs = _matrix(learned)

        def half_iteration(learned: Csr = learned) -> Csr:
            return thresholded_product(
                queries, times(joined, learned), unknown, RMLS.relative_threshold, RMLS.query_length
            ).rows

        def by_scipy(theirs: Any = theirs) -> Any:
            return _multiply_blocks(factors[0], _multiply_blocks(factors[1], theirs, threads), threads)

        check = _same(thresholded_product(queries, times(joined, learned), nothing).rows, by_scipy())
        half_iteration()  # compiles
        ours, seconds = _best_alternating(half_iteration, by_scipy)
        params = f"half-iteration, d={DIM}, density {entries / DIM:.1%}, best of {RUNS}"
        found.append(_row(shape, params, threads, "scipy csr@csr", ours, seconds, "s", check))
    return found


def _training(shape: str, threads: int, queries: Csr, edges: Csr, docs: Csr, theirs: Csr) -> dict:
    """All iterations without early stopping, compared with the singular vectors of the same data."""
    set_threads(threads)
    started = time.perf_counter()
    penalty = Penalty(RMLS.relative_threshold)
    steps = RmlsSolver(queries, edges, docs, (penalty, penalty)).half_iterations(DIM, seed=0)
    objectives = [step.objective for step in islice(steps, 2 * ITERATIONS)]
    del steps
    ours = time.perf_counter() - started
    known = [value for value in objectives if value is not None]
    falls = all(later <= before * (1 - 1e-6) for before, later in pairwise(known))
    started = time.perf_counter()
    found = truncated_svd((transpose(docs), theirs, queries), DIM)
    seconds = time.perf_counter() - started
    check = f"objective {'never increases' if falls else 'INCREASES'}, {len(found.values)} singular values"
    return _row(shape, f"{ITERATIONS} iterations, d={DIM}", threads, "pls", ours, seconds, "s", check)


def _quality(threads: int) -> list[dict]:
    """nDCG compared with `pls`, with its own pair weights and with those of `rmls`."""
    found = []
    with tempfile.TemporaryDirectory() as directory:
        log, graph = Path(directory) / "log", Path(directory) / "graph"
        command = [sys.executable, "-m", "coclick"]
        size = ["--queries", "6000", "--docs", "5000", "--seed", "0"]
        subprocess.run([*command, "sample", str(log), *size], check=True, stdout=subprocess.DEVNULL)
        build = ["build", str(log / "events.parquet"), "--docs", str(log / "docs.tsv"), "-o", str(graph)]
        subprocess.run([*command, *build], check=True, stdout=subprocess.DEVNULL)
        judgments = read_judgments(log / "queries.tsv", log / "qrels.tsv")
        clicks = ClickGraph.open(graph)

        def ndcg(spec: str) -> float:
            return float(evaluate_model(train(spec, clicks), judgments, Protocol()).values().mean())

        ours = ndcg(f"rmls(dim={DIM})")
        check = f"{len(judgments.queries)} queries of `coclick sample {' '.join(size)}`"
        for peer in (f"pls(dim={DIM})", f"pls(dim={DIM},weight=degree)"):
            theirs = ndcg(peer)
            found.append(
                _row("-", f"d={DIM}", threads, peer, ours, theirs, "nDCG@10", check, higher_is_better=True)
            )
    return found


def _memory(shape: str, threads: int) -> dict:
    with tempfile.TemporaryDirectory() as directory:
        command = [sys.executable, "-m", "coclick", "train", "rmls(dim=100)", str(saved_graph(shape))]
        command += ["-o", str(Path(directory) / "model"), "--threads", str(threads)]
        peak, code = peak_of(command)
    check = f"exit code {code}"
    return _row(shape, "coclick train, d=100", threads, "limit", peak, MEMORY_LIMIT[shape], "GB peak", check)


def _random_map(rows: int, entries: int) -> Csr:
    """A map with a given number of entries per row, of random columns and signs."""
    random = np.random.default_rng(0)
    places = np.sort(random.integers(0, DIM - entries + 1, (rows, entries), np.int32), axis=1)
    places += np.arange(entries, dtype=np.int32)
    values: NDArray[np.float32] = random.choice(np.array([-1, 1], np.float32), rows * entries)
    values /= np.float32(np.sqrt(entries))
    return Csr(np.arange(rows + 1, dtype=np.int64) * entries, places.ravel(), values, DIM)


def _multiply_blocks(left: Any, right: Any, threads: int) -> Any:
    """`left @ right` with one block of rows per thread."""
    if threads == 1:
        return left @ right
    blocks = balanced_blocks(left.indptr.astype(np.int64), threads)
    with ThreadPoolExecutor(threads) as pool:
        parts = list(pool.map(lambda block: left[block[0] : block[1]] @ right, blocks))
    return scipy.sparse.vstack(parts, "csr")


def _matrix(rows: Csr) -> scipy.sparse.csr_matrix:
    return scipy.sparse.csr_matrix(rows.to_scipy())


def _same(ours: Csr, theirs: Any) -> str:
    difference = abs(ours.to_scipy() - theirs)
    worst = float(difference.data.max(initial=0))
    return f"{'same values' if worst < 1e-3 else 'DIFFERENT'}, max difference {worst:.0e}"


def _best_alternating(ours: Callable[[], Any], theirs: Callable[[], Any]) -> tuple[float, float]:
    """The best time of each, run alternately so that other load affects both."""
    seconds: tuple[list[float], list[float]] = [], []
    for _ in range(RUNS):
        for action, taken in zip((ours, theirs), seconds, strict=True):
            started = time.perf_counter()
            action()
            taken.append(time.perf_counter() - started)
    return min(seconds[0]), min(seconds[1])


if __name__ == "__main__":
    from benchmarks.__main__ import show

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shape", default="S")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    args = parser.parse_args()
    show(rows(args.shape, args.threads))
