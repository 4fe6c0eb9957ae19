"""Ranking quality on NFCorpus: training pairs as clicks, every test query unseen.

    python -m benchmarks.nfcorpus [--split dev] [MODEL ...]

Full retrieval, nDCG@10 with linear gain. The data (../shared/data/nfcorpus) is not part of this repository;
without it there are no rows.
"""

from __future__ import annotations

import argparse
import gzip
import sys
import time
from pathlib import Path

from benchmarks._row import make_row
from coclick.evaluation.judgments import Judgments
from coclick.evaluation.protocol import Protocol, evaluate_model
from coclick.graph.click_graph import ClickGraph
from coclick.models.training import train
from coclick.progress import for_terminal

DATA = Path(__file__).resolve().parents[2] / "shared" / "data" / "nfcorpus"
BM25 = "bm25(k1=2,b=0.6)"  # the best of 24 on the judgments of train and dev
MODELS = (BM25, "neighbours", "bm25sd_mult", "vpcg(start=doc)", "ltr")
GOALS = {BM25: 0.318, "neighbours": 0.35, "bm25sd_mult": 0.35, "ltr": 0.44}  # on test


def rows(shape: str, threads: int, models: tuple[str, ...] = MODELS, split: str = "test") -> list[dict]:
    if not DATA.is_dir():
        print(f"nfcorpus: skipped; {DATA} does not exist", file=sys.stderr)
        return []
    graph, judgments = graph_and_judgments(split)
    found = []
    for spec in models:
        started = time.perf_counter()
        model = train(spec, graph, for_terminal())
        seconds = time.perf_counter() - started
        quality = float(evaluate_model(model, judgments, Protocol()).values().mean())
        goal = GOALS.get(spec, GOALS[BM25])
        found.append(
            make_row(
                name=f"nfcorpus {split}",
                shape="-",
                params=spec,
                threads=threads,
                peer="goal" if spec in GOALS else "goal of bm25",
                ours=quality,
                theirs=goal,
                unit="nDCG@10",
                check=f"{len(judgments.queries)} queries, trained in {seconds:.0f} s",
                higher_is_better=True,
            )
        )
    return found


def graph_and_judgments(split: str, data: Path = DATA) -> tuple[ClickGraph, Judgments]:
    """Return a graph with the training pairs as clicks (2^grade − 1), and the judgments of dev or test."""
    texts = {query: text for query, text, *_ in read_table(data / "queries.tsv.gz")}
    docs = {doc: {"title": title, "body": body} for doc, title, body, *_ in read_table(data / "docs.tsv.gz")}
    clicks: list[tuple[str, str, float]] = []
    grades: dict[str, dict[str, int]] = {}
    for query, doc, grade, where in read_table(data / "qrels.tsv.gz"):
        if where == "train":
            clicks.append((texts[query], doc, 2.0 ** int(grade) - 1))
        elif where == split:
            grades.setdefault(query, {})[doc] = int(grade)
    return ClickGraph.from_clicks(clicks, docs), Judgments({query: texts[query] for query in grades}, grades)


def read_table(path: Path) -> list[list[str]]:
    """Return the cells of a compressed file without a header line."""
    with gzip.open(path, "rt", encoding="utf-8") as stream:
        return [line.rstrip("\n").split("\t") for line in stream]


if __name__ == "__main__":
    from benchmarks.__main__ import show

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("models", nargs="*", default=MODELS)
    parser.add_argument("--split", choices=["dev", "test"], default="test")
    args = parser.parse_args()
    show(rows("-", 0, tuple(args.models), args.split))
