"""Models learned from pairs beside implicit's ALS and BPR, which know no words, on the same clicked pairs.

An example of ours is a clicked document compared with another one (`svdfeature`: a pair of either kind) by
its words; one of theirs is a clicked pair (ALS), or one compared with another item (BPR), by ids. Rates are
those of the rounds alone; `check` has the time of the whole training, with features and images. opca has
neither rounds nor a peer here: its row is the time it takes.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import scipy.sparse
from implicit.als import AlternatingLeastSquares
from implicit.bpr import BayesianPersonalizedRanking
from threadpoolctl import threadpool_limits

from benchmarks._saved_graphs import saved_graph
from coclick.graph.click_graph import ClickGraph
from coclick.jit.threads import set_threads
from coclick.models.base import Model, train
from coclick.progress import quiet

DIM = 100
NEGATIVES = 4
ROUNDS = 5  # of theirs
MODELS = {
    f"s2net(dim={DIM})": NEGATIVES,
    f"s2net(dim={DIM},optimiser=adagrad,iterations=5)": NEGATIVES,
    f"ssi(dim={DIM})": NEGATIVES,
    f"svdfeature(dim={DIM},views=words)": 1 + NEGATIVES,
    f"svdfeature(dim={DIM})": 1 + NEGATIVES,
}  # and how many examples they make of a pair


def rows(shape: str, threads: int) -> list[dict]:
    set_threads(threads)
    graph = ClickGraph.open(saved_graph(shape))
    peers = _peers(graph, threads)
    found = []
    for spec, examples in MODELS.items():
        model, whole, in_rounds = _train(spec, graph)
        curve, pairs = model.stats_["curve"], model.stats_["pairs"]
        rate = len(curve) * pairs * examples / in_rounds
        check = (
            f"{len(curve)} rounds, loss {curve[0]['loss']:.3f} → {curve[-1]['loss']:.3f}, "
            f"round {model.stats_['chosen_round']} chosen, whole training {whole:.0f} s"
        )
        found += [
            _row(shape, spec, threads, f"implicit {peer}", rate, theirs, "examples/s", check)
            for peer, theirs in peers.items()
        ]
    model, whole, _ = _train(f"opca(dim={DIM})", graph)
    check = f"sum of μ {sum(model.stats_['eigenvalues']):.2f}"
    found.append(_row(shape, str(model), threads, "none", whole, float("nan"), "s", check))
    return found


def _row(
    shape: str, spec: str, threads: int, peer: str, ours: float, theirs: float, unit: str, check: str
) -> dict:
    return {
        "name": "pairs",
        "shape": shape,
        "params": spec,
        "threads": threads,
        "peer": peer,
        "ours": ours,
        "theirs": theirs,
        "ratio": ours / theirs,
        "unit": unit,
        "check": check,
    }


def _train(spec: str, graph: ClickGraph) -> tuple[Model, float, float]:
    """The model, the seconds of its training, and those of its rounds."""
    in_rounds = 0.0

    @contextmanager
    def stopwatch(what: str, total: int | None = None) -> Iterator[Callable[[int], None]]:
        nonlocal in_rounds
        started = time.perf_counter()
        with quiet(what, total) as done:
            yield done
        if what == "rounds":
            in_rounds += time.perf_counter() - started

    started = time.perf_counter()
    model = train(spec, graph, stopwatch)
    return model, time.perf_counter() - started, in_rounds


def _peers(graph: ClickGraph, threads: int) -> dict[str, float]:
    """Clicked pairs a second, over some epochs."""
    clicks = scipy.sparse.csr_matrix(graph.clicks.to_scipy())
    kinds = {"ALS": AlternatingLeastSquares, "BPR": BayesianPersonalizedRanking}
    found = {}
    for name, kind in kinds.items():
        with threadpool_limits(1, "blas"):  # as implicit asks for: its own threads do the work
            kind(factors=DIM, iterations=1, num_threads=threads).fit(clicks, show_progress=False)  # warm
            started = time.perf_counter()
            kind(factors=DIM, iterations=ROUNDS, num_threads=threads).fit(clicks, show_progress=False)
            found[name] = ROUNDS * clicks.nnz / (time.perf_counter() - started)
    return found
