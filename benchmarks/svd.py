"""Leading singular triplets of queries' features × clicks × documents' features, as `pls` needs them.

Features are words (tf-idf) beside clicks. Peers are given the product, formed beforehand, which is faster for
them than the factors; we are given the factors. `check` has the sum of each side's singular values as a share
of ARPACK's, which converges to rounding. At dimension 1000 peers take too long: that row has our time beside
ten times that at 300, and the peak memory of the whole process.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Callable

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from scipy.sparse.linalg import svds
from sklearn.utils.extmath import randomized_svd

from benchmarks._peak_memory import peak
from benchmarks._shapes import SHAPES, ShapedGraph, WordRows, shaped_graph
from coclick.arrays.csr import Csr, beside
from coclick.arrays.reorder import transpose
from coclick.jit.threads import set_threads
from coclick.solvers.svd import truncated_svd
from coclick.text.analyzer import Tokens
from coclick.text.term_matrix import count_terms, inverse_frequency, tf_idf, unit_rows

WORDS = {"S": 100_000}  # other shapes have as many as the simulator gives them
FEW, MANY = 300, 1000
RUNS = 2
Values = NDArray[np.float64]


def rows(shape: str, threads: int) -> list[dict]:
    set_threads(threads)
    factors = bilinear_factors(shaped_graph(*SHAPES[shape], vocabulary=WORDS.get(shape)))
    whole = factors[0].to_scipy() @ factors[1].to_scipy() @ factors[2].to_scipy()
    product = scipy.sparse.csr_matrix(whole)
    truncated_svd(factors, 1)  # compiles
    ours, values = _best(lambda: truncated_svd(factors, FEW).values, RUNS)
    peers: dict[str, Callable[[], Values]] = {
        "ARPACK": lambda: svds(product, FEW, rng=np.random.default_rng(0))[1],
        "PROPACK": lambda: svds(product, FEW, solver="propack", rng=np.random.default_rng(0))[1],
        "scikit-learn randomized_svd": lambda: randomized_svd(product, FEW, random_state=0)[1],
    }
    found = []
    for peer, action in peers.items():
        theirs, their_values = _best(action, 1)
        if peer == "ARPACK":
            converged = float(their_values.sum(dtype=np.float64))
        shares = float(values.sum()) / converged, float(their_values.sum(dtype=np.float64)) / converged
        verdict = "same values" if shares[0] >= 0.999 else "DIFFERENT values"
        check = f"{verdict}: sums {shares[0]:.5f} and {shares[1]:.5f} of the converged one"
        found.append(_row(shape, f"d={FEW}", threads, peer, ours, theirs, "s", check))
    found += _many(shape, threads, ours)
    return found


def bilinear_factors(drawn: ShapedGraph) -> list[Csr]:
    """Features of queries (transposed), clicks, features of documents."""
    clicks = drawn.clicks.with_data(np.log1p(drawn.clicks.data))

    def features(texts: WordRows, clicked: Csr) -> Csr:
        counts = count_terms(Tokens(*texts), drawn.words)
        words = tf_idf(counts, inverse_frequency(counts), "log")
        return unit_rows(beside(words, unit_rows(clicked)))

    queries = features(drawn.query_words, clicks)
    return [transpose(queries), clicks, features(drawn.title_words, transpose(clicks))]


def _many(shape: str, threads: int, few: float) -> list[dict]:
    """Our time and peak memory at the larger dimension, in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.svd", "--shape", shape, "--alone", str(threads)]
    printed = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
    seconds, peak, size = (float(number) for number in printed.split())
    check = f"peak {peak:.2f} GB, {size:.0f} triplets"
    return [_row(shape, f"d={MANY}", threads, f"10 × ours at d={FEW}", seconds, 10 * few, "s", check)]


def _alone(shape: str, threads: int) -> None:
    set_threads(threads)
    factors = bilinear_factors(shaped_graph(*SHAPES[shape], vocabulary=WORDS.get(shape)))
    truncated_svd(factors, 1)
    seconds, values = _best(lambda: truncated_svd(factors, MANY).values, 1)
    print(seconds, peak(), len(values))


def _best(action: Callable[[], Values], runs: int) -> tuple[float, Values]:
    best = np.inf
    for _ in range(runs):
        started = time.perf_counter()
        values = action()
        best = min(best, time.perf_counter() - started)
    return best, values


def _row(
    shape: str, params: str, threads: int, peer: str, ours: float, theirs: float, unit: str, check: str
) -> dict:
    return {
        "name": "svd",
        "shape": shape,
        "params": params,
        "threads": threads,
        "peer": peer,
        "ours": ours,
        "theirs": theirs,
        "ratio": theirs / ours,
        "unit": unit,
        "check": check,
    }


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--shape", default="S")
    parser.add_argument("--alone", type=int, help="only the larger dimension, with so many threads")
    chosen = parser.parse_args()
    if chosen.alone:
        _alone(chosen.shape, chosen.alone)
    else:
        for row in rows(chosen.shape, len(os.sched_getaffinity(0))):
            print(row, flush=True)
