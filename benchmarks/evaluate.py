"""Time and memory of training and evaluating ten models on NFCorpus: 325 queries, 3,633 documents."""

from __future__ import annotations

import sys
import time
from functools import partial

from benchmarks._peak_memory import peak
from benchmarks._row import make_row
from benchmarks.nfcorpus import DATA, graph_and_judgments
from coclick.evaluation.leaderboard import leaderboard

MODELS = (
    "popularity",
    "bm25",
    "bm25sd_mult",
    "vsm",
    "um",
    "neighbours",
    "vpcg",
    "vpcg(start=doc)",
    "wmd",
    "backoff(neighbours + bm25)",
)
MAX_SECONDS, MAX_GIGABYTES = 120, 4


def rows(shape: str, threads: int) -> list[dict]:
    if not DATA.is_dir():
        print(f"evaluate: skipped; {DATA} does not exist", file=sys.stderr)
        return []
    graph, judgments = graph_and_judgments("test")
    started = time.perf_counter()
    leaderboard(graph, judgments, MODELS).to_dict()
    seconds = time.perf_counter() - started
    memory = peak()
    check = f"{len(MODELS)} models, {len(judgments.queries)} queries, {len(graph.docs):,} documents"
    row = partial(make_row, "evaluate", "-", "", threads, "limit", check=check)
    return [
        row(ours=seconds, theirs=MAX_SECONDS, unit="s"),
        row(ours=memory, theirs=MAX_GIGABYTES, unit="GB peak"),
    ]
