"""Judging ten models on NFCorpus, training included: 325 queries, 3,633 documents, in time and memory."""

from __future__ import annotations

import sys
import time

from benchmarks._peak_memory import peak
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
    "vpcg(start=doc,units=words+chars,own_weight=1)",
    "wmd",
    "backoff(neighbours + bm25)",
)
SECONDS, GIGABYTES = 120, 4  # what it may take


def rows(shape: str, threads: int) -> list[dict]:
    if not DATA.is_dir():
        print(f"no {DATA}: skipped", file=sys.stderr)
        return []
    graph, judgments = graph_and_judgments("test")
    started = time.perf_counter()
    leaderboard(graph, judgments, MODELS).to_dict()
    seconds = time.perf_counter() - started
    memory = peak()
    check = f"{len(MODELS)} models, {len(judgments.queries)} queries, {len(graph.docs):,} documents"
    row = {
        "name": "evaluate",
        "shape": "-",
        "params": "",
        "threads": threads,
        "peer": "bound",
        "check": check,
    }
    return [
        {**row, "ours": seconds, "theirs": SECONDS, "ratio": SECONDS / seconds, "unit": "s"},
        {**row, "ours": memory, "theirs": GIGABYTES, "ratio": GIGABYTES / memory, "unit": "GB at the peak"},
    ]
