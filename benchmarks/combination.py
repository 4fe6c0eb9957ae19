"""Exact top-10 search of combinations, one thread, one query at a time.

Peers: the slowest of the parts alone, which a combination cannot be faster than by much; and the same
combination by brute force, which scores all documents. Graphs are random (`benchmarks._shapes`), with as many
documents as the shape has, as many clicked pairs, and a fifth as many queries. Half of the queries are in the
log; the others are made of words of two of its queries.

`ltr` has its default parts, but random trees: a search takes the same time, and learning them would take far
longer. Its candidates are the best of each part, so its only peer is its slowest part.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks._row import make_row
from benchmarks._saved_graphs import graph_of
from benchmarks._shapes import SHAPES, shaped_graph
from coclick.graph.click_graph import ClickGraph
from coclick.jit.threads import set_threads
from coclick.ltr.features import MAX_SCANNED, RankingFeatures
from coclick.ltr.model import Ltr
from coclick.ltr.trees import Trees
from coclick.models.base import Model
from coclick.models.combination._base import Combination
from coclick.models.combination.held_out import HeldOutClicks
from coclick.models.registry import create
from coclick.results import top_rows
from coclick.text.query import Query

PARTS = ("neighbours", "vpcg", "bm25")
SPECS = ("backoff(neighbours + vpcg + bm25)", "backoff(vpcg + bm25)", "0.4*neighbours + 0.3*vpcg + 0.3*bm25")
N_RESULTS = 10
QUERIES = 1000
BRUTE_FORCE_QUERIES = 40
RUNS = 3
TOLERANCE = 1e-6

Times = NDArray[np.float64]


def rows(shape: str, threads: int) -> list[dict]:
    set_threads(threads)  # for training; searches use one thread
    graph = _graph(shape)
    parts: dict[str, Model] = {spec: create(spec).fit(graph) for spec in PARTS}
    held_out = HeldOutClicks.split(graph)
    combinations = []
    for spec in SPECS:
        model = create(spec)
        assert isinstance(model, Combination)
        combinations.append(model.assemble(graph, [parts[part] for part in model.part_specs], held_out))
    set_threads(1)
    texts = _queries(graph)
    times = {spec: _times(part, texts) for spec, part in parts.items()}
    found = [row for model in combinations for row in _rows(shape, model, texts, times)]
    return [*found, _ltr_row(shape, graph, parts, texts, threads)]


def _graph(shape: str) -> ClickGraph:
    docs = SHAPES[shape].docs
    return graph_of(shaped_graph(docs // 5, docs, docs))


def _queries(graph: ClickGraph) -> list[str]:
    numbers = np.random.default_rng(1).integers(len(graph.queries), size=(2, QUERIES // 2)).tolist()
    seen, other = ([graph.queries[row] for row in rows] for rows in numbers)
    unseen = [" ".join(a.split()[:2] + b.split()[:1]) for a, b in zip(seen, other, strict=True)]
    return seen + unseen


def _rows(shape: str, model: Combination, texts: list[str], parts: dict[str, Times]) -> list[dict]:
    ours = _times(model, texts)
    asked = Query.list_of(texts[:: QUERIES // BRUTE_FORCE_QUERIES], model.graph_.queries)
    started = time.perf_counter()
    for query in asked:
        top_rows(model._score_all(query), N_RESULTS)
    brute_force = 1000 * (time.perf_counter() - started) / len(asked)
    docs = np.arange(len(model.graph_.docs), dtype=np.int32)
    expected = [top_rows(model._score(query, docs), N_RESULTS) for query in asked]
    found = [model._search([query], N_RESULTS, None) for query in asked]
    same = sum(map(_same, found, expected))
    slowest = max(model.part_specs, key=lambda part: float(np.median(parts[part])))
    p99, part_p99 = (float(np.percentile(one, 99)) for one in (ours, parts[slowest]))
    common: dict[str, Any] = {
        "name": "combination",
        "shape": shape,
        "threads": 1,
        "ours": float(np.median(ours)),
        "unit": "ms (median)",
        "check": f"{'same' if same == len(asked) else 'DIFFERENT'} top {N_RESULTS} up to ties: "
        f"{same} of {len(asked)} queries",
        "p99": p99,
    }
    what = f"{model}, {len(model.graph_.docs):,} documents, k={N_RESULTS}, best of {RUNS}, p99 {p99:.3f}"
    return [
        make_row(
            **common,
            params=f"{what}, p99 of {slowest} {part_p99:.3f}",
            peer=f"slowest part ({slowest})",
            theirs=float(np.median(parts[slowest])),
            their_p99=part_p99,
        ),
        make_row(**common, params=what, peer="brute force", theirs=brute_force),
    ]


def _ltr_row(
    shape: str, graph: ClickGraph, trained: dict[str, Model], texts: list[str], threads: int
) -> dict:
    model = Ltr()
    set_threads(threads)
    model.graph_ = graph
    model.parts_ = [trained.get(spec) or create(spec).fit(graph) for spec in model.part_specs]
    set_threads(1)
    model.features_ = RankingFeatures.of(model.parts_, graph, model.n_candidates)
    model.trees_ = _random_trees(len(model.features_.names), model.n_trees, model.n_leaves)
    model.start_weight_ = 0.0
    ours = _times(model, texts)
    by_part = {
        str(part): _times(part, texts, model.n_candidates)
        for part in model.parts_
        if not part.scans_docs or len(graph.docs) <= MAX_SCANNED  # others only score candidates
    }
    slowest = max(by_part, key=lambda part: float(np.median(by_part[part])))
    p99, part_p99 = (float(np.percentile(one, 99)) for one in (ours, by_part[slowest]))
    return make_row(
        name="combination",
        shape=shape,
        params=f"ltr, {model.n_trees} random trees, {len(graph.docs):,} documents, k={N_RESULTS}, "
        f"best of {RUNS}, p99 {p99:.3f}, p99 of {slowest} {part_p99:.3f}",
        threads=1,
        peer=f"slowest part ({slowest}, k={model.n_candidates})",
        ours=float(np.median(ours)),
        theirs=float(np.median(by_part[slowest])),
        unit="ms (median)",
        check=f"{len(model.parts_)} parts, the best {model.n_candidates} of each",
        p99=p99,
        their_p99=part_p99,
    )


def _random_trees(width: int, n_trees: int, n_leaves: int) -> Trees:
    """Trees of the usual size that split at random features."""
    random = np.random.default_rng(0)

    def grow(leaves: int) -> dict[str, Any]:
        if leaves == 1:
            return {"value": float(random.normal())}
        left = int(random.integers(1, leaves))
        return {
            "feature": int(random.integers(width)),
            "threshold": float(random.random()),
            "missing": 1,
            "value": 0.0,
            "left": grow(left),
            "right": grow(leaves - left),
        }

    return Trees.from_nested([grow(n_leaves) for _ in range(n_trees)], width)


def _times(model: Model, texts: Sequence[str], k: int = N_RESULTS) -> Times:
    """Milliseconds of each query; the best of several runs, because other processes interrupt."""
    best = np.full(len(texts), np.inf)
    for _ in range(RUNS):
        for i, query in enumerate(Query.list_of(texts, model.graph_.queries)):
            started = time.perf_counter()
            model._search([query], k, None)
            best[i] = min(best[i], 1000 * (time.perf_counter() - started))
    return best


def _same(ours: tuple[NDArray[Any], NDArray[Any]], theirs: tuple[NDArray[Any], NDArray[Any]]) -> bool:
    """Whether scores and rows agree, except for rows that tie with the last."""
    found, scores = ours[0][0], ours[1][0]
    found, scores = found[found >= 0], scores[found >= 0]
    if len(found) != len(theirs[0]) or np.any(
        np.abs(scores - theirs[1]) > TOLERANCE * max(scores, default=1)
    ):
        return False
    certain = scores > scores.min(initial=np.inf) + TOLERANCE * max(scores, default=1)
    return set(found[certain].tolist()) <= set(theirs[0].tolist())


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--shape", default="S")
    for row in rows(parser.parse_args().shape, len(os.sched_getaffinity(0))):
        print(row)
