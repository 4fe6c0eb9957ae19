"""One EM iteration for 100 topics, compared with tomotopy's Gibbs sampling and scikit-learn's LDA.

All three visit every word of every text once and compute one number per topic: updates are entries (distinct
words per text) × topics for us and scikit-learn, and tokens × topics for tomotopy, which visits repeated
words again. We and tomotopy train on all pairs, scikit-learn on a few thousand.

Two rows compare with our own limits: posterior regularisation may take four times as long as plain EM, and
training on 5 M pairs has a memory limit.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import scipy.sparse
import tomotopy
from sklearn.decomposition import LatentDirichletAllocation

from benchmarks._peak_memory import peak_of
from benchmarks._row import make_row
from benchmarks._shapes import WordRows, named_graph
from coclick.arrays.csr import Csr
from coclick.jit.threads import set_threads
from coclick.solvers.em import Corpus, fit_topics
from coclick.text.analyzer import Tokens
from coclick.text.term_matrix import count_terms

TOPICS = 100
ROUNDS = 6
REGULARISED_ROUNDS = 16  # as in Gao et al. 2011: projections take longer as topics become sharper
SWEEPS = 3
SKLEARN_PAIRS = 4_000
MAX_SLOWDOWN, MAX_MEMORY = 4.0, 3.0  # times plain EM; GB


def rows(shape: str, threads: int) -> list[dict]:
    corpus = random_corpus(shape)
    found = []
    for count in sorted({1, threads}):
        set_threads(count)
        seconds, curve = round_times(corpus, ROUNDS)
        ours = entries(corpus) * TOPICS / min(seconds) / count / 1e6
        trend = "increases" if np.all(np.diff([step["objective"] for step in curve]) > 0) else "DECREASES"
        found.append(
            _row(shape, "one iteration", count, "tomotopy", ours, gibbs(corpus, count), f"objective {trend}")
        )
        if count == 1:
            check = f"{SKLEARN_PAIRS:,} pairs"
            found.append(
                _row(shape, "one iteration", count, "scikit-learn", ours, variational(corpus), check)
            )
    return [*found, regularised(corpus, shape, threads), memory(threads)]


def _row(shape: str, params: str, threads: int, peer: str, ours: float, theirs: float, check: str) -> dict:
    what, unit = f"{params}, {TOPICS} topics", "M updates/s per core"
    return make_row("em", shape, what, threads, peer, ours, theirs, unit, check, higher_is_better=True)


def random_corpus(shape: str) -> Corpus:
    """Return every clicked pair of a generated graph, with separate words for queries and titles."""
    drawn = named_graph(shape)
    query_of = np.repeat(np.arange(drawn.clicks.rows, dtype=np.int32), drawn.clicks.row_nnz())
    queries, titles = (_counts(words, drawn.words) for words in (drawn.query_words, drawn.title_words))
    return Corpus(queries, titles, query_of, drawn.clicks.indices, np.ones(len(query_of), np.float32))


def _counts(texts: WordRows, words: int) -> Csr:
    return count_terms(Tokens(*texts), words)


def entries(corpus: Corpus) -> int:
    """Count the distinct words per text, summed over all pairs."""
    assert corpus.queries is not None
    sides = (corpus.queries, corpus.query_of), (corpus.titles, corpus.title_of)
    return int(sum(texts.row_nnz()[rows].sum() for texts, rows in sides))


def round_times(corpus: Corpus, rounds: int, regularise: bool = False) -> tuple[list[float], list[dict]]:
    """Return the seconds of each iteration and the learning curve."""
    assert corpus.queries is not None
    fit_topics(corpus.take(np.arange(100)), TOPICS, iterations=2, regularise=regularise)  # compiles
    times: list[float] = []

    @contextmanager
    def clock(what: str, total: int | None = None) -> Iterator[Callable[[int], None]]:
        yield lambda rounds: times.append(time.perf_counter())

    _, curve = fit_topics(
        corpus, TOPICS, iterations=rounds, regularise=regularise, tolerance=0, progress=clock
    )
    return np.diff(times).tolist(), curve


def gibbs(corpus: Corpus, workers: int) -> float:
    """Return tomotopy's updates in millions per second and core."""
    model = tomotopy.LDAModel(k=TOPICS, alpha=0.1, eta=0.01, seed=1)
    for query, title in zip(corpus.query_of.tolist(), corpus.title_of.tolist(), strict=True):
        model.add_doc([*_words("q", corpus.queries, query), *_words("t", corpus.titles, title)])
    model.train(1, workers=workers)
    best = np.inf
    for _ in range(SWEEPS):
        started = time.perf_counter()
        model.train(1, workers=workers)
        best = min(best, time.perf_counter() - started)
    return model.num_words * TOPICS / best / workers / 1e6


