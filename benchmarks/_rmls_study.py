"""When does `rmls` keep its rank? Effective rank, density and nDCG by iteration: the curves of docs/rmls.md.

    python -m benchmarks._rmls_study              # run it, write _rmls_study.json and docs/images/rmls-*.svg
    python -m benchmarks._rmls_study --draw       # only draw from the JSON file

Three kinds of data: planted communities, the log of `coclick sample --queries 6000 --docs 5000 --seed 0`, and
clicks of two companies (../shared/data, not part of this repository; left out where it is missing).
nDCG@10 on the sample is by judgments, on other data by 10 % of the pairs that were held out.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import json
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse
from scipy.sparse.csgraph import connected_components

from benchmarks._line_charts import Panel, draw
from coclick.arrays.csr import Csr
from coclick.evaluation.judgments import Judgments, read_judgments
from coclick.evaluation.protocol import Protocol, evaluate_model
from coclick.graph.click_graph import ClickGraph
from coclick.jit.threads import set_threads
from coclick.models.projection.linear_map import SparseMap
from coclick.models.projection.rmls import RMLS
from coclick.models.registry import create
from coclick.progress import quiet
from coclick.solvers.rmls import RmlsState, density, map_rank
from coclick.solvers.validation import ValidationSample

RESULTS = Path(__file__).with_suffix(".json")
IMAGES = Path(__file__).resolve().parents[1] / "docs" / "images"
DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
HALVES = 8
DIM = 300
PLANTED_SIZE = 20  # queries and documents of a topic

SAMPLE = {  # chart: label: parameters
    "views": {
        "words": "views=words",
        "words+clicks (default)": "",
        "clicks": "views=clicks",
        "ids": "views=ids",
    },
    "thresholds": {
        "relative_threshold=0": "relative_threshold=0",
        "1.5 (default)": "",
        "3": "relative_threshold=3",
        "absolute, 1e-5": "weight=mean,query_threshold=1e-5,doc_threshold=1e-5",
        "absolute, 1e-4": "weight=mean,query_threshold=1e-4,doc_threshold=1e-4",
    },
    "start": {
        "sparse start, dim=300": "",
        "dense start, dim=300": "initial_map=dense",
        "sparse start, dim=100": "dim=100",
        "sparse start, dim=1000": "dim=1000",
    },
    "discount": {
        "frequency_discount=0 (default)": "",
        "0.5": "frequency_discount=0.5,relative_threshold=1",
        "1": "frequency_discount=1,relative_threshold=1",
        "1, views=words": "frequency_discount=1,relative_threshold=1,views=words",
    },
}
PLANTED = {  # label: (links per query, share of links to other topics, number of queries)
    "1.7 links, 2 % across": (1.7, 0.02, 1000),
    "3 links, none across": (3, 0.0, 1000),
    "3 links, 2 % across": (3, 0.02, 1000),
    "3 links, 20 % across": (3, 0.2, 1000),
    "10 links, 2 % across": (10, 0.02, 1000),
    "3 links, 2 % across, 4 × size": (3, 0.02, 4000),
}
Curve = list[dict[str, float]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draw", action="store_true", help="only draw from the JSON file")
    parser.add_argument("--threads", type=int, default=1)
    args = parser.parse_args()
    set_threads(args.threads)
    if not args.draw:
        RESULTS.write_text(json.dumps(study(), indent=1) + "\n", encoding="utf-8")
    for name, text in drawings(json.loads(RESULTS.read_text(encoding="utf-8"))).items():
        (IMAGES / name).write_text(text, encoding="utf-8")


def study() -> dict[str, Any]:
    """Run all trainings; return the curves and what is known about the matrices."""
    found: dict[str, Any] = {"dim": DIM, "charts": {}, "matrices": {}}
    with tempfile.TemporaryDirectory() as directory:
        graph, judgments = _sample(Path(directory))
        for chart, variants in SAMPLE.items():
            _report(f"sample: {chart}")
            found["charts"][chart] = {
                label: judged_curve(graph, judgments, parameters) for label, parameters in variants.items()
            }
        for label, parameters in SAMPLE["views"].items():
            found["matrices"][label] = describe(graph, parameters)
    planted = {label: planted_graph(*shape) for label, shape in PLANTED.items()}
    real = {name: read() for name, read in (("bestbuy", _bestbuy), ("zerozero", _zerozero)) if _has(name)}
    for chart, graphs, variants in (
        ("planted", planted, {"": "views=ids"}),
        ("real", real, {"": "", ", frequency_discount=1": SAMPLE["discount"]["1"]}),
    ):
        _report(chart)
        found["charts"][chart] = {
            label + suffix: held_out_curve(graph, parameters)
            for label, graph in graphs.items()
            for suffix, parameters in variants.items()
        }
    return found


def judged_curve(graph: ClickGraph, judgments: Judgments, parameters: str) -> Curve:
    """Train on all clicks; rank for all judged queries after each half-iteration."""
    model, (queries, docs) = _model(graph, parameters)

    def ndcg(state: RmlsState) -> float:
        model._build_embeddings(SparseMap(state.query_map, 1.0), SparseMap(state.doc_map, 1.0), quiet)
        return float(evaluate_model(model, judgments, Protocol()).values().mean())

    return _curve(model._half_iterations(queries, model._edge_weights(graph), docs), ndcg)


def held_out_curve(graph: ClickGraph, parameters: str) -> Curve:
    """Train on 90 % of the pairs; rank the documents of the others, as `rmls` does with `held_out`."""
    rest, held_out = graph.split("pairs", 0.1, 0)
    model, (queries, docs) = _model(rest, parameters)
    sample = ValidationSample.sample(queries, docs, held_out, rest.clicks, 0)
    steps = model._half_iterations(queries, model._edge_weights(rest), docs)
    return _curve(steps, lambda state: sample.ndcg(state.query_map, state.doc_map))


def _model(graph: ClickGraph, parameters: str) -> tuple[RMLS, tuple[Csr, Csr]]:
    given = {"dim": DIM} | dict(pair.split("=") for pair in filter(None, parameters.split(",")))
    model = create("rmls", **given)
    assert isinstance(model, RMLS)
    model.graph_, model.stats_ = graph, {}
    return model, model._build_features(graph, model.views, quiet)


def _curve(steps: Iterator[RmlsState], ndcg: Callable[[RmlsState], float]) -> Curve:
    return [
        {
            "iterations": state.iterations,
            "query_rank": round(map_rank(state.query_map), 1),
            "doc_rank": round(map_rank(state.doc_map), 1),
            "query_density": round(density(state.query_map), 4),
            "doc_density": round(density(state.doc_map), 4),
            "ndcg": round(ndcg(state), 4),
        }
        for state in islice(steps, HALVES)
    ]


def describe(graph: ClickGraph, parameters: str) -> dict[str, Any]:
    """The connected components of M, and the effective rank of its odd powers."""
    model, features = _model(graph, parameters)
    x, y = (side.to_scipy().astype(np.float64) for side in features)
    m = (x.T @ model._edge_weights(graph).to_scipy() @ y).tocsr()
    rows, columns = np.flatnonzero(m.sum(1)), np.flatnonzero(m.sum(0))
    m = m[rows][:, columns]
    count, label = connected_components(scipy.sparse.block_array([[None, m], [m.T, None]]))
    values = scipy.sparse.linalg.svds(m, DIM, return_singular_vectors=False, random_state=0)
    return {
        "features": [len(rows), len(columns)],
        "entries": int(m.nnz),
        "components": int(count),
        "largest_component": round(float(np.bincount(label).max() / len(label)), 3),
        "rank_of_powers": {
            power: round(float((values ** (2 * power)).sum() ** 2 / (values ** (4 * power)).sum()), 1)
            for power in (1, 3, 5, 7)
        },
    }


def planted_graph(links: float, across: float, queries: int, seed: int = 0) -> ClickGraph:
    """Topics of 20 queries and 20 documents; each query has Poisson(links − 1) + 1 links of one click."""
    random = np.random.default_rng(seed)
    clicks: Counter[tuple[str, str]] = Counter()
    for query in range(queries):
        first = query // PLANTED_SIZE * PLANTED_SIZE
        for _ in range(1 + random.poisson(links - 1)):
            own = random.random() >= across
            doc = first + random.integers(PLANTED_SIZE) if own else random.integers(queries)
            clicks[f"q{query}", f"d{doc}"] += 1
    return ClickGraph.from_clicks([(query, doc, float(count)) for (query, doc), count in clicks.items()], {})


def drawings(found: dict[str, Any]) -> dict[str, str]:
    """Return the charts by file name."""
    return {
        f"rmls-{chart}.svg": draw(f"rmls by iteration: {chart}", "iterations", _panels(curves, chart))
        for chart, curves in found["charts"].items()
        if curves
    }


def _panels(curves: dict[str, Curve], chart: str) -> list[Panel]:
    def series(value: Callable[[dict[str, float]], float]) -> dict[str, list[tuple[float, float]]]:
        return {
            label: [(point["iterations"], value(point)) for point in curve] for label, curve in curves.items()
        }

    by = "judgments" if chart in SAMPLE else "held-out pairs"
    return [
        Panel("effective rank of the map of queries", series(lambda point: point["query_rank"]), log=True),
        Panel("density of the map of queries", series(lambda point: point["query_density"])),
        Panel(f"nDCG, {by}", series(lambda point: point["ndcg"])),
    ]


def _sample(directory: Path) -> tuple[ClickGraph, Judgments]:
    log, graph = directory / "log", directory / "graph"
    size = ["--queries", "6000", "--docs", "5000", "--seed", "0"]
    build = ["build", str(log / "events.parquet"), "--docs", str(log / "docs.tsv"), "-o", str(graph)]
    for command in (["sample", str(log), *size], build):
        subprocess.run([sys.executable, "-m", "coclick", *command], check=True, stdout=subprocess.DEVNULL)
    opened = ClickGraph.open(graph)
    return opened, read_judgments(log / "queries.tsv", log / "qrels.tsv")


def _has(name: str) -> bool:
    if not (DATA / name).is_dir():
        _report(f"{name}: left out; {DATA / name} does not exist")
    return (DATA / name).is_dir()


def _bestbuy() -> ClickGraph:
    with gzip.open(DATA / "bestbuy" / "clicks.csv.gz", "rt", encoding="utf-8") as stream:
        clicks = Counter((row["query"], row["sku"]) for row in csv.DictReader(stream))
    docs = {row[0]: row[1] for row in _tsv(DATA / "bestbuy" / "products.tsv.gz")}
    return ClickGraph.from_clicks([(q, d, float(n)) for (q, d), n in clicks.items() if q.strip()], docs)


def _zerozero() -> ClickGraph:
    head, *rows = _tsv(DATA / "zerozero" / "clicks.tsv.gz")
    query, doc, clicks = (head.index(name) for name in ("query", "doc", "clicks"))
    texts = {row[0]: " ".join(row[1:]) for row in _tsv(DATA / "zerozero" / "docs.tsv.gz")[1:]}
    return ClickGraph.from_clicks([(row[query], row[doc], float(row[clicks])) for row in rows], texts)


def _tsv(path: Path) -> list[list[str]]:
    with gzip.open(path, "rt", encoding="utf-8") as stream:
        return [line.rstrip("\n").split("\t") for line in stream]


def _report(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
