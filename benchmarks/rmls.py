"""`rmls` at 1000 dimensions: half-rounds beside scipy, a training beside `pls`, ranking quality, memory.

A half-round is Qᵀ(W D)L for a map L of given density; ours also thresholds and scales the rows. scipy is
given the same factors and as many threads, each of which multiplies its share of the rows. Memory is measured
at other shapes than S, with 100 dimensions; with S the row of M is among the others.
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
from itertools import islice, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse

from benchmarks._freed import keep_freed_memory
from benchmarks._graphs import saved_graph
from benchmarks._peak import peak_of
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
from coclick.solvers.rmls import Maps, Penalty
from coclick.solvers.svd import truncated_svd

DIM = 1000
ENTRIES = (1, 4, 10, 20, 50)  # of a row of the map
ROUNDS = 10
BOUND = {"M": 2.0, "L": 12.0}  # GB
RUNS = 3


def rows(shape: str, threads: int) -> list[dict]:
    set_threads(threads)
    if shape in BOUND:
        return [_memory(shape, threads)]
    keep_freed_memory()
    graph = ClickGraph.open(saved_graph(shape))
    model = RMLS()
    queries, docs = model.featurise(graph, model.views, quiet)
    edges = model.edge_weights(graph)
    joined = thresholded_product(edges, docs, np.zeros(edges.rows, np.float32)).rows
    found = []
    for count in sorted({1, threads}):
        found += _half_rounds(shape, count, transpose(queries), joined)
    found.append(_training(shape, threads, queries, edges, docs, transpose(PLS().edge_weights(graph))))
    return [*found, *_quality(threads), _memory("M", threads)]


def _half_rounds(shape: str, threads: int, queries: Csr, joined: Csr) -> list[dict]:
    set_threads(threads)
    factors = _matrix(queries), _matrix(joined)
    unknown, nothing = np.full(queries.rows, -1, np.float32), np.zeros(queries.rows, np.float32)
    found = []
    for entries in ENTRIES:
        learned = _random_map(joined.columns, entries)
        theirs = _matrix(learned)

        def half_round(learned: Csr = learned) -> Csr:
            return thresholded_product(queries, times(joined, learned), unknown, RMLS.b, RMLS.theta).rows

        def by_scipy(theirs: Any = theirs) -> Any:
            return _rows_apart(factors[0], _rows_apart(factors[1], theirs, threads), threads)

        check = _same(thresholded_product(queries, times(joined, learned), nothing).rows, by_scipy())
        half_round()  # compiles
        ours, seconds = _best_in_turn(half_round, by_scipy)
        params = f"half-round, d={DIM}, density {entries / DIM:.1%}, best of {RUNS}"
        found.append(_row(shape, params, threads, "scipy csr@csr", ours, seconds, "s", check))
    return found


def _training(shape: str, threads: int, queries: Csr, edges: Csr, docs: Csr, theirs: Csr) -> dict:
    """All rounds, where early stopping would end after few, beside the singular vectors of the same data."""
    set_threads(threads)
    started = time.perf_counter()
    steps = Maps(queries, edges, docs, Penalty(RMLS.b)).half_rounds(DIM, seed=0)
    objectives = [step.objective for step in islice(steps, 2 * ROUNDS)]
    del steps
    ours = time.perf_counter() - started
    known = [value for value in objectives if value is not None]
    falls = all(later <= before * (1 - 1e-6) for before, later in pairwise(known))
    started = time.perf_counter()
    found = truncated_svd((transpose(docs), theirs, queries), DIM)
    seconds = time.perf_counter() - started
    check = f"objective {'never rises' if falls else 'RISES'}, {len(found.values)} singular values"
    return _row(shape, f"{ROUNDS} rounds, d={DIM}", threads, "pls", ours, seconds, "s", check)


def _quality(threads: int) -> list[dict]:
    """Beside `pls` with its own weights of pairs, and with those of `rmls`."""
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
            found.append(_row("-", f"d={DIM}", threads, peer, ours, theirs, "nDCG@10", check, ours / theirs))
    return found


def _memory(shape: str, threads: int) -> dict:
    with tempfile.TemporaryDirectory() as directory:
        command = [sys.executable, "-m", "coclick", "train", "rmls(dim=100)", str(saved_graph(shape))]
        command += ["-o", str(Path(directory) / "model"), "--threads", str(threads)]
        peak, code = peak_of(command)
    check = f"exit code {code}"
    return _row(shape, "coclick train, d=100", threads, "the bound", peak, BOUND[shape], "GB peak", check)


def _random_map(rows: int, entries: int) -> Csr:
    """Rows of as many entries of random places and signs."""
    random = np.random.default_rng(0)
    places = np.sort(random.integers(0, DIM - entries + 1, (rows, entries), np.int32), axis=1)
    places += np.arange(entries, dtype=np.int32)
    values = random.choice(np.array([-1, 1], np.float32), rows * entries) / np.float32(np.sqrt(entries))
    return Csr(np.arange(rows + 1, dtype=np.int64) * entries, places.ravel(), values, DIM)


def _rows_apart(left: Any, right: Any, threads: int) -> Any:
    """`left @ right`, a block of rows for each thread."""
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


def _best_in_turn(ours: Callable[[], Any], theirs: Callable[[], Any]) -> tuple[float, float]:
    """The least seconds of each; in turn, so that what else the machine does slows both."""
    seconds: tuple[list[float], list[float]] = [], []
    for _ in range(RUNS):
        for action, taken in zip((ours, theirs), seconds, strict=True):
            started = time.perf_counter()
            action()
            taken.append(time.perf_counter() - started)
    return min(seconds[0]), min(seconds[1])


def _row(
    shape: str, params: str, threads: int, peer: str, ours: float, theirs: float, unit: str, check: str,
    ratio: float | None = None,
) -> dict:  # fmt: skip
    return {
        "name": "rmls",
        "shape": shape,
        "params": params,
        "threads": threads,
        "peer": peer,
        "ours": ours,
        "theirs": theirs,
        "ratio": theirs / ours if ratio is None else ratio,
        "unit": unit,
        "check": check,
    }


if __name__ == "__main__":
    from benchmarks.__main__ import show

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shape", default="S")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    chosen = parser.parse_args()
    show(rows(chosen.shape, chosen.threads))