def _words(language: str, texts: Csr | None, row: int) -> list[str]:
    assert texts is not None
    words, counts = texts.row(row)
    return [f"{language}{word}" for word in np.repeat(words, counts.astype(int)).tolist()]


def variational(corpus: Corpus) -> float:
    """Return scikit-learn's updates in millions per second."""
    few = corpus.take(np.arange(SKLEARN_PAIRS))
    assert few.queries is not None
    sides = [few.queries.take(few.query_of), few.titles.take(few.title_of)]
    texts = scipy.sparse.hstack([side.to_scipy() for side in sides], format="csr")
    texts = texts[:, np.flatnonzero(texts.sum(axis=0))]
    model = LatentDirichletAllocation(TOPICS, learning_method="batch", max_iter=1, random_state=0)
    started = time.perf_counter()
    model.fit(texts)
    return texts.nnz * TOPICS / (time.perf_counter() - started) / 1e6


def regularised(corpus: Corpus, shape: str, threads: int) -> dict:
    """Compare the time of regularised iterations with the limit, four times that of plain EM."""
    plain, _ = round_times(corpus, REGULARISED_ROUNDS)
    ours, curve = round_times(corpus, REGULARISED_ROUNDS, regularise=True)
    worst = max(step["disagreement"] for step in curve)
    check = f"{sum(ours) / sum(plain):.2f} times plain EM, topic shares differ by {worst:.0e} at most"
    row = _row(shape, "regularised, mean iteration", threads, "limit", float(np.mean(ours)), 1.0, check)
    bound = MAX_SLOWDOWN * float(np.mean(plain))
    return row | {"theirs": bound, "ratio": bound / row["ours"], "unit": "s"}


def memory(threads: int) -> dict:
    """Measure the peak memory of a process that trains on a corpus of 5 M pairs."""
    corpus = random_corpus("M")
    assert corpus.queries is not None
    with tempfile.TemporaryDirectory() as directory:
        for name, texts in ("queries", corpus.queries), ("titles", corpus.titles):
            for part in ("indptr", "indices", "data"):
                np.save(Path(directory) / f"{name}.{part}.npy", getattr(texts, part))
            np.save(Path(directory) / f"{name}.columns.npy", texts.columns)
        for name in ("query_of", "title_of", "weights"):
            np.save(Path(directory) / f"{name}.npy", getattr(corpus, name))
        words = corpus.queries.columns + corpus.titles.columns
        command = [sys.executable, "-m", "benchmarks.em", "--fit", directory, "--threads", str(threads)]
        peak, code = peak_of(command)
    check = f"exit code {code}, {len(corpus.weights):,} pairs, {words:,} words"
    row = _row("M", "memory", threads, "limit", peak, MAX_MEMORY, check)
    return row | {"ratio": MAX_MEMORY / peak, "unit": "GB peak"}


def fit_saved(directory: Path) -> None:
    """Run two iterations on a saved corpus; `memory` measures this."""

    def load(name: str) -> np.ndarray:
        return np.load(directory / f"{name}.npy")

    def texts(name: str) -> Csr:
        indptr, indices, data = (load(f"{name}.{part}") for part in ("indptr", "indices", "data"))
        return Csr(indptr, indices, data, int(load(f"{name}.columns")))

    pairs = load("query_of"), load("title_of"), load("weights")
    fit_topics(Corpus(texts("queries"), texts("titles"), *pairs), TOPICS, iterations=2)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--shape", default="S")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--fit", type=Path, help="train on this saved corpus only")
    args = parser.parse_args()
    if args.fit:
        set_threads(args.threads)
        fit_saved(args.fit)
    else:
        print(*rows(args.shape, args.threads), sep="\n")
