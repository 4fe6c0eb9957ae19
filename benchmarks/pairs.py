"""Training speed of pairwise models, compared with implicit's ALS and BPR on the same clicked pairs.

Our examples compare a clicked document with another one by their words (`svdfeature`: any pair). Examples of
implicit are a clicked pair (ALS) or a clicked and another item (BPR), by ids without words. Rates count the
iterations only; `check` has the time of the whole training with features and embeddings. opca has no
iterations and no peer here: its row shows the total time.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

import scipy.sparse
from implicit.als import AlternatingLeastSquares
from implicit.bpr import BayesianPersonalizedRanking
from threadpoolctl import threadpool_limits

from benchmarks._row import make_row
from benchmarks._saved_graphs import saved_graph
from coclick.graph.click_graph import ClickGraph
from coclick.jit.threads import set_threads
from coclick.models.base import Model
from coclick.models.training import train
from coclick.progress import quiet

DIM = 100
NEGATIVES = 4
ITERATIONS = 5  # of implicit
MODELS = {
    f"s2net(dim={DIM})": NEGATIVES,
    f"s2net(dim={DIM},optimiser=adagrad,iterations=5)": NEGATIVES,
    f"ssi(dim={DIM})": NEGATIVES,
    f"svdfeature(dim={DIM},views=words)": 1 + NEGATIVES,
    f"svdfeature(dim={DIM})": 1 + NEGATIVES,
}  # spec → examples per pair
_row = partial(make_row, "pairs", higher_is_better=True)


def rows(shape: str, threads: int) -> list[dict]:
    set_threads(threads)
    graph = ClickGraph.open(saved_graph(shape))
    peers = _peers(graph, threads)
    found = []
    for spec, examples in MODELS.items():
        model, whole, in_iterations = _train(spec, graph)
        curve, pairs = model.stats_["curve"], model.stats_["pairs"]
        rate = len(curve) * pairs * examples / in_iterations
        check = (
            f"{len(curve)} iterations, loss {curve[0]['loss']:.3f} → {curve[-1]['loss']:.3f}, "
            f"iteration {model.stats_['chosen_round']} chosen, whole training {whole:.0f} s"
        )
        found += [
            _row(shape, spec, threads, f"implicit {peer}", rate, theirs, "examples/s", check)
            for peer, theirs in peers.items()
        ]
    model, whole, _ = _train(f"opca(dim={DIM})", graph)
    check = f"sum of μ {sum(model.stats_['eigenvalues']):.2f}"
    found.append(_row(shape, str(model), threads, "none", whole, float("nan"), "s", check))
    return found


def _train(spec: str, graph: ClickGraph) -> tuple[Model, float, float]:
    """The model, the seconds of its training, and those of its iterations."""
    in_iterations = 0.0

    @contextmanager
    def stopwatch(what: str, total: int | None = None) -> Iterator[Callable[[int], None]]:
        nonlocal in_iterations
        started = time.perf_counter()
        with quiet(what, total) as done:
            yield done
        if what == "rounds":
            in_iterations += time.perf_counter() - started

    started = time.perf_counter()
    model = train(spec, graph, stopwatch)
    return model, time.perf_counter() - started, in_iterations


def _peers(graph: ClickGraph, threads: int) -> dict[str, float]:
    """Clicked pairs per second over several epochs."""
    clicks = scipy.sparse.csr_matrix(graph.clicks.to_scipy())
    kinds = {"ALS": AlternatingLeastSquares, "BPR": BayesianPersonalizedRanking}
    found = {}
    for name, kind in kinds.items():
        with threadpool_limits(1, "blas"):  # as implicit recommends: it has its own threads
            kind(factors=DIM, iterations=1, num_threads=threads).fit(clicks, show_progress=False)  # warm-up
            started = time.perf_counter()
            kind(factors=DIM, iterations=ITERATIONS, num_threads=threads).fit(clicks, show_progress=False)
            found[name] = ITERATIONS * clicks.nnz / (time.perf_counter() - started)
    return found
