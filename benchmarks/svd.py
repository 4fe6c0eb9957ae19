"""Leading singular triplets of query features × clicks × document features, as needed by `pls`.

Features are words (TF-IDF) and clicks. The peers get the precomputed product, which is faster for them than
the factors; ours gets the factors. `check` shows the sum of each side's singular values relative to ARPACK's,
which are exact up to rounding. At dimension 1000 the peers take too long: that row compares our time with ten
times that at 300, and shows the peak memory of the process.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from scipy.sparse.linalg import svds
from sklearn.utils.extmath import randomized_svd

from benchmarks._peak_memory import peak
from benchmarks._row import make_row
from benchmarks._shapes import SHAPES, ShapedGraph, WordRows, shaped_graph
from coclick.arrays.csr import Csr, hstack
from coclick.arrays.reorder import transpose
from coclick.jit.threads import set_threads
from coclick.solvers.svd import truncated_svd
from coclick.text.analyzer import Tokens
from coclick.text.term_matrix import count_terms, inverse_frequency, tf_idf, unit_rows

WORDS = {"S": 100_000}  # other shapes use the default of the generator
SMALL_DIM, LARGE_DIM = 300, 1000
RUNS = 2
Values = NDArray[np.float64]
_row = partial(make_row, "svd")


def rows(shape: str, threads: int) -> list[dict]:
    set_threads(threads)
    factors = bilinear_factors(shaped_graph(*SHAPES[shape], vocabulary=WORDS.get(shape)))
    whole = factors[0].to_scipy() @ factors[1].to_scipy() @ factors[2].to_scipy()
    product = scipy.sparse.csr_matrix(whole)
    truncated_svd(factors, 1)  # compiles
    ours, values = _best(lambda: truncated_svd(factors, SMALL_DIM).values, RUNS)
    peers: dict[str, Callable[[], Values]] = {
        "ARPACK": lambda: svds(product, SMALL_DIM, rng=np.random.default_rng(0))[1],
        "PROPACK": lambda: svds(product, SMALL_DIM, solver="propack", rng=np.random.default_rng(0))[1],
        "scikit-learn randomized_svd": lambda: randomized_svd(product, SMALL_DIM, random_state=0)[1],
    }
    found = []
    for peer, action in peers.items():
        theirs, their_values = _best(action, 1)
        if peer == "ARPACK":
            converged = float(their_values.sum(dtype=np.float64))
        shares = float(values.sum()) / converged, float(their_values.sum(dtype=np.float64)) / converged
        verdict = "same values" if shares[0] >= 0.999 else "DIFFERENT values"
        check = f"{verdict}: sums {shares[0]:.5f} and {shares[1]:.5f} of ARPACK's"
        found.append(_row(shape, f"d={SMALL_DIM}", threads, peer, ours, theirs, "s", check))
    found += _large(shape, threads, ours)
    return found


def bilinear_factors(drawn: ShapedGraph) -> list[Csr]:
    """Return the transposed query features, the clicks and the document features."""
    clicks = drawn.clicks.with_data(np.log1p(drawn.clicks.data))

    def features(texts: WordRows, clicked: Csr) -> Csr:
        counts = count_terms(Tokens(*texts), drawn.words)
        words = tf_idf(counts, inverse_frequency(counts), "log")
        return unit_rows(hstack(words, unit_rows(clicked)))

    queries = features(drawn.query_words, clicks)
    return [transpose(queries), clicks, features(drawn.title_words, transpose(clicks))]


def _large(shape: str, threads: int, small_seconds: float) -> list[dict]:
    """Our time and peak memory at the larger dimension, in a separate process."""
    command = [sys.executable, "-m", "benchmarks.svd", "--shape", shape, "--alone", str(threads)]
    printed = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
    seconds, peak, size = (float(number) for number in printed.split())
    check = f"peak {peak:.2f} GB, {size:.0f} triplets"
    return [
        _row(
            shape,
            f"d={LARGE_DIM}",
            threads,
            f"10 × ours at d={SMALL_DIM}",
            seconds,
            10 * small_seconds,
            "s",
            check,
        )
    ]


def _alone(shape: str, threads: int) -> None:
    set_threads(threads)
    factors = bilinear_factors(shaped_graph(*SHAPES[shape], vocabulary=WORDS.get(shape)))
    truncated_svd(factors, 1)
    seconds, values = _best(lambda: truncated_svd(factors, LARGE_DIM).values, 1)
    print(seconds, peak(), len(values))


def _best(action: Callable[[], Values], runs: int) -> tuple[float, Values]:
    best = np.inf
    for _ in range(runs):
        started = time.perf_counter()
        values = action()
        best = min(best, time.perf_counter() - started)
    return best, values


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--shape", default="S")
    parser.add_argument(
        "--alone", type=int, help="run only the larger dimension, with this number of threads"
    )
    args = parser.parse_args()
    if args.alone:
        _alone(args.shape, args.alone)
    else:
        for row in rows(args.shape, len(os.sched_getaffinity(0))):
            print(row, flush=True)
