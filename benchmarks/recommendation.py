"""Compare the recommended models with the best of their parts on difficult logs.

    dense     many searches per query
    sparse    at most one click per pair, so frequencies are unknown
    thin      a fifth of the documents has clicks, and every judged query is unseen
    nfcorpus  every judged query is unseen (requires the development data)

A ratio below 1 with a p-value below .05 means that the combination is worse than one of its parts.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np

from benchmarks._quality_logs import SOURCES
from benchmarks._row import make_row
from benchmarks.nfcorpus import DATA, graph_and_judgments
from coclick import logs, simulate
from coclick.evaluation.judgments import Judgments, read_judgments
from coclick.evaluation.leaderboard import leaderboard
from coclick.evaluation.significance import t_test
from coclick.graph.click_graph import ClickGraph
from coclick.ltr.model import Ltr
from coclick.models.combination._base import Combination
from coclick.models.registry import create

RECOMMENDED = ("ltr", "backoff(neighbours + vpcg + bm25)")


def rows(shape: str, threads: int) -> list[dict]:
    with tempfile.TemporaryDirectory() as place:
        simulated = {name: make(Path(place) / name) for name, make in _SIMULATED.items()}
        cases = {**simulated, **({"nfcorpus": graph_and_judgments("test")} if DATA.is_dir() else {})}
        return [row for name, case in cases.items() for row in _compare(name, *case, threads)]


def _compare(name: str, graph: ClickGraph, judgments: Judgments, threads: int) -> list[dict]:
    parts = {spec: _part_specs(spec) for spec in RECOMMENDED}
    specs = [*RECOMMENDED, *dict.fromkeys(part for found in parts.values() for part in found)]
    board = leaderboard(graph, judgments, specs)
    trials = {trial.name: trial for trial in board.results}
    found = []
    for spec, names in parts.items():
        ours = trials[str(create(spec))].values()
        best = max((trials[part] for part in names), key=lambda trial: trial.values().mean())
        found.append(
            make_row(
                name="recommendation",
                shape=name,
                params=spec,
                threads=threads,
                peer=f"best part: {best.name}",
                ours=float(ours.mean()),
                theirs=float(best.values().mean()),
                unit="nDCG@10",
                check=f"{len(ours)} queries, p = {t_test(ours - best.values()):.2g}",
                higher_is_better=True,
            )
        )
    return found


def _part_specs(spec: str) -> list[str]:
    model = create(spec)
    assert isinstance(model, Combination | Ltr)
    return model.part_specs


def _simulated(place: Path, events: int) -> tuple[ClickGraph, Judgments]:
    simulate.sample(place / "log", queries=1500, docs=2000, events=events, seed=7)
    log = place / "log"
    graph = logs.build([log / "events.parquet"], log / "docs.tsv", place / "graph")
    return graph, read_judgments(log / "queries.tsv", log / "qrels.tsv")


def _dense(place: Path) -> tuple[ClickGraph, Judgments]:
    return _simulated(place, 600_000)


def _sparse(place: Path) -> tuple[ClickGraph, Judgments]:
    graph, judgments = _simulated(place, 30_000)
    ones = graph.clicks.with_data(np.ones(graph.clicks.nnz, np.float32))
    return ClickGraph(graph.queries, graph.docs, ones, graph.texts), judgments


def _thin(place: Path) -> tuple[ClickGraph, Judgments]:
    place.mkdir()
    return SOURCES["thin20"].load(DATA, place)[:2]


_SIMULATED = {"dense": _dense, "sparse": _sparse, "thin": _thin}
